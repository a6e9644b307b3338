/* SPDX-License-Identifier: MIT */
/* Shows the results of a gate: for people, as JSON (docs/schema/tare-gate-1.json), ... */
#ifndef GATE_GATE_VIEW_H
#define GATE_GATE_VIEW_H

#include "gate/gate.h"
#include "output/style.h"

enum { GATE_NOTES_MAX = 8 };

struct gate_shown {
	const struct gate_outcome *outcome;
	size_t n;
	const char *head;     /* commit; NULL or "": none */
	const char *baseline; /* "" if there is none: a commit or a file */
	bool by_file, measured_base;
	bool stored;      /* the results are the baseline of later commits */
	const char *none; /* without a baseline: what to do */
	char note[GATE_NOTES_MAX][GATE_TEXT_BYTES];
	size_t notes;
};

void gate_note(struct gate_shown *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Number of benchmarks with that verdict; and of those with an error. */
size_t gate_count(const struct gate_shown *s, enum gate_verdict v);
size_t gate_errors(const struct gate_shown *s);
/* The verdict on all: "2 of 14 benchmarks are slower". */
void gate_headline(struct text *out, const struct gate_shown *s);

void gate_show_text(struct text *out, const struct gate_shown *s, const struct style *style);
void gate_show_json(struct text *out, const struct gate_shown *s);
void gate_markdown(struct text *out, const struct gate_shown *s);
/* A test case per benchmark: a failure if it is slower, an error if it could not be compared. */
void gate_junit(struct text *out, const struct gate_shown *s);

/* A line of a note. */
void gate_record_line(struct text *out, const struct gate_record *r);
/* The last line with text, for a message. */
void gate_last_line(struct text *out, const char *said);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Shows a comparison: for people, as JSON (docs/schema/tare-compare-1.json), Markdown, JUnit XML.
 */
#ifndef COMPARE_COMPARE_VIEW_H
#define COMPARE_COMPARE_VIEW_H

#include "compare/compare_cause.h"
#include "output/style.h"

enum { COMPARE_NOTES_MAX = 40, COMPARE_ROWS = 10 };

struct compare_shown {
	struct {
		char *const *argv;    /* NULL: a document */
		const char *path;     /* of the document, or NULL */
		const char *revision; /* as the user named it, or NULL */
		const char *commit;   /* its hash, or NULL */
	} side[COMPARE_SIDES];
	const struct compare_event *event;
	size_t n;
	const struct compare_cause *cause; /* NULL: none */
	const char *engine;                /* of the counts: "exact", "perf" */
	const struct determinism *fixed;   /* NULL: nothing was fixed, or unknown */
	size_t limit;                      /* rows of the cause; 0: all */
	char *note[COMPARE_NOTES_MAX];     /* further sentences; owned */
	size_t notes;
};

/* Adds a note; more than COMPARE_NOTES_MAX are dropped. */
void compare_note(struct compare_shown *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds the notes that follow from the numbers: runs needed, counts that do not repeat, ... */
void compare_explain(struct compare_shown *s, const struct compare_measured *m);
/*
 * Why the verdict of an event is "cannot tell", and how many runs would decide. False: it has
 * another verdict, or the reason is unknown. options: name the option for the number of runs.
 */
bool compare_put_open(struct text *out, const struct compare_event *e, bool options);
/*
 * "slower: 2.31 % more instructions (exact), in parse_line +2.1 M", without a newline. Names in it,
 * and in notes, are not escaped.
 */
void compare_headline(struct text *out, const struct compare_shown *s, const struct style *style);
/* "+2,076", "+2.08 M" */
void compare_put_change(struct text *out, const struct style *style, int64_t change);
/* "+1.2 ± 3.4 %" */
void compare_put_percent(struct text *out, const struct style *style,
			 const struct compare_event *e);
/* A count, or a time with its unit: the mean of the runs, because `percent` is of the means. */
void compare_put_value(struct text *out, const struct style *style, const struct compare_event *e,
		       enum compare_side side);
/* The first rows of the cause that are shown: only functions that changed. */
size_t compare_rows_shown(const struct compare_shown *s);
/* Of these, with a limit: those that are not small compared with the largest change. For text. */
size_t compare_rows_large(const struct compare_shown *s);
/* Sums of the rows beyond the first `from`, and of the code without rows. */
void compare_others(const struct compare_cause *c, size_t from, int64_t sum[COMPARE_SIDES]);
/* Of the first function: the first lines that are shown, and the rest of the function. */
size_t compare_lines_shown(const struct compare_shown *s);
void compare_other_lines(const struct compare_cause *c, size_t from, int64_t sum[COMPARE_SIDES]);
const char *compare_row_state(const struct compare_row *r); /* "new", "gone", or "" */
extern const char compare_blind[];                          /* what exact counts do not show */

void compare_show_text(struct text *out, const struct compare_shown *s, const struct style *style);
void compare_show_json(struct text *out, const struct compare_shown *s);
/* At most 30 lines, for a comment of a pull request. */
void compare_markdown(struct text *out, const struct compare_shown *s);
/* A test case per event: failed for a regression, skipped if the runs cannot tell. */
void compare_junit(struct text *out, const struct compare_shown *s);

#endif

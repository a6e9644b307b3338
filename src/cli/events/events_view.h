/* SPDX-License-Identifier: MIT */
/* Prints the list of events, or the explanation of one: text, JSON (tare/events/1), CSV. */
#ifndef CLI_EVENTS_EVENTS_VIEW_H
#define CLI_EVENTS_EVENTS_VIEW_H

#include "output/options/output_options.h"
#include "pmu/catalogue.h"
#include "output/json.h"
#include "output/style.h"

struct events_list {
	enum output_format format;
	struct style style;
	struct text text;
	struct json json;
	char group[80]; /* the last one written */
	size_t shown;
	struct text refused; /* JSON: each with its 0 */
	size_t n_refused;
};

/* `cpu` as returned by machine_cpu or given to --cpu. */
void events_list_begin(struct events_list *l, const char *cpu);
void events_list_add(struct events_list *l, const struct known_event *ev);
/* A row of a vendor file that could not be read, and why. */
void events_list_refused(struct events_list *l, const char *why);
/* The whole text; owned by the caller. NULL: out of memory. */
char *events_list_end(struct events_list *l);

/* Everything known about one encoding. */
struct explanation {
	const struct encoding *enc;
	const char *about;                 /* "" if there is no description */
	const char *spelled;               /* in perf's syntax, "" if there is none */
	const struct counter_facts *facts; /* NULL: the counters are unknown, or it needs none */
	const struct fit_legal *legal;     /* with facts: the counters that can count it */
	const char *unknown;               /* why facts is NULL; NULL when it needs none */
	const char *beside;  /* the list that it should fit together with; NULL: not requested */
	const char *blocker; /* the first event that does not fit; NULL: all fit */
	/* All fit if the unknown facts allow it: the first event with unknown facts. */
	const char *unsure_event;
	const struct fit_legal *unsure;
	bool fit_known;
	bool other_cpu;                   /* for another machine: availability is not printed */
	const char *unavailable, *remedy; /* NULL: it opened, or there is no known obstacle */
	bool tried;                       /* it was opened here */
};

void explanation_text(struct text *out, const struct explanation *x, const struct style *s);
/* One object of the array "events" of tare/explain/1. */
void explanation_json(struct json *j, const struct explanation *x);
/* "programmable 0-7, fixed 1 (cycles)". */
void counters_in_words(struct text *out, const struct counter_facts *f, uint64_t counters);

#endif

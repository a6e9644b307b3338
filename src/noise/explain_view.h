/* SPDX-License-Identifier: MIT */
/* The noise budget, for people and in JSON. */
#ifndef NOISE_EXPLAIN_VIEW_H
#define NOISE_EXPLAIN_VIEW_H

#include "noise/budget.h"
#include "output/json.h"
#include "output/style.h"

struct explained_row {
	const char *name; /* of the event */
	const char *unit; /* "" for counts */
	double scale;	  /* a count times this is in `unit` */
	bool exact;	  /* counted by the exact engine: what the processor and the kernel add is not in it */
	struct budget budget;
	char place[400]; /* where what is unexplained begins, in words; "": not known */
	char cause[300]; /* what differed there, in words; "": not known */
	const char *cause_kind; /* of tare diverge's; with `cause` */
};

struct explained {
	struct explained_row *row;
	size_t n;
	unsigned runs, conditions; /* of the launch that were tried beside the one asked for; 0: none */
	const char *why_none;	   /* with 0: the reason */
	unsigned fixed, fixed_already; /* causes: those switched off; those that the launch as asked has off anyway */
	struct {
		unsigned cause;
		char why[120];
	} not_switched[BUDGET_CAUSES];
	size_t n_not_switched;
	bool output_differs, cut_short;
	bool ids_vary; /* process ids were not fixed: they need a namespace */
};

void explain_text(struct text *out, const struct explained *e, const struct style *s);
/* As a member "explain". */
void explain_json(struct json *j, const struct explained *e);

#endif

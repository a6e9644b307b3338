/* SPDX-License-Identifier: MIT */
/* The noise budget as text and JSON. */
#ifndef NOISE_EXPLAIN_VIEW_H
#define NOISE_EXPLAIN_VIEW_H

#include "noise/budget.h"
#include "output/json.h"
#include "output/style.h"

struct explained_row {
	const char *name; /* of the event */
	const char *unit; /* "" for counts */
	double scale;     /* converts a count to `unit` */
	/* counted by the exact engine, which excludes effects of the processor and the kernel */
	bool exact;
	struct budget budget;
	char place[400]; /* where the unexplained difference begins, in words; "": not known */
	char cause[300]; /* the difference there, in words; "": not known */
	const char *cause_kind; /* kind by tare diverge; set with `cause` */
};

struct explained {
	struct explained_row *row;
	size_t n;
	/* of the launch, tried in addition to the requested one; 0: none */
	unsigned runs, conditions;
	const char *why_none; /* with 0: the reason */
	/* causes: those switched off; those that the requested launch has off anyway */
	unsigned fixed, fixed_already;
	struct {
		unsigned cause;
		char why[120];
	} not_switched[BUDGET_CAUSES];
	size_t n_not_switched;
	bool output_differs, cut_short;
	bool ids_vary; /* process ids were not fixed, because that needs a namespace */
};

void explain_text(struct text *out, const struct explained *e, const struct style *s);
/* As a member "explain". */
void explain_json(struct json *j, const struct explained *e);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * --explain of tare stat: the noise budget of each event. The requested runs exist already; the
 * runs under other launch conditions are made here: with everything fixed, and with one cause at a
 * time varied.
 */
#ifndef CLI_STAT_STAT_EXPLAIN_H
#define CLI_STAT_STAT_EXPLAIN_H

#include "count/summary.h"
#include "cli/stat/stat_irqs.h"
#include "stat/stat.h"
#include "noise/explain_view.h"

struct stat_explain {
	struct explained explained;   /* for the views */
	const struct stat_irqs *less; /* of the requested runs */
};

/*
 * `plan` is the plan of the requested runs and `t` their results; both must outlive `x`. `rerun`:
 * also run the command under the other conditions, plan->runs times each, with its output hidden.
 * Conditions that are unavailable are left out and reported.
 */
int stat_explain(struct stat_explain *x, const struct stat_plan *plan, const struct stat_table *t,
		 bool rerun, struct tare_error *err);
void stat_explain_free(struct stat_explain *x);

#endif

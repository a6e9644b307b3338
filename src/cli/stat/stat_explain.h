/* SPDX-License-Identifier: MIT */
/*
 * --explain of tare stat: the noise budget of each event. The runs as asked are there; those under other conditions of the
 * launch are made here: with everything fixed, and with one cause let vary at a time.
 */
#ifndef CLI_STAT_STAT_EXPLAIN_H
#define CLI_STAT_STAT_EXPLAIN_H

#include "count/summary.h"
#include "cli/stat/stat_irqs.h"
#include "stat/stat.h"
#include "noise/explain_view.h"

struct stat_explain {
	struct explained explained; /* for the views */
	const struct stat_irqs *less; /* of the runs as asked */
};

/*
 * `plan` is that of the runs as asked, `t` what they gave; both outlive `x`. `rerun`: also run the command under the other
 * conditions, plan->runs times each, its output hidden. What cannot be had is left out, and told.
 */
int stat_explain(struct stat_explain *x, const struct stat_plan *plan, const struct stat_table *t, bool rerun, struct tare_error *err);
void stat_explain_free(struct stat_explain *x);

#endif

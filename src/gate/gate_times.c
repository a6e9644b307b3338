/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "compare/compare_times.h"
#include "gate/gate_measure.h"
#include "gate/gate_times.h"

/* As in tare compare: the largest number of pairs; fewer if a set would take longer. */
enum { PAIRS_MOST = 400 };
#define BUDGET_NS 20000000000u

/* The variables PATH, HOME, and those of the configuration, as for counts. */
static int fix_variables(struct determinism *fixed, const struct gate_benchmark *b,
			 struct tare_error *err)
{
	struct text items = { 0 };
	int ret;

	gate_put_environment(&items, b);
	ret = items.failed ? tare_fail_nomem(err) : determinism_parse(items.s, fixed, err);
	text_free(&items);
	return ret;
}

int gate_times(struct gate_outcome *o, const struct gate_benchmark *b,
	       const struct gate_sides *sides, struct tare_error *err)
{
	const char *const from[COMPARE_SIDES] = { sides->base, sides->head };
	char dir[COMPARE_SIDES][PATH_MAX];
	struct compare_time_plan times[COMPARE_TIMES];
	struct determinism fixed = { 0 };
	struct compare_plan plan = {
		.argv = { b->argv, b->argv },
		.dir = { dir[COMPARE_BEFORE], dir[COMPARE_AFTER] },
		.fixed = &fixed,
		.runs = PAIRS_MOST,
		.budget_ns = BUDGET_NS,
		.time = times,
		.timeout_ns = b->timeout_ns,
		.begin = sides->begin,
		.with = sides->with,
	};
	struct tare_error why = TARE_ERROR_INIT;
	struct compare_times *measured = calloc(1, sizeof(*measured));
	int ret = measured ? fix_variables(&fixed, b, err) : tare_fail_nomem(err);

	for (int side = 0; side < COMPARE_SIDES; side++)
		snprintf(dir[side], sizeof(dir[side]), "%.2000s%s%.2000s", from[side],
			 b->directory ? "/" : "", b->directory ? b->directory : "");
	for (int t = 0; t < COMPARE_TIMES; t++) {
		const struct gate_limit *limit = o->time[t].limit = gate_time_limit(b, t);

		times[t] = (struct compare_time_plan){ b->time[t], limit ? limit->percent : -1 };
	}
	/* again, because the setups of other benchmarks may have changed its files */
	for (int side = 0; ret == 0 && !gate_verdict_is_error(o->verdict) && side < COMPARE_SIDES;
	     side++)
		ret = gate_set_up(o, b, dir[side], sides->signals, err);
	if (ret == 0 && gate_verdict_is_error(o->verdict))
		goto out;
	if (ret == 0)
		ret = compare_times(measured, &plan, b->environment, sides->signals, &why);
	why.hint[0] = '\0'; /* the hint is about tare compare */
	if (ret > 0)
		gate_fail(o, GATE_FAILED, &why);
	else if (ret < 0 && why.code)
		*err = why;
	for (int t = 0; ret == 0 && t < COMPARE_TIMES; t++) {
		o->time[t].measured = b->time[t];
		o->time[t].numbers = measured->event[t];
	}
	if (ret == 0)
		gate_judge_times(o);
out:
	free(measured);
	return ret < 0 ? ret : 0;
}

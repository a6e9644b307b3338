/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "regions/aggregate.h"

/*
 * The cost of all labels in a run, without async spans: their cost is already included in the
 * threads' regions. false: not known for all.
 */
static bool sum_of(const struct aggregate *a, size_t run, size_t counter, double *out)
{
	const struct aggregate_amount *beside = &a->run[run].async[counter];
	uint64_t unknown = 0;

	*out = -(double)beside->self;
	for (size_t i = 0; i < a->n; i++) {
		const struct aggregate_amount *m = &aggregate_tally(a, &a->row[i], run)
							    ->amount[counter];

		unknown += m->unknown;
		*out += (double)m->self;
	}
	return unknown == beside->unknown;
}

static bool counter_called(const struct aggregate *a, const char *name, size_t *out)
{
	for (size_t c = 0; name && c < a->n_counters; c++)
		if (budget_is_called(a->counter[c].name, name)) {
			*out = c;
			return true;
		}
	return false;
}

static bool see(const struct aggregate *a, enum budget_cause cause, size_t run, double *out)
{
	size_t c, by;
	double divisor;

	if (cause == BUDGET_INTERRUPTS && counter_called(a, "instructions", &c) &&
	    counter_called(a, "instructions-minus-irqs", &by) && sum_of(a, run, c, out) &&
	    sum_of(a, run, by, &divisor)) {
		*out -= divisor;
		return true;
	}
	for (const struct budget_event *e = budget_events; e->name; e++) {
		if (e->cause != cause || !counter_called(a, e->name, &c) || !sum_of(a, run, c, out))
			continue;
		if (!e->by)
			return true;
		if (counter_called(a, e->by, &by) && sum_of(a, run, by, &divisor) && divisor > 0) {
			*out /= divisor;
			return true;
		}
	}
	return false;
}

/*
 * May this cause explain noise of this counter? instructions-minus-irqs excludes interrupts, so
 * they cannot explain its noise.
 */
static bool may_blame(const struct aggregate *a, enum budget_cause cause, size_t counter)
{
	const char *name = a->counter[counter].name;

	if (cause == BUDGET_INTERRUPTS && budget_is_called(name, "instructions-minus-irqs"))
		return false;
	if (a->counter[counter].quality == TARE_EXACT && !(BUDGET_OF_EXACT >> cause & 1))
		return false;
	return !budget_is_of(cause, name);
}

int aggregate_budget(const struct aggregate *a, size_t counter, struct budget *out,
		     struct tare_error *err)
{
	double *room = calloc((1 + BUDGET_SEEN) * a->n_runs, sizeof(*room));
	struct budget_question q = { .asked = { .count = room } };
	bool seen[BUDGET_SEEN];
	int ret;

	if (!room)
		return tare_fail_nomem(err);
	for (unsigned c = 0; c < BUDGET_SEEN; c++)
		seen[c] = may_blame(a, (enum budget_cause)c, counter);
	for (size_t r = 0; r < a->n_runs; r++) {
		size_t at = q.asked.n;

		if (!sum_of(a, r, counter, &room[at]))
			continue;
		for (unsigned c = 0; c < BUDGET_SEEN; c++)
			seen[c] = seen[c] &&
				see(a, (enum budget_cause)c, r, &room[(1 + c) * a->n_runs + at]);
		q.asked.n++;
	}
	for (unsigned c = 0; c < BUDGET_SEEN; c++)
		q.asked.seen[c] = seen[c] ? room + (1 + c) * a->n_runs : NULL;
	ret = budget_split(out, &q, err);
	free(room);
	return ret;
}

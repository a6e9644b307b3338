/* SPDX-License-Identifier: MIT */
/* Allocates the counters and lists of a comparison, and frees all of it. */
#include <stdlib.h>
#include <string.h>
#include "regions/aggregate_counters.h"

/*
 * Counters of events that are known to disturb others. Noise that correlates with them is reported.
 */
static bool may_be_cause(const char *name)
{
	static const char *const words[] = { "fault", "irq", "interrupt", "context-switch",
					     "migration" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(name, words[i]) && !strstr(name, "minus"))
			return true;
	return false;
}

int aggregate_take_counters(struct aggregate *a, struct timeline **timelines,
			    struct tare_error *err)
{
	const struct timeline_info *first = timeline_info(timelines[0]);

	for (size_t r = 1; r < a->n_runs; r++) {
		const struct timeline_info *info = timeline_info(timelines[r]);

		for (size_t c = 0; c < info->n_counters || c < first->n_counters; c++) {
			const char *mine = c < info->n_counters ? info->counter[c].name : "none",
				   *other = c < first->n_counters ? first->counter[c].name : "none";

			if (!strcmp(mine, other))
				continue;
			tare_fail(err, EINVAL,
				  "%.100s: its counter %zu is %.60s; in %.100s it is %.60s",
				  info->path, c + 1, mine, first->path, other);
			tare_hint(err, "only runs with the same counters can be compared");
			return -EINVAL;
		}
	}
	a->counter = calloc(first->n_counters + 1, sizeof(*a->counter));
	if (!a->counter)
		return tare_fail_nomem(err);
	a->n_counters = first->n_counters;
	for (size_t c = 0; c < a->n_counters; c++) {
		struct aggregate_counter *k = &a->counter[c];
		struct aggregate_list *list[] = { &k->least, &k->most, &k->steady, &k->noisy };

		k->name = strdup(first->counter[c].name);
		k->unit = strdup(first->counter[c].unit);
		k->quality = first->counter[c].quality;
		for (size_t r = 1; r < a->n_runs; r++)
			if (timeline_info(timelines[r])->counter[c].quality < k->quality)
				k->quality = timeline_info(timelines[r])->counter[c].quality;
		k->cause = calloc(a->n_counters, sizeof(*k->cause));
		for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
			list[i]->entry = calloc(a->options.extremes + 1, sizeof(*list[i]->entry));
			list[i]->largest = i % 2;
			list[i]->bar = list[i]->largest ? 0 : UINT64_MAX;
			if (!list[i]->entry)
				return tare_fail_nomem(err);
		}
		if (!k->name || !k->unit || !k->cause)
			return tare_fail_nomem(err);
		for (size_t d = 0; d < a->n_counters; d++)
			if (d != c && may_be_cause(first->counter[d].name))
				k->cause[k->n_causes++].counter = d;
	}
	return 0;
}

void aggregate_free(struct aggregate *a)
{
	for (size_t r = 0; a->run && r < a->n_runs; r++) {
		free(a->run[r].path);
		free(a->run[r].format);
		free(a->run[r].command);
		free(a->run[r].damage);
		free(a->run[r].live);
	}
	for (size_t c = 0; c < a->n_counters; c++) {
		struct aggregate_counter *k = &a->counter[c];

		free(k->name);
		free(k->unit);
		free(k->cause);
		free(k->least.entry);
		free(k->most.entry);
		free(k->steady.entry);
		free(k->noisy.entry);
	}
	for (size_t i = 0; i < a->n; i++) {
		free(a->row[i].tallies);
		free(a->row[i].async);
		free(a->row[i].noise);
		free(a->row[i].compared);
	}
	for (size_t i = 0; i < a->n_threads; i++)
		free(a->thread[i].name);
	for (size_t i = 0; i < a->n_differences; i++)
		free(a->difference[i].run);
	free(a->run);
	free(a->counter);
	free(a->row);
	free(a->row_of);
	free(a->thread);
	free(a->difference);
	labels_free(&a->labels);
	*a = (struct aggregate){ 0 };
}

/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "stat/cross_check.h"

const char *const cross_check_names[CROSS_CHECK_VERDICTS] = { "equal", "agree", "differ",
							      "untested", "unknown" };
static const struct source *const sides[CROSS_CHECK_SIDES] = { &source_msr, &source_perf };

static bool is_by(const struct encoding *e, enum cross_check_side side)
{
	return e->source == sides[side];
}

int cross_check_add(struct encoding_list *list, struct tare_error *err)
{
	size_t n = list->n, room = n;

	if (!array_reserve(&list->enc, &room, 2 * n + 1, sizeof(*list->enc)))
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct encoding *e = &list->enc[list->n];

		if (!is_by(&list->enc[i], CROSS_CHECK_MSR))
			continue;
		*e = list->enc[i];
		e->cpus = (struct cpus){ 0 };
		if (list->enc[i].cpus.n && cpus_copy(&e->cpus, &list->enc[i].cpus, err) < 0)
			return -ENOMEM;
		e->source = sides[CROSS_CHECK_PERF];
		/*
		 * Registers count guests, too, unless told otherwise: like is compared with like.
		 */
		e->attr.exclude_guest = list->enc[i].host_only;
		e->group += list->groups;
		list->n++;
	}
	list->groups *= 2;
	return 0;
}

/* The values of the runs of one side; 0: a run has no value for the whole time. */
static size_t numbers(const struct stat_table *t, const struct stat_row *r,
		      enum cross_check_side side, double *to, struct cross_check_row *out)
{
	size_t n = 0;

	if (r && r->quality == TARE_UNAVAILABLE)
		snprintf(out->why, sizeof(out->why), "%s: %s", sides[side]->name, r->why);
	for (unsigned i = 0; r && !out->why[0] && i < t->runs; i++) {
		const struct amount *a = &r->run[i];

		if (!a->enabled_ns)
			continue; /* a run of the other side */
		if (a->quality == TARE_UNAVAILABLE)
			snprintf(out->why, sizeof(out->why), "%s: a run of it has no number%s%s",
				 sides[side]->name, r->why[0] ? ": " : "", r->why);
		else if (a->quality != TARE_COUNTED)
			snprintf(out->why, sizeof(out->why),
				 "%s: it was on a counter for %.1f %% of the time",
				 sides[side]->name,
				 a->enabled_ns
					 ? 100.0 * (double)a->running_ns / (double)a->enabled_ns
					 : 0.0);
		to[n++] = (double)a->value;
	}
	if (!n && !out->why[0])
		snprintf(out->why, sizeof(out->why), "%s: it was not counted", sides[side]->name);
	return out->why[0] ? 0 : n;
}

static const struct stat_row *row_of(const struct stat_table *t, size_t event)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i].event == event)
			return &t->row[i];
	return NULL;
}

static void compare(struct cross_check_row *out, const struct stat_table *t,
		    const struct stat_row *const row[], double *room)
{
	double *value[CROSS_CHECK_SIDES] = { room, room + t->runs };

	for (int s = 0; s < CROSS_CHECK_SIDES; s++) {
		out->n[s] = numbers(t, row[s], (enum cross_check_side)s, value[s], out);
		for (size_t i = 0; i < out->n[s]; i++)
			out->mean[s] += value[s][i] / (double)out->n[s];
	}
	out->q = 1;
	out->verdict = out->why[0] ? CROSS_CHECK_UNKNOWN : CROSS_CHECK_UNTESTED;
	if (out->why[0])
		return;
	out->test = student_compare(value[CROSS_CHECK_MSR], out->n[CROSS_CHECK_MSR],
				    value[CROSS_CHECK_PERF], out->n[CROSS_CHECK_PERF]);
	if (out->n[CROSS_CHECK_MSR] < 2 || out->n[CROSS_CHECK_PERF] < 2)
		return;
	out->verdict = CROSS_CHECK_EQUAL;
	for (int s = 0; s < CROSS_CHECK_SIDES; s++)
		for (size_t i = 0; i < out->n[s]; i++)
			if (value[s][i] != value[0][0])
				out->verdict = CROSS_CHECK_AGREE;
	out->q = out->test.p;
}

/* With many events, one differs by chance: correct for the number of events. */
static bool adjust(struct cross_check_row *row, size_t n)
{
	double *q = calloc(n + 1, sizeof(*q));
	bool good;
	size_t k = 0;

	for (size_t i = 0; q && i < n; i++)
		if (row[i].verdict <= CROSS_CHECK_AGREE)
			q[k++] = row[i].q;
	good = q && student_adjust(q, k);
	k = 0;
	for (size_t i = 0; good && i < n; i++)
		if (row[i].verdict <= CROSS_CHECK_AGREE) {
			row[i].q = q[k++];
			if (row[i].q <= 0.05)
				row[i].verdict = CROSS_CHECK_DIFFER;
		}
	free(q);
	return good;
}

struct cross_check_row *cross_check_judge(const struct stat_table *t, size_t *n,
					  struct tare_error *err)
{
	struct cross_check_row *row = calloc(t->n_enc + 1, sizeof(*row));
	double *room = calloc(2 * (size_t)t->runs + 1, sizeof(*room));
	bool good = row && room;

	*n = 0;
	for (size_t i = 0, k = 0; good && i < t->n_enc; i++) {
		const struct stat_row *both[CROSS_CHECK_SIDES];

		if (!is_by(&t->enc[i], CROSS_CHECK_MSR))
			continue;
		/* perf's events are in the same order, after all requested ones. */
		for (k = k ? k + 1 : i + 1; k < t->n_enc &&
		     (t->enc[k].event != t->enc[i].event || !is_by(&t->enc[k], CROSS_CHECK_PERF));
		     k++)
			;
		both[CROSS_CHECK_MSR] = row_of(t, i);
		both[CROSS_CHECK_PERF] = row_of(t, k);
		row[*n].name = t->enc[i].name;
		compare(&row[(*n)++], t, both, room);
	}
	good = good && adjust(row, *n);
	free(room);
	if (good)
		return row;
	free(row);
	tare_fail_nomem(err);
	return NULL;
}

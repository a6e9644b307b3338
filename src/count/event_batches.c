/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "count/event_batches.h"

enum { GROUP_MAX = 512, TRY_NS = 200000 };

struct tried { /* a group opened on this thread */
	const struct source *source;
	struct counters *open;
	size_t n;
};

/*
 * Long enough for the kernel to schedule every group that fits on the PMU, and shorter than its
 * rotation interval.
 */
static void work_a_moment(void)
{
	uint64_t from = clock_now_ns();

	while (clock_now_ns() - from < TRY_NS)
		;
}

static bool was_always_on(const struct tried *t)
{
	struct tare_reading r[GROUP_MAX];

	if (t->source->read(t->open, r, NULL) < 0)
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (r[i].quality == TARE_UNAVAILABLE || r[i].running_ns < r[i].enabled_ns)
			return false;
	return true;
}

/* Do all of these fit at once? Groups that cannot be opened on a thread (uncore) always do. */
static bool fits(const struct encoding_list *events, const bool *in, const struct source *source)
{
	struct tried *tried = calloc(events->n + 1, sizeof(*tried));
	bool *done = calloc(events->n + 1, sizeof(*done)), all = tried && done;
	size_t n = 0;

	for (size_t i = 0; all && i < events->n; i++) {
		const struct encoding *lead = &events->enc[i], *group[GROUP_MAX];
		struct target on = { .cpu = -1, .cgroup_fd = -1 };
		struct tried *t = &tried[n];

		if (!in[i] || done[i] || lead->unavailable || lead->place == PLACE_UNCORE ||
		    encoding_source(lead)->clock)
			continue;
		*t = (struct tried){ .source = source ? source : encoding_source(lead) };
		for (size_t k = i; k < events->n && t->n < GROUP_MAX; k++)
			if (events->enc[k].group == lead->group && in[k]) {
				done[k] = true;
				group[t->n++] = &events->enc[k];
			}
		if (t->source && t->source->open(&t->open, group, t->n, &on, NULL, NULL) == 0)
			n++;
	}
	for (size_t i = 0; i < n; i++)
		all &= tried[i].source->start(tried[i].open, NULL) == 0;
	work_a_moment();
	for (size_t i = 0; i < n; i++)
		all &= was_always_on(&tried[i]);
	for (size_t i = 0; i < n; i++)
		tried[i].source->close(tried[i].open);
	free(tried);
	free(done);
	return all;
}

static void set_group(bool *in, const struct encoding_list *events, unsigned group, bool value)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->enc[i].group == group)
			in[i] = value;
}

int event_batches_measure(struct event_batches *out, const struct encoding_list *events,
			  const struct source *source, struct tare_error *err)
{
	size_t n = events->n;
	bool *placed = calloc(n + 1, sizeof(*placed));

	*out = (struct event_batches){ .n = n, .in = calloc((n + 1) * (n + 1), sizeof(*out->in)) };
	if (!placed || !out->in) {
		free(placed);
		event_batches_free(out);
		return tare_fail_nomem(err);
	}
	for (size_t left = n; left || !out->batches;) {
		bool *in = out->in + out->batches++ * n;
		bool any = false;

		for (size_t i = 0; i < n; i++) {
			if (placed[i])
				continue;
			set_group(in, events, events->enc[i].group, true);
			/*
			 * A group that does not fit even alone is a batch of its own, and is shown
			 * as multiplexed.
			 */
			if (any && !fits(events, in, source)) {
				set_group(in, events, events->enc[i].group, false);
				continue;
			}
			any = true;
			set_group(placed, events, events->enc[i].group, true);
		}
		left = 0;
		for (size_t i = 0; i < n; i++)
			left += !placed[i];
	}
	free(placed);
	return 0;
}

void event_batches_free(struct event_batches *s)
{
	free(s->in);
	*s = (struct event_batches){ 0 };
}

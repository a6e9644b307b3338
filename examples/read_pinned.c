/* SPDX-License-Identifier: MIT */
/*
 * The cost of a few instructions, with pinned counters: the cheapest correct read.
 *
 *	cc -O2 read_pinned.c $(pkg-config --cflags --libs tare)
 *
 * If user space cannot read the registers, it says why and measures the same code with the kernel's
 * task-clock. That is no substitute for short code, and is labelled as such.
 */
#include <inttypes.h>
#include <stdio.h>
#include "tare/group.h"
#include "tare/pinned.h"

static volatile uint64_t sink;

static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink += i;
}

/* The minimum of many differences, because disturbances (interrupts, cold caches) only add. */
static int measure(struct tare_pinned *p, unsigned rounds, uint64_t *best)
{
	*best = UINT64_MAX;
	for (int i = 0; i < 100; i++) {
		uint64_t before, after, events;
		int ret = tare_pinned_read(p, &before, 1);

		if (ret == 0) {
			work(rounds);
			ret = tare_pinned_read(p, &after, 1);
		}
		if (ret < 0)
			return ret;
		events = tare_pinned_difference(p, before, after);
		if (events < *best)
			*best = events;
	}
	return 0;
}

static int show_pinned(struct tare_pinned *p)
{
	uint64_t empty, count;
	int ret = measure(p, 0, &empty);

	for (unsigned rounds = 1; ret == 0 && rounds <= 1000; rounds *= 10) {
		ret = measure(p, rounds, &count);
		if (ret == 0)
			printf("%4u rounds: %6" PRIu64 " cycles (and %" PRIu64
			       " for the two reads)\n",
			       rounds, count - empty, empty);
	}
	return ret;
}

static int show_clock(struct tare_error *err)
{
	struct tare_events *events = tare_events_new("task-clock", err);
	struct tare_group *g = events ? tare_group_open(events, 0, 0, err) : NULL;
	uint64_t ns = 0;
	int ret = -1;

	if (g && tare_group_start(g, err) == 0) {
		work(1000000);
		ret = tare_group_count(g, 0, &ns, err);
	}
	if (ret == 0)
		printf("1000000 rounds: %" PRIu64 " ns of task-clock, start and stop included\n",
		       ns);
	tare_group_close(g);
	tare_events_free(events);
	return ret;
}

int main(void)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_events *events = tare_events_new("cycles:u", &err);
	struct tare_pinned *p = events ? tare_pinned_open(events, &err) : NULL;
	int ret;

	tare_events_free(events);
	if (p) {
		ret = show_pinned(p);
		if (ret < 0)
			fprintf(stderr, "read_pinned: the kernel took the counters away\n");
	} else {
		printf("no pinned counter: %s\n", err.what);
		if (err.hint[0])
			printf("  %s\n", err.hint);
		ret = show_clock(&err);
		if (ret < 0)
			fprintf(stderr, "read_pinned: %s\n  %s\n", err.what, err.hint);
	}
	tare_pinned_close(p);
	return ret < 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Count the events of a piece of code, read as one group.
 *
 *	cc read_group.c $(pkg-config --cflags --libs tare)
 *
 * If processor counters are unavailable, it says why and counts events of the kernel.
 */
#include <inttypes.h>
#include <stdio.h>
#include "tare/group.h"

enum { EVENTS = 2 };

static volatile uint64_t sink;

static void work(void)
{
	for (uint64_t i = 0; i < 1000000; i++)
		sink += i * i;
}

/* "{instructions:u,cycles:u}" or, with the reason, events that are available. */
static struct tare_events *find_events(struct tare_error *err)
{
	struct tare_events *events = tare_events_new("{instructions:u,cycles:u}", err);

	if (events)
		return events;
	printf("no processor counters: %s\n", err->what);
	if (err->hint[0])
		printf("  %s\n", err->hint);
	printf("counting task-clock (in ns) and page-faults, which the kernel counts itself\n");
	return tare_events_new("{task-clock,page-faults:u}", err);
}

int main(void)
{
	struct tare_error err = TARE_ERROR_INIT, why = TARE_ERROR_INIT;
	struct tare_events *events = find_events(&err);
	struct tare_group *g = events ? tare_group_open(events, 0, TARE_USER_READS, &err) : NULL;
	struct tare_reading r[EVENTS];
	int ret = -1;

	if (!g || tare_events_count(events) != EVENTS || tare_group_start(g, &err) < 0)
		goto out;
	work();
	ret = tare_group_read(g, r, &err);
	if (ret < 0)
		goto out;
	for (size_t i = 0; i < EVENTS; i++)
		printf("%-16s %12" PRIu64 "  %s, on the counter for %" PRIu64 " of %" PRIu64
		       " ns\n",
		       tare_events_name(events, i), tare_reading_scaled(&r[i]),
		       tare_quality_name(r[i].quality), r[i].running_ns, r[i].enabled_ns);
	if (tare_group_user_reads(g, &why))
		printf("read without a system call\n");
	else
		printf("read by a system call: %s\n", why.what);
out:
	if (ret < 0)
		fprintf(stderr, "read_group: %s\n  %s\n", err.what, err.hint);
	tare_group_close(g);
	tare_events_free(events);
	return ret < 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Counters of several threads: each opens its own group and reads its own registers, so no lock is
 * needed. The list of events may be shared, because it is immutable.
 *
 *	cc read_threads.c $(pkg-config --cflags --libs tare) -pthread
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include "tare/group.h"

enum { THREADS = 4 };

struct worker {
	pthread_t thread;
	const struct tare_events *events;
	unsigned rounds;
	struct tare_reading reading;
	struct tare_error err;
	int ret;
};

static void *count_work(void *arg)
{
	struct worker *w = arg;
	struct tare_group *g = tare_group_open(w->events, 0, TARE_USER_READS, &w->err);

	w->ret = g ? tare_group_start(g, &w->err) : -1;
	if (w->ret == 0) {
		for (unsigned i = 0; i < w->rounds; i++)
			__asm__ volatile("" : : "r"(i));
		w->ret = tare_group_read(g, &w->reading, &w->err);
	}
	tare_group_close(g);
	return NULL;
}

int main(void)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_events *events = tare_events_new("instructions:u", &err);
	struct worker worker[THREADS];
	int started = 0, failed = 0;

	if (!events) {
		printf("no processor counters: %s\n", err.what);
		printf("counting task-clock (in ns), which the kernel counts itself\n");
		events = tare_events_new("task-clock", &err);
	}
	if (!events) {
		fprintf(stderr, "read_threads: %s\n  %s\n", err.what, err.hint);
		return 1;
	}
	for (; started < THREADS; started++) {
		worker[started] = (struct worker){ .events = events,
						   .rounds = 1000000u * (started + 1) };
		if (pthread_create(&worker[started].thread, NULL, count_work, &worker[started]))
			break;
	}
	for (int i = 0; i < started; i++) {
		struct worker *w = &worker[i];

		pthread_join(w->thread, NULL);
		failed += w->ret < 0;
		if (w->ret < 0)
			fprintf(stderr, "read_threads: thread %d: %s\n  %s\n", i, w->err.what,
				w->err.hint);
		else
			printf("thread %d, %u rounds: %" PRIu64 " %s (%s)\n", i, w->rounds,
			       tare_reading_scaled(&w->reading), tare_events_name(events, 0),
			       tare_quality_name(w->reading.quality));
	}
	tare_events_free(events);
	return failed || started < THREADS;
}

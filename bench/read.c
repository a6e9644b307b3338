/* SPDX-License-Identifier: MIT */
/*
 * Measures the cost of reading a counter, in instructions (counted by the PMU itself, if there is
 * one) and in time. bench/count_instructions disassembles the functions marked READ.
 *
 * Prints rows for bench/run: description, figure, unit, bound, method.
 *
 *	read_cost [TURNS]	of 16 reads each; 10000
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "source/events.h"
#include "source/page.h"
#include "source/perf.h"
#include "tare/group.h"
#include "tare/pinned.h"

enum { READS = 16 };

static unsigned turns = 10000;

#define READ __attribute__((noinline, used)) int

READ bench_nothing(struct tare_pinned *p, uint64_t *out);
READ bench_pinned_1(struct tare_pinned *p, uint64_t *out);
READ bench_pinned_2(struct tare_pinned *p, uint64_t *out);
READ bench_pinned_4(struct tare_pinned *p, uint64_t *out);
READ bench_page(const struct perf_event_mmap_page *page, uint64_t *out);

READ bench_nothing(struct tare_pinned *p, uint64_t *out)
{
	__asm__ volatile("" : : "r"(p), "r"(out) : "memory");
	return 0;
}

READ bench_pinned_1(struct tare_pinned *p, uint64_t *out)
{
	return tare_pinned_read(p, out, 1);
}

READ bench_pinned_2(struct tare_pinned *p, uint64_t *out)
{
	return tare_pinned_read(p, out, 2);
}

READ bench_pinned_4(struct tare_pinned *p, uint64_t *out)
{
	return tare_pinned_read(p, out, 4);
}

READ bench_page(const struct perf_event_mmap_page *page, uint64_t *out)
{
	return !tare_page_count(page, out);
}

/* The counter to read, in `turns` turns of READS inline reads each; counts failures. */
struct subject {
	struct tare_pinned *pinned;
	const struct perf_event_mmap_page *page;
	struct tare_group *group;
	uint64_t out[TARE_PINNED_MAX];
	struct tare_reading reading[TARE_PINNED_MAX];
	int failed;
};

/*
 * The loop around READS copies of `body`; the copies make the loop's own instructions few, and
 * their number is known.
 */
#define TURN(body)                                                                                 \
	for (unsigned turn_ = 0; turn_ < turns; turn_++) {                                         \
		_Pragma("GCC unroll 16") for (unsigned read_ = 0; read_ < READS; read_++) body;    \
		__asm__ volatile("" : : : "memory");                                               \
	}

static void turn_nothing(struct subject *s)
{
	(void)s;
	TURN((void)0)
}

static void turn_pinned_1(struct subject *s)
{
	struct tare_pinned *p = s->pinned;
	uint64_t *out = s->out;

	TURN(if (tare_pinned_read(p, out, 1)) s->failed++)
}

static void turn_pinned_2(struct subject *s)
{
	struct tare_pinned *p = s->pinned;
	uint64_t *out = s->out;

	TURN(if (tare_pinned_read(p, out, 2)) s->failed++)
}

static void turn_page(struct subject *s)
{
	const struct perf_event_mmap_page *page = s->page;
	uint64_t *out = s->out;

	/* It declines if the kernel writes the page meanwhile, and is then called again. */
	TURN(while (__builtin_expect(!tare_page_count(page, out), 0)))
}

static void turn_count(struct subject *s)
{
	TURN(s->failed += tare_group_count(s->group, 0, s->out, NULL) < 0)
}

static void turn_read(struct subject *s)
{
	TURN(s->failed += tare_group_read(s->group, s->reading, NULL) < 0)
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct tare_group *open_group(const char *text, unsigned flags, struct tare_error *err)
{
	struct tare_events *events = tare_events_new(text, err);
	struct tare_group *g = events ? tare_group_open(events, 0, flags, err) : NULL;

	tare_events_free(events);
	if (g && tare_group_start(g, err) < 0) {
		tare_group_close(g);
		g = NULL;
	}
	return g;
}

/* Instructions of one run of `turn`, by `judge`, and ns; the minimum of five. */
static void weigh(void (*turn)(struct subject *), struct subject *s, struct tare_group *judge,
		  uint64_t *instructions, uint64_t *ns)
{
	*instructions = *ns = UINT64_MAX;
	for (int i = 0; i < 5; i++) {
		uint64_t before = 0, after = 0, began;

		if (judge)
			s->failed += tare_group_count(judge, 0, &before, NULL) < 0;
		began = now_ns();
		turn(s);
		began = now_ns() - began;
		if (judge)
			s->failed += tare_group_count(judge, 0, &after, NULL) < 0;
		if (after - before < *instructions)
			*instructions = after - before;
		if (began < *ns)
			*ns = began;
	}
}

static void row(const char *what, const char *bound, void (*turn)(struct subject *),
		struct subject *s, struct tare_group *judge)
{
	uint64_t empty, full, empty_ns, full_ns;
	double reads = (double)turns * READS;

	s->failed = 0;
	weigh(turn_nothing, s, judge, &empty, &empty_ns);
	weigh(turn, s, judge, &full, &full_ns);
	if (s->failed) {
		fprintf(stderr, "read: %s: %d reads failed\n", what, s->failed);
		exit(1);
	}
	if (judge)
		printf("%s\t%.2f\tinstructions\t%s\tby the PMU, over %u reads\n", what,
		       ((double)full - (double)empty) / reads, bound, turns * READS);
	printf("%s\t%.1f\tns\t\tover %u reads\n", what,
	       ((double)full_ns - (double)empty_ns) / reads, turns * READS);
}

static void rows_pinned(const char *events_text, const char *what, const char *bound,
			void (*turn)(struct subject *), struct tare_group *judge)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_events *events = tare_events_new(events_text, &err);
	struct subject s = { .pinned = events ? tare_pinned_open(events, &err) : NULL };

	tare_events_free(events);
	if (s.pinned)
		row(what, bound, turn, &s, judge);
	else
		fprintf(stderr, "read: %s not measured: %s\n", what, err.what);
	tare_pinned_close(s.pinned);
}

static void rows_page(struct tare_group *judge)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_events *events = tare_events_new("instructions:u", &err);
	const struct target self = { .cpu = -1, .cgroup_fd = -1, .user_reads = true };
	const struct encoding *enc = events ? &events->list.enc[0] : NULL;
	struct counters *c = NULL;
	struct subject s = { 0 };

	if (enc && source_perf.open(&c, &enc, 1, &self, NULL, &err) == 0 &&
	    source_perf.start(c, &err) == 0 && perf_user_reads(c, &err) == 0) {
		s.page = perf_page(c, 0);
		row("full page protocol, inline", "<= 24", turn_page, &s, judge);
	} else {
		fprintf(stderr, "read: full page protocol not measured: %s\n", err.what);
	}
	source_perf.close(c);
	tare_events_free(events);
}

static void rows_group(const char *text, unsigned flags, const char *count_name,
		       const char *read_name, struct tare_group *judge)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct subject s = { .group = open_group(text, flags, &err) };

	if (s.group) {
		row(count_name, "", turn_count, &s, judge);
		row(read_name, "", turn_read, &s, judge);
	} else {
		fprintf(stderr, "read: %s not measured: %s\n", read_name, err.what);
	}
	tare_group_close(s.group);
}

int main(int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_group *judge = open_group("instructions:u", 0, &err);

	if (argc > 1)
		turns = (unsigned)atoi(argv[1]);
	if (!judge)
		fprintf(stderr, "read: no PMU to count instructions by: %s\n", err.what);
	rows_pinned("cycles:u", "pinned read, 1 counter", "<= 11", turn_pinned_1, judge);
	rows_pinned("{cycles:u,instructions:u}", "pinned read, 2 counters", "<= 17", turn_pinned_2,
		    judge);
	rows_page(judge);
	rows_group("{instructions:u,cycles:u}", TARE_USER_READS,
		   "tare_group_count, from user space", "tare_group_read of 2, from user space",
		   judge);
	rows_group("{task-clock,page-faults:u}", 0, "tare_group_count, by read(2)",
		   "tare_group_read of 2, by read(2)", judge);
	tare_group_close(judge);
	return 0;
}

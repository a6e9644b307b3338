/* SPDX-License-Identifier: MIT */
/*
 * Runs in alternating stretches: their order, and the placement of each value. This program is also
 * the test that is run.
 */
#include <sys/mman.h>
#include <sys/personality.h>
#include "exact/exact.h"
#include "event/event.h"
#include "bench/bench_shared.h"
#include "tap.h"

TEST(stretches_are_all_of_it)
{
	struct bench_plan p = { .runs = 103, .baselines = 7, .cross = true };
	uint32_t run = 0, base = 0;

	CHECK_EQ(bench_stretches(&p), 20);
	for (size_t i = 0; i < 20; i++) {
		struct bench_stretch s = bench_stretch(&p, i);

		CHECK(s.run == run && s.base == base, "stretch %zu begins where the last ended", i);
		CHECK(s.end - s.run == 5 || s.end - s.run == 6, "stretch %zu has %u runs", i,
		      s.end - s.run);
		run = s.end;
		base = s.base_end;
	}
	CHECK_EQ(run, 103);
	CHECK_EQ(base, 7);
	p.runs = 14;
	CHECK_EQ(bench_stretches(&p), 2, "each has at least five");
	p.runs = 4;
	CHECK_EQ(bench_stretches(&p), 1);
	p.runs = BENCH_RUNS_MAX;
	p.cross = false;
	CHECK_EQ(bench_stretches(&p), 1, "in one piece");
	CHECK_EQ(bench_stretch(&p, 0).end, BENCH_RUNS_MAX);
}

/* ---- as the test: what it is, and which run this is, goes to standard output ---- */

static unsigned runs_here;

static void pairs_of_this_run(void (*start)(void), void (*stop)(void))
{
	for (unsigned i = 0; i <= runs_here % 3; i++) {
		start();
		stop();
	}
	runs_here++;
}

static void say_how(char *fd)
{
	struct bench_shared *b = mmap(NULL, sizeof(*b), PROT_READ, MAP_SHARED, atoi(fd), 0);

	if (b == MAP_FAILED)
		_exit(1);
	printf("%s %u %u;", b->how == BENCH_EXACT ? "exact" : "clock", b->runs, b->baselines);
	fflush(stdout);
	munmap(b, sizeof(*b));
}

/* ---- and as the judge ---- */

TEST(sets_take_turns)
{
	char self[4096] = "";
	const struct bench_variant variant[] = { { .name = "a", .path = self, .program = true },
						 { .name = "b", .path = self, .program = true } };
	struct tare_error err = TARE_ERROR_INIT;
	struct event_list events = { 0 };
	struct encoding_list list = { 0 };
	struct machine *m = machine_open(NULL, &err);
	const struct encode_options how = { .keep_unavailable = true };
	struct bench_result r;
	enum bench_blame blame;

	CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "this program");
	if (exact_probe(&err) < 0)
		tap_skip("exact", "%s", err.what);
	if (TAP_THREAD_SANITIZER && !(personality(0xffffffff) & ADDR_NO_RANDOMIZE))
		tap_skip(
			"fixed_addresses",
			"at random ones the thread sanitizer may leave the exact engine no room; setarch -R starts this without");
	CHECK_EQ(event_list_parse("exact/instructions/", &events, &err), 0, "%s", err.what);
	CHECK_EQ(pmu_encode(m, &events, &how, &list, &err), 0, "%s", err.what);

	struct bench_plan p = { .variant = variant,
				.n_variants = 2,
				.runs = 17,
				.warmup = 0,
				.baselines = 8,
				.cpu = -1,
				.timeout_ns = 30000000000,
				.events = &list,
				.cross = true,
				.clock = true,
				.self = self };

	if (!CHECK(bench_run(&p, &r, &blame, &err) == 0, "%s", err.what))
		return;
	/*
	 * 17 runs in three stretches of 5, 6 and 6, by the engine and the clock, in alternating
	 * order.
	 */
	CHECK_STR(r.words, "exact 5 2;clock 5 2;clock 6 3;exact 6 3;exact 6 3;clock 6 3;",
		  "in turn");
	CHECK_EQ(r.n_counters, 2);
	for (size_t v = 0; v < 2 && r.n_counters == 2; v++) {
		const struct bench_series *exact = &r.series[v * 2], *clock = &r.series[v * 2 + 1];
		/* the compiler may have put instructions between the marks */
		int64_t one = exact->value[0] / r.pairs[v * p.runs];

		for (uint32_t i = 0; i < p.runs; i++) {
			/* Both variants count in one process, in the order of their runs. */
			uint32_t from = i < 5 ? 0
				: i < 11      ? 5
					      : 11,
				 before = 2 * (i - from) + (r.order[2 * i] != v);

			CHECK_EQ(r.pairs[v * p.runs + i], 1 + before % 3, "run %u of %zu", i, v);
			CHECK(clock->value[i] > 0, "run %u of %zu by the clock", i, v);
			CHECK_EQ(exact->value[i], r.pairs[v * p.runs + i] * one, "run %u of %zu", i,
				 v);
		}
		for (uint32_t i = 0; i < p.baselines; i++) {
			CHECK_EQ(exact->base[i], exact->base[0], "baseline %u", i);
			CHECK(exact->base[i] > 0 && exact->base[i] <= one && clock->base[i] > 0,
			      "baseline %u", i);
		}
	}
	bench_free(&r, &p);
	encoding_list_free(&list);
	event_list_free(&events);
	machine_close(m);
}

int main(int argc, char **argv)
{
	static const struct tare_bench_test test = { .execute_test = pairs_of_this_run };

	if (argc == 3 && !strcmp(argv[1], BENCH_WORD)) {
		say_how(argv[2]);
		return tare_bench_main(argc, argv, &test, NULL) < 0;
	}
	return tap_main(argc, argv);
}

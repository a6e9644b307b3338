/* SPDX-License-Identifier: MIT */
/*
 * Any bytes in the shared state that a bench shares with the process that runs its tests, as they
 * are when that has ended: a message, or numbers. What tare itself wrote there (fill_shared()) is
 * not read again.
 */
#include "bench/bench.c"
#include "fuzz.h"

enum { VARIANTS = 2, RUNS = 3, BASELINES = 2, COUNTERS = 2 };

static void series_begin(struct bench_series *s)
{
	s->value = calloc(RUNS, sizeof(*s->value));
	s->base = calloc(BASELINES, sizeof(*s->base));
	must(s->value && s->base);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct bench_variant variant[VARIANTS] = { { .name = "a" }, { .name = "b" } };
	const struct bench_plan plan = {
		.variant = variant, .n_variants = VARIANTS, .runs = RUNS, .baselines = BASELINES
	};
	size_t size = bench_shared_size(VARIANTS, RUNS, BASELINES, COUNTERS);
	struct bench_series series[VARIANTS * COUNTERS];
	uint32_t pairs[VARIANTS * RUNS];
	struct bench_set set = { .how = BENCH_CLOCK, .n = COUNTERS, .n_shared = 1 };
	struct bench_child_end end = { .status = n % 3 ? 0 : SIGSEGV, .timed_out = n % 7 == 1 };
	struct bench_result r = { .counter = { { .how = BENCH_CLOCK }, { .how = BENCH_CHAIN } },
				  .n_counters = COUNTERS,
				  .series = series,
				  .pairs = pairs };
	enum bench_blame blame = BENCH_NOBODY;
	struct bench b = { .plan = &plan,
			   .r = &r,
			   .blame = &blame,
			   .shared = calloc(1, size),
			   .part = { 0, RUNS, 0, BASELINES } };
	struct tare_error err = TARE_ERROR_INIT;
	const size_t told = offsetof(struct bench_shared, progress);

	must(b.shared);
	for (size_t i = 0; i < VARIANTS * COUNTERS; i++)
		series_begin(&series[i]);
	set.counter[1] = 1;
	memcpy((char *)b.shared + told, bytes, n < size - told ? n : size - told);
	b.at = bench_places(b.shared, VARIANTS, RUNS, BASELINES, 1);
	if (explain_end(&b, &end, &err) != 0)
		must(err.what[0] && err.code > 0);
	else
		must(!err.what[0]);
	take_counters(&b, &set);
	must(blame == BENCH_NOBODY || blame == BENCH_TEST || blame == BENCH_OBJECT);
	for (size_t i = 0; i < VARIANTS * COUNTERS; i++) {
		free(series[i].value);
		free(series[i].base);
	}
	free(b.shared);
	return 0;
}

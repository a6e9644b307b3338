/* SPDX-License-Identifier: MIT */
/* Registers compared with perf, values of too few runs, and estimated cycles, in each format. */
#include <string.h>
#include "tap.h"
#include "bench/bench_view.h"

enum { RUNS = 20, BASES = 10 };

static int64_t run[2][RUNS], none[BASES];
static uint32_t pairs[RUNS];
static struct bench_series series[2] = { { none, run[0] }, { none, run[1] } };
static const struct bench_variant variant = { .name = "a.c" };
static struct bench_plan plan = {
	.variant = &variant, .n_variants = 1, .baselines = BASES, .cross = true
};
static struct bench_result result = { .n_counters = 2, .series = series, .pairs = pairs, .cpu = 2 };
static struct text text, json;

static void show(uint32_t runs, int64_t more)
{
	static const char *const remarks[] = { NULL };
	static const struct style plain = { .width = 120 };
	struct bench_stats stats;
	struct bench_about about = { &plan, &result, &stats, remarks, false };

	plan.runs = runs;
	for (int c = 0; c < 2; c++) {
		result.counter[c].quality = TARE_COUNTED;
		result.counter[c].how = c ? BENCH_READ : BENCH_MSR;
		strcpy(result.counter[c].name, c ? "cycles:u by perf" : "cycles:u");
		for (int i = 0; i < RUNS; i++)
			run[c][i] = 1000 + i * (c ? 7 : 3) % 10 + (c ? more : 0);
	}
	for (int i = 0; i < RUNS; i++)
		pairs[i] = 1;
	text_free(&text);
	text_free(&json);
	CHECK_EQ(bench_stats(&stats, &plan, &result, NULL), 0);
	bench_text(&text, &about, &plain);
	bench_json(&json, &about);
	bench_stats_free(&stats);
}

TEST(bench_view_of_registers_against_perf)
{
	show(RUNS, 0);
	CHECK(strstr(text.s,
		     "a.c: perf's less the registers'\n  cycles:u             agree: 0.00 +- "),
	      "%s", text.s);
	CHECK(strstr(json.s, "\"verdict\": \"agree\"") && !strstr(json.s, "\"half\": 0"), "%s",
	      json.s);
	show(RUNS, 50);
	CHECK(strstr(text.s, "differ: 50.00 +- ") && strstr(text.s, "p < 0.0001"), "%s", text.s);
	CHECK(strstr(json.s, "\"verdict\": \"differ\""), "%s", json.s);
	show(9, 50);
	CHECK(strstr(text.s, "untested: at least ten runs are needed"), "%s", text.s);
	CHECK(strstr(json.s, "\"half\": null") && strstr(json.s, "\"p\": null"), "%s", json.s);
	plan.cross = false;
	show(RUNS, 0);
	CHECK(!strstr(text.s, "perf's less") && !strstr(json.s, "\"cross\""),
	      "only where it was asked for");
	plan.cross = true;
}

TEST(bench_view_of_too_few_runs)
{
	show(5, 0);
	CHECK(strstr(text.s, "too few to say"), "%s", text.s);
	CHECK(strstr(json.s, "\"low\": null") && strstr(json.s, "\"high\": null"), "%s", json.s);
	show(6, 0);
	CHECK(!strstr(text.s, "too few to say") && !strstr(json.s, "\"low\": null"), "%s", text.s);
}

TEST(bench_view_of_estimated_cycles)
{
	static const char *const remarks[] = { NULL };
	static const struct style plain = { .width = 120 };
	struct bench_stats stats;
	struct bench_about about = { &plan, &result, &stats, remarks, false };
	struct text csv = { 0 }, events = { 0 };

	plan.cross = false;
	show(RUNS, 0);
	result.counter[1] = (struct bench_counter){ .name = "cycles", .how = BENCH_CHAIN };
	result.counter[1].quality = TARE_SCALED;
	result.chain_adds = 40448;
	result.chain_ticks = 28391;
	text_free(&text);
	text_free(&json);
	CHECK_EQ(bench_stats(&stats, &plan, &result, NULL), 0);
	bench_text(&text, &about, &plain);
	bench_json(&json, &about);
	bench_csv(&csv, &about);
	for (unsigned i = 0; i < BENCH_KDB_FILES; i++)
		if (!strcmp(bench_kdb_name(i), "events"))
			bench_kdb(&events, i, &about);
	CHECK(strstr(text.s, "  cycles (estimated) "), "%s", text.s);
	CHECK(strstr(json.s, "\"estimated\",\n      \"how\": \"clock and additions\""), "%s",
	      json.s);
	CHECK(strstr(json.s, "\"additions\": 40448") && strstr(json.s, "\"ticks\": 28391"), "%s",
	      json.s);
	CHECK(strstr(json.s, "\"quality\": \"estimated\",\n      \"value\""), "%s", json.s);
	CHECK(strstr(csv.s, "a.c,1,cycles,estimated,1,1000,"), "%s", csv.s);
	CHECK(memmem(events.s, events.len, "cycles_estimated", 17), "kdb+");
	bench_stats_free(&stats);
	text_free(&csv);
	text_free(&events);
	result.chain_adds = 0;
	plan.cross = true;
}

TEST_MAIN()

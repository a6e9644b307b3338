/* SPDX-License-Identifier: MIT */
/*
 * Output compared with the files in tests/golden. After an intended change:
 *	TARE_RENEW=1 build/src/view_stat_test, then review the difference.
 */
#include <signal.h>
#include "base/file.h"
#include "profile/report/profile_view.h"
#include "stat/stat_view.h"
#include "tap.h"

#define GOLDEN TESTS_DIR "/golden/"

static struct encoding enc[8];
static size_t n_enc;
static struct summary *s;
static struct text shown;
static struct stat_metrics metrics;
static bool in_interval;

static struct encoding *event(const char *name)
{
	struct encoding *e = &enc[n_enc++];

	*e = (struct encoding){ .source = &source_perf, .scale = 1, .event = n_enc - 1 };
	snprintf(e->name, sizeof(e->name), "%s", name);
	return e;
}

static void reading(unsigned run, unsigned e, int cpu, uint64_t raw, uint64_t enabled,
		    uint64_t running)
{
	struct fact f = { .kind = FACT_READING,
			  .run = run,
			  .reading = {
				  .event = e,
				  .place = { .cpu = cpu, .thread = -1 },
				  .value = { raw, enabled, running,
					     running == enabled ? TARE_COUNTED : TARE_SCALED } } };

	summary_sink(s)->put(summary_sink(s), &f, NULL);
}

static void mark(enum fact_kind kind, uint64_t at, int signal_number)
{
	struct fact f = { .kind = kind, .time_ns = at };

	if (kind == FACT_RUN_END)
		f.end = (struct fact_end){ .wall_ns = at,
					   .counted_ns = at,
					   .user_ns = at * 3 / 4,
					   .system_ns = at / 5,
					   .has_status = true,
					   .by_signal = signal_number };
	summary_sink(s)->put(summary_sink(s), &f, NULL);
}

static void begin_summary(const struct summary_options *opt)
{
	s = summary_new(opt, NULL);
	summary_amend(s, enc, n_enc, NULL);
}

/*
 * Five runs of a compiler: one event multiplexed, one with an outlier, one unavailable, one in
 * joules.
 */
static const struct stat_table *some_runs(unsigned runs)
{
	static const uint64_t clock[] = { 86880123, 84220000, 88100456, 86990000,
					  87000111, 86900000, 85500000, 87700000 };
	static const uint64_t faults[] = { 2676, 2676, 2676, 9999, 2676, 2679, 2676, 2676 };

	strcpy(event("task-clock")->unit, "ns");
	event("page-faults");
	event("cycles:u")->attr.exclude_kernel = 1;
	event("instructions:u")->attr.exclude_kernel = 1;
	event("branch-misses:u")->unavailable = ENOENT;
	enc[4].attr.exclude_kernel = 1;
	strcpy(enc[4].why,
	       "this machine shows no such event, and this reason is long enough to "
	       "need a second line "
	       "where the window is narrow");
	strcpy(enc[4].remedy, "'tare doctor' says why");
	event("dTLB-misses:u")->unavailable = ENOENT;
	strcpy(enc[5].why, enc[4].why);
	strcpy(enc[5].remedy, enc[4].remedy);
	event("power/energy-pkg/")->scale = 2.3283064365386962890625e-10;
	strcpy(enc[6].unit, "Joules");
	begin_summary(&(struct summary_options){ 0 });
	for (unsigned i = 0; i < runs; i++) {
		mark(FACT_RUN_BEGIN, 0, 0);
		reading(i, 0, -1, clock[i], clock[i], clock[i]);
		reading(i, 1, -1, faults[i], clock[i], clock[i]);
		reading(i, 2, -1, 150000000 + i, clock[i], clock[i] / 2);
		reading(i, 3, -1, 226412345, clock[i], clock[i]);
		reading(i, 6, -1, 5000000000 + i * 10000000, clock[i], clock[i]);
		mark(FACT_RUN_END, clock[i] + 7000000, 0);
	}
	return summary_table(s, NULL);
}

static const struct stat_table *five_runs(void)
{
	return some_runs(5);
}

static const struct stat_table *one_run(int signal_number)
{
	strcpy(event("task-clock")->unit, "ns");
	event("page-faults");
	event("quote\"and,comma");
	begin_summary(&(struct summary_options){ 0 });
	mark(FACT_RUN_BEGIN, 0, 0);
	reading(0, 0, -1, 1234567, 1234567, 1234567);
	reading(0, 1, -1, 49, 1234567, 1234567);
	reading(0, 2, -1, 7, 1234567, 1234567);
	mark(FACT_RUN_END, 2000000, signal_number);
	return summary_table(s, NULL);
}

static const struct stat_table *per_cpu(enum stat_by by)
{
	static const struct cpu_place cpus[] = { { 0, 0, 0, 0, 0 }, { 1, 1, 0, 0, 0 } };

	strcpy(event("cpu-clock")->unit, "ns");
	event("cycles");
	event("instructions")->unavailable = ENOENT;
	strcpy(enc[2].why, "gone");
	begin_summary(&(struct summary_options){ .by = by, .cpu = cpus, .n_cpu = 2 });
	mark(FACT_RUN_BEGIN, 0, 0);
	for (int cpu = 0; cpu < 2; cpu++) {
		reading(0, 0, cpu, 1000000000, 1000000000, 1000000000);
		reading(0, 1, cpu, 3000000000 * (1 + cpu), 1000000000, 1000000000);
	}
	mark(FACT_RUN_END, 1000000000, 0);
	return summary_table(s, NULL);
}

static const struct stat_table *on_a_hybrid(void)
{
	strcpy(event("task-clock")->unit, "ns");
	event("cpu_core/instructions/")->place = PLACE_CORE;
	strcpy(enc[1].pmu, "cpu_core");
	event("cpu_core/cycles/")->place = PLACE_CORE;
	strcpy(enc[2].pmu, "cpu_core");
	event("cpu_atom/instructions/")->place = PLACE_CORE;
	strcpy(enc[3].pmu, "cpu_atom");
	event("cpu_atom/cycles/")->place = PLACE_CORE;
	strcpy(enc[4].pmu, "cpu_atom");
	enc[3].event = 1;
	enc[4].event = 2;
	begin_summary(&(struct summary_options){ 0 });
	mark(FACT_RUN_BEGIN, 0, 0);
	reading(0, 0, -1, 10000000, 10000000, 10000000);
	reading(0, 1, -1, 50000000, 10000000, 8000000);
	reading(0, 2, -1, 25000000, 10000000, 8000000);
	reading(0, 3, -1, 5000000, 10000000, 2000000);
	reading(0, 4, -1, 4000000, 10000000, 2000000);
	mark(FACT_RUN_END, 12000000, 0);
	return summary_table(s, NULL);
}

static void check(const char *name)
{
	char path[512], *golden;

	snprintf(path, sizeof(path), GOLDEN "%s", name);
	if (getenv("TARE_RENEW")) {
		FILE *f = fopen(path, "w");

		CHECK(f && fwrite(shown.s, 1, shown.len, f) == shown.len && fclose(f) == 0, "%s",
		      path);
		shown.len = 0;
		return;
	}
	if (file_read(NULL, path, 1 << 20, &golden, NULL, NULL) < 0) {
		tap_skip("golden", "%s is not here", path);
	}
	CHECK_STR(shown.s, golden, "%s", name);
	free(golden);
	shown.len = 0;
}

static char *const gcc[] = { (char *)"gcc", (char *)"-c", (char *)"a b.c", (char *)"it's", NULL };
static const struct stat_about about = {
	.argv = gcc, .engine = &source_perf, .aslr = true, .batches = 1, .exit_status = 0
};
static const struct style plain = { .thousands = true, .utf8 = true, .width = 160 };

static void text(const struct stat_table *t, const struct style *style)
{
	CHECK_EQ(metrics_of(t, NULL, &metrics, NULL), 0);
	stat_text(&shown, t, &metrics, &about, style);
}

TEST(text_of_five_runs)
{
	const struct stat_table *t = five_runs();
	struct style style = plain;

	text(t, &style);
	check("stat-five-runs.txt");
	style.width = 72;
	style.utf8 = style.thousands = false;
	text(t, &style);
	check("stat-five-runs-narrow.txt");
	style.width = 160;
	style.colour = true;
	text(t, &style);
	check("stat-five-runs-colour.txt");
}

/*
 * From six runs on, +- is a confidence interval. tests/page compares these two files with the page.
 */
TEST(text_of_eight_runs)
{
	const struct stat_table *t = some_runs(8);

	text(t, &plain);
	check("stat-eight-runs.txt");
	stat_json(&shown, t, &metrics, &about);
	check("stat-eight-runs.json");
}

/* A tick of 8 ms hit one run of four. */
TEST(times_of_ticks)
{
	struct stat_table t = *some_runs(5);

	t.times.system = (struct spread){ .n = 4, .max = 8000000, .mean = 2000000 };
	text(&t, &plain);
	CHECK(shown.s && strstr(shown.s, "2.00  ms      system (mean)"), "%s", shown.s);
	text_free(&shown);
	stat_json(&shown, &t, &metrics, &about);
	CHECK(shown.s &&
		      strstr(shown.s,
			     "\"system\": {\n      \"value\": 2000000,\n      \"median\": 0,\n      \"min\": 0,\n      \"max\": 8000000,\n"
			     "      \"mean\": 2000000,\n      \"interval\": null,\n"),
	      "%s", shown.s);
	text_free(&shown);
}

/*
 * Events requested in this order; the kernel counted the first and the third while the exact engine
 * ran.
 */
static const struct stat_table *under_the_engine(void)
{
	static const char *const name[] = { "task-clock", "instructions:u", "page-faults",
					    "branches:u" };

	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		if (event(name[i])->name[0] == 'i' || name[i][0] == 'b')
			enc[i].source = &source_exact;
	begin_summary(&(struct summary_options){ 0 });
	summary_sink(s)->put(summary_sink(s),
			     &(struct fact){ .kind = FACT_RUN_BEGIN, .begin.adds_work = true },
			     NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(name); i++)
		reading(0, i, -1, 1000 + i, 1000, 1000);
	summary_sink(s)->put(summary_sink(s),
			     &(struct fact){ .kind = FACT_RUN_END,
					     .time_ns = 1000,
					     .end = { .wall_ns = 1000, .added_work = true } },
			     NULL);
	return summary_table(s, NULL);
}

/* Each of `words` occurs in the output, after the previous one. */
static void check_order(const char *view, const char *const *words, size_t n)
{
	const char *at = shown.s;

	for (size_t i = 0; at && i < n; i++) {
		at = strstr(at, words[i]);
		CHECK(at, "%s: no '%s' there: %s", view, words[i], shown.s);
	}
	text_free(&shown);
}

#define ORDER(view, ...)                                                                           \
	check_order(view, (const char *const[]){ __VA_ARGS__ },                                    \
		    ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })))

TEST(engine_overhead_comes_last_and_is_marked_in_every_view)
{
	const struct stat_table *t = under_the_engine();

	text(t, &plain);
	ORDER("text", "instructions:u ", "branches:u ", "task-clock ", "+engine", "page-faults ",
	      "+engine", "wall ", "+engine");
	stat_csv(&shown, t, &metrics, false, true);
	ORDER("CSV", "\n,instructions:u,1001,", ",,,\n,branches:u,1003,", ",,,\n,task-clock,1000,",
	      ",yes,", "\n,page-faults,1002,", ",yes,");
	stat_json(&shown, t, &metrics, &about);
	ORDER("JSON", "\"events\"", "\"instructions:u\"", "\"branches:u\"", "\"task-clock\"",
	      "\"with_engine_work\": true", "\"page-faults\"", "\"with_engine_work\": true",
	      "\"times_ns\"", "\"with_engine_work\": true", "\"wall\"");
	stat_json_interval(&shown, t, &metrics);
	ORDER("JSON of an interval", "\"instructions:u\"", "\"branches:u\"", "\"task-clock\"",
	      "\"with_engine_work\": true", "\"page-faults\"", "\"with_engine_work\": true");
	stat_perf_csv(&shown, t, &metrics, ",", false);
	ORDER("-x", "1001,,instructions:u,", ",,\n1003,,branches:u,", ",,\n0.00,msec,task-clock,",
	      ",,includes engine overhead\n1002,,page-faults,", ",,includes engine overhead\n");
	stat_perf_json(&shown, t, &metrics, false);
	ORDER("-j", "\"instructions:u\"", "\"metric-unit\" : \"\"}", "\"branches:u\"",
	      "\"metric-unit\" : \"\"}", "\"task-clock\"",
	      "\"metric-unit\" : \"includes engine overhead\"}", "\"page-faults\"",
	      "\"metric-unit\" : \"includes engine overhead\"}");
}

TEST(text_of_one_run)
{
	text(one_run(SIGINT), &plain);
	check("stat-one-run-cut-short.txt");
}

TEST(a_raw_event_that_stays_0)
{
	event("r01")->attr.type = PERF_TYPE_RAW;
	event("r02")->attr.type = PERF_TYPE_RAW;
	event("page-faults")->attr.type = PERF_TYPE_SOFTWARE;
	begin_summary(&(struct summary_options){ 0 });
	mark(FACT_RUN_BEGIN, 0, 0);
	reading(0, 0, -1, 0, 1000, 1000);
	reading(0, 1, -1, 7, 1000, 1000);
	reading(0, 2, -1, 0, 1000, 1000);
	mark(FACT_RUN_END, 1000, 0);
	text(summary_table(s, NULL), &plain);
	CHECK(strstr(shown.s, "\n r01: 0 all the time. An event that this CPU does not have"), "%s",
	      shown.s);
	shown.len = 0;
}

TEST(text_per_cpu)
{
	const struct stat_table *t = per_cpu(BY_CPU);
	struct style style = plain;

	text(t, &style);
	check("stat-per-cpu.txt");
	style.width = 68; /* all are plainly counted: that column is dropped, but not the meaning */
	text(t, &style);
	check("stat-per-cpu-narrow.txt");
	for (int first = 1; first >= 0; first--)
		stat_text_interval(&shown, t, &metrics, &about, &style, first);
	check("stat-per-cpu-interval.txt");
}

TEST(text_on_a_hybrid)
{
	text(on_a_hybrid(), &plain);
	check("stat-hybrid.txt");
}

TEST(perf_layouts)
{
	static const struct {
		enum stat_by by;
		const char *csv, *json;
	} rows[] = { { BY_CPU, "stat-per-cpu.x", "stat-per-cpu.j" },
		     { BY_CORE, "stat-per-core.x", "stat-per-core.j" } };
	const struct stat_table *t = five_runs();

	metrics_of(t, NULL, &metrics, NULL);
	stat_perf_csv(&shown, t, &metrics, ";", false);
	check("stat-five-runs.x");
	stat_perf_json(&shown, t, &metrics, false);
	check("stat-five-runs.j");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		n_enc = 0;
		t = per_cpu(rows[i].by);
		metrics_of(t, NULL, &metrics, NULL);
		stat_perf_csv(&shown, t, &metrics, ",", false);
		check(rows[i].csv);
		stat_perf_json(&shown, t, &metrics, false);
		check(rows[i].json);
	}
}

TEST(json)
{
	const struct stat_table *t = five_runs();

	metrics_of(t, NULL, &metrics, NULL);
	stat_json(&shown, t, &metrics, &about);
	check("stat-five-runs.json");
	n_enc = 0;
	t = on_a_hybrid();
	metrics_of(t, NULL, &metrics, NULL);
	stat_json(&shown, t, &metrics, &about);
	check("stat-hybrid.json");
}

TEST(csv)
{
	const struct stat_table *t = five_runs();

	metrics_of(t, NULL, &metrics, NULL);
	stat_csv(&shown, t, &metrics, false, true);
	check("stat-five-runs.csv");
	n_enc = 0;
	t = one_run(0);
	metrics_of(t, NULL, &metrics, NULL);
	stat_csv(&shown, t, &metrics, false, true);
	check("stat-one-run.csv");
}

/* A process chooses its name, and the creator of a control group its name. */
TEST(names_in_csv_are_no_formulas)
{
	struct amount run = { .value = 7, .quality = TARE_COUNTED };
	bool outlier = false;
	struct stat_row row[] = {
		{ .key = { .at = { -1, -1, -1, -1, -1 }, .thread = 12, .comm = "=cmd|' /C'!A0" } },
		{ .key = { .at = { -1, -1, -1, -1, -1 },
			   .thread = 13,
			   .comm = "a\xc2\x9b,\"\\x1b",
			   .cgroup = "@SUM(A1)" } },
	};
	struct stat_table t = {
		.by = BY_THREAD, .enc = enc, .row = row, .n = ARRAY_SIZE(row), .runs = 1
	};

	event("task");
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		row[i].quality = TARE_COUNTED;
		row[i].share = 1;
		row[i].spread = (struct spread){
			.n = 1, .min = 7, .median = 7, .max = 7, .mean = 7
		};
		row[i].low = row[i].high = 7;
		row[i].run = &run;
		row[i].outlier = &outlier;
	}
	stat_csv(&shown, &t, NULL, false, false);
	ORDER("CSV", "'=cmd|' /C'!A0-12,task,7,", "\"a\\xc2\\x9b,\"\"\\\\x1b-13\",task,7,");
	stat_perf_csv(&shown, &t, NULL, ",", false);
	ORDER("-x,", "'=cmd|' /C'!A0-12,7,,task,",
	      "\"a\\xc2\\x9b,\"\"\\\\x1b-13\",7,,task,'@SUM(A1),");
	stat_perf_csv(&shown, &t, NULL, ";", false);
	ORDER("-x;", "'=cmd|' /C'!A0-12;7;;task;", "13\";7;;task;'@SUM(A1);");
	stat_perf_json(&shown, &t, NULL, false);
	ORDER("-j", "\"=cmd|' /C'!A0-12\"", "\"a\\u009b,\\\"\\\\x1b-13\"");
}

TEST(names_in_csv_of_a_profile_are_no_formulas)
{
	struct profile_row row = { .function = "+f",
				   .module = "@m\x1b",
				   .file = "-x.c",
				   .instructions = 1,
				   .min = 1,
				   .max = 1,
				   .line = 2 };
	struct profile_table t = { .row = &row, .n = 1, .by = PROFILE_LINE, .total = 1 };

	profile_csv(&shown, &t, 1);
	ORDER("profile", "'+f,'@m\\x1b,'-x.c,2,");
}

static int interval(void *with, const struct stat_table *t, struct tare_error *err)
{
	bool first = !in_interval;

	(void)with;
	in_interval = true;
	metrics_of(t, NULL, &metrics, err);
	stat_text_interval(&shown, t, &metrics, &about, &plain, first);
	stat_perf_csv(&shown, t, &metrics, ",", true);
	stat_perf_json(&shown, t, &metrics, true);
	stat_csv(&shown, t, &metrics, true, first);
	stat_json_interval(&shown, t, &metrics);
	metrics_free(&metrics);
	return 0;
}

TEST(intervals)
{
	strcpy(event("task-clock")->unit, "ns");
	event("cycles");
	event("instructions")->unavailable = ENOENT;
	strcpy(enc[2].why, "gone");
	begin_summary(&(struct summary_options){ .intervals = true, .interval = interval });
	mark(FACT_RUN_BEGIN, 0, 0);
	reading(0, 0, -1, 90000000, 90000000, 90000000);
	reading(0, 1, -1, 270000000, 90000000, 45000000);
	mark(FACT_INTERVAL, 100000000, 0);
	reading(0, 0, -1, 90000000, 90000000, 90000000);
	reading(0, 1, -1, 270000000, 90000000, 45000000);
	mark(FACT_INTERVAL, 200000001, 0);
	check("stat-intervals.txt");
}

TEST(percentages)
{
	static const struct {
		double percent;
		const char *shown;
	} rows[] = {
		{ 0, "0 %" },
		{ 57.3, "57 %" },
		{ 9.96, "10.0 %" },
		{ 1.25, "1.2 %" },
		{ 0.41, "0.41 %" },
		{ 0.0416, "0.042 %" },
		{ 0.000004, "0.0000040 %" },
		{ 250, "250 %" },
		{ 1e-12, "0.000000000 %" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text t = { 0 };

		put_percent(&t, rows[i].percent);
		CHECK_STR(t.s, rows[i].shown);
		text_free(&t);
	}
}

TEST(four_digits_that_say_something)
{
	const struct style with = { .thousands = true };
	static const struct {
		double v;
		const char *shown;
	} rows[] = { { 0, "0" },
		     { 0.5, "0.5000" },
		     { 0.00012346, "0.0001235" },
		     { -0.002, "-0.002000" },
		     { 1.23456, "1.235" },
		     { 12.3456, "12.35" },
		     { 123.456, "123.5" },
		     { 12345.6, "12,346" },
		     { 9.9999e-1, "1.0000" },
		     { 4e-15, "4.000e-15" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text t = { 0 };

		put_significant(&t, &with, rows[i].v);
		CHECK_STR(t.s, rows[i].shown);
		text_free(&t);
	}
}

TEST(numbers)
{
	const struct style with = { .thousands = true }, without = { 0 };
	static const struct {
		uint64_t n;
		const char *shown;
	} rows[] = { { 0, "0" },
		     { 999, "999" },
		     { 1000, "1,000" },
		     { 123456, "123,456" },
		     { UINT64_MAX, "18,446,744,073,709,551,615" } };
	struct text t = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		put_count(&t, &with, rows[i].n);
		CHECK_STR(t.s, rows[i].shown);
		text_free(&t);
	}
	put_count(&t, &without, 1000);
	put_real(&t, &with, -1234567.891, 2);
	put_real(&t, &with, -0.00004, 4);
	put_real(&t, &with, -0.00006, 4);
	CHECK_STR(t.s, "1000-1,234,567.890.0000-0.0001");
	text_free(&t);
}

/*
 * instructions-minus-irqs:u: the number is the difference; the subtracted count and the
 * justification are shown with it.
 */
TEST(what_was_taken_off_is_shown)
{
	static const struct summary_less less = { .event = 0,
						  .by = 1,
						  .known = "documented: Linux" };
	static const char said[] =
		"instructions-minus-irqs:u: 1,000,012 instructions:u less 12 of cpu/event=0x2c/u, one for each interrupt";
	const struct style style = { .thousands = true, .width = 200 };
	const struct stat_about about = { .engine = &source_perf };
	const struct stat_table *t;

	event("instructions-minus-irqs:u");
	event("cpu/event=0x2c/u");
	begin_summary(&(struct summary_options){ .less = &less, .n_less = 1 });
	mark(FACT_RUN_BEGIN, 0, 0);
	reading(0, 0, -1, 1000012, 1000, 1000);
	reading(0, 1, -1, 12, 1000, 1000);
	mark(FACT_RUN_END, 2000, 0);
	t = summary_table(s, NULL);
	stat_text(&shown, t, NULL, &about, &style);
	CHECK(strstr(shown.s, "1,000,000      instructions-minus-irqs:u") != NULL, "%s", shown.s);
	CHECK(strstr(shown.s, said) != NULL && strstr(shown.s, "(documented: Linux)"), "%s",
	      shown.s);
	text_free(&shown);
	stat_json(&shown, t, NULL, &about);
	CHECK(strstr(shown.s,
		     "\"less\":{\"event\":\"cpu/event=0x2c/u\",\"known\":\"documented: Linux\",\"counted\":1000012,\"value\":12}") ||
		      strstr(shown.s, "\"counted\": 1000012,"),
	      "%s", shown.s);
	text_free(&shown);
	summary_free(s);
}

TEST_MAIN()

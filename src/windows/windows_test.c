/* SPDX-License-Identifier: MIT */
/* Windows as tables, phases of synthetic series, CSV round trips, and where two runs diverge. */
#include <inttypes.h>
#include <math.h>
#include <sys/resource.h>
#include "windows/windows_csv.h"
#include "windows/windows_diff.h"
#include "peak.h"
#include "tap.h"
#include "windows/windows_diff_view.h"
#include "output/sparkline.h"
#include "windows/windows_view.h"

static struct encoding events[] = {
	{ .name = "instructions:u",
	  .scale = 1,
	  .attr = { .type = PERF_TYPE_HARDWARE,
		    .config = PERF_COUNT_HW_INSTRUCTIONS,
		    .exclude_kernel = 1 } },
	{ .name = "cycles:u",
	  .scale = 1,
	  .attr = { .type = PERF_TYPE_HARDWARE,
		    .config = PERF_COUNT_HW_CPU_CYCLES,
		    .exclude_kernel = 1 } },
	{ .name = "a,\"b\"",
	  .scale = 1,
	  .attr = { .type = PERF_TYPE_RAW, .config = 1, .exclude_kernel = 1 } },
};
static const struct encoding_list list = { events, 3, 1 };

/* ---- phases ---- */

/* A small deterministic noise. */
static double noise(size_t i)
{
	return (double)(i * 2654435761u % 1000) / 1000 - 0.5;
}

TEST(phases_of_made_series)
{
	static struct phases p;
	double v[400];

	for (size_t i = 0; i < 400; i++)
		v[i] = (i < 100 ? 10 : i < 250 ? 20 : i < 300 ? 10 : 35) + noise(i);
	CHECK_EQ(phases_find(v, 400, 1, &p, NULL), 0);
	CHECK_EQ(p.segments, 4);
	CHECK_EQ(p.phases, 3);
	CHECK(p.segment[0].first == 0 && p.segment[0].n == 100 && p.segment[0].phase == 0);
	CHECK(p.segment[1].first == 100 && p.segment[1].n == 150 && p.segment[1].phase == 1);
	CHECK(p.segment[2].first == 250 && p.segment[2].n == 50 && p.segment[2].phase == 0,
	      "the first again");
	CHECK(p.segment[3].first == 300 && p.segment[3].n == 100 && p.segment[3].phase == 2);
}

TEST(no_phases_where_nothing_changes)
{
	static struct phases p;
	double v[500];

	for (size_t i = 0; i < 500; i++)
		v[i] = 10 + 3 * noise(i);
	phases_find(v, 500, 1, &p, NULL);
	CHECK_EQ(p.segments, 1);
	for (size_t i = 0; i < 500; i++)
		v[i] = 7;
	phases_find(v, 500, 1, &p, NULL);
	CHECK_EQ(p.segments, 1);
	for (size_t i = 0; i < 500; i++)
		v[i] = 0;
	phases_find(v, 500, 1, &p, NULL);
	CHECK_EQ(p.segments, 1);
	for (size_t i = 0; i < 500; i++) /* bursts are not phases */
		v[i] = i % 7 == 0 ? 50 : 0;
	phases_find(v, 500, 1, &p, NULL);
	CHECK_EQ(p.segments, 1);
	phases_find(v, 0, 1, &p, NULL);
	CHECK_EQ(p.segments, 0);
	phases_find(v, 1, 1, &p, NULL);
	CHECK_EQ(p.segments, 1);
}

/*
 * One of two features is sufficient, and a step of a fifth is detected under noise of a twentieth.
 */
TEST(a_change_in_one_of_two_features)
{
	static struct phases p;
	double v[2 * 200];

	for (size_t i = 0; i < 200; i++) {
		v[2 * i] = 100 + noise(i);
		v[2 * i + 1] = (i < 80 ? 10 : 12) + 0.5 * noise(3 * i + 1);
	}
	phases_find(v, 200, 2, &p, NULL);
	CHECK_EQ(p.segments, 2);
	CHECK_EQ(p.segment[1].first, 80);
}

/* ---- the table ---- */

static void put_window(struct windows *w, uint64_t thread, uint64_t begin, uint64_t a, uint64_t b,
		       uint64_t c, bool rest)
{
	const struct window_thread t = { thread, 7, (uint32_t)(7 + thread),
					 thread ? "two, \"2\"" : "one" };
	const uint64_t value[] = { a, b, c };
	const struct window win = { .thread = thread,
				    .begin = begin,
				    .time_ns = begin + 5,
				    .wall_ns = a / 2,
				    .cpu = 1,
				    .rest = rest,
				    .moved = !rest && begin,
				    .value = value };

	if (!begin)
		CHECK_EQ(windows_sink(w)->thread(windows_sink(w), &t, NULL), 0);
	CHECK_EQ(windows_sink(w)->window(windows_sink(w), &win, NULL), 0);
}

static struct windows *make(const struct metric_row *const *asked, struct tare_error *err)
{
	struct windows *w = NULL;

	if (windows_new(&w, &list, asked, err) < 0)
		return NULL;
	put_window(w, 0, 0, 1000, 500, 3, false);
	put_window(w, 1, 0, 1000, 2000, 0, false);
	put_window(w, 0, 1000, 1000, 250, 0, false);
	put_window(w, 1, 1000, 10, 0, 4, true);
	return w;
}

TEST(rows_by_thread_and_formulas_in_each)
{
	static const struct metric_row own = { "mine", "a_b * 2 / duration_time", "", "", 1 };
	const struct metric_row *asked[] = { &own, NULL };
	struct tare_error err = TARE_ERROR_INIT;
	struct windows *w;
	const struct windows_table *t;
	const struct windows_row *row;

	snprintf(events[2].name, sizeof(events[2].name), "a_b");
	w = make(asked, &err);
	snprintf(events[2].name, sizeof(events[2].name), "a,\"b\"");
	if (!CHECK(w, "%s", err.what))
		return;
	t = windows_table(w, &err);
	CHECK(t->n_threads == 2 && t->n_metrics == 2);
	CHECK(!strcmp(t->metric[0].name, "mine") && !strcmp(t->metric[1].name, "ipc"));
	CHECK(t->thread[0]->n == 2 && t->thread[1]->n == 2 && t->thread[1]->whole == 1 &&
	      t->thread[1]->tid == 8);
	row = windows_row(t, t->thread[0], 0);
	CHECK(windows_metric(t, row, 0) == 3 * 2 / 500.0 && windows_metric(t, row, 1) == 2.0,
	      "%g %g", windows_metric(t, row, 0), windows_metric(t, row, 1));
	CHECK(windows_rate(t, row, 1) == 500 && windows_rate(t, row, 0) == 2000);
	row = windows_row(t, t->thread[0], 1);
	CHECK(row->begin == 1000 && row->moved && windows_metric(t, row, 1) == 4.0);
	CHECK(isnan(windows_metric(t, row, 0)) && isnan(windows_rate(t, row, 0)),
	      "counts since another time have no ratio to wall time");
	CHECK(windows_metric(t, windows_row(t, t->thread[1], 0), 1) == 0.5);
	row = windows_row(t, t->thread[1], 1);
	CHECK(row->rest && isnan(windows_metric(t, row, 1)),
	      "10 instructions in 0 cycles have no ratio");
	windows_free(w);
}

TEST(a_metric_that_needs_more_is_refused)
{
	static const struct metric_row own = { "mine", "branches / instructions", "", "", 1 };
	const struct metric_row *asked[] = { &own, NULL };
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(!make(asked, &err));
	CHECK(strstr(err.what, "branches") && strstr(err.hint, "-e branches"), "%s (%s)", err.what,
	      err.hint);
}

/* ---- CSV ---- */

static int into_text(void *with, const void *bytes, size_t n)
{
	text_put(with, bytes, n);
	return 0;
}

static char *csv_of(struct windows *w, const struct source *engine)
{
	const struct windows_about about = { .engine = engine, .mode = "sample" };
	struct text out = { 0 };
	struct out to;

	out_open(&to, into_text, &out);
	windows_csv(&to, windows_table(w, NULL), &about);
	CHECK_EQ(out_close(&to), 0);
	return text_take(&out);
}

TEST(csv_there_and_back)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct windows *w = make(NULL, &err), *back;
	char *text = csv_of(w, &source_exact), *again;
	bool exact;

	if (!CHECK(windows_csv_parse(&back, text, strlen(text), "x.csv", &exact, &err) == 0, "%s",
		   err.what))
		return;
	CHECK(exact);
	const struct windows_table *t = windows_table(back, &err);

	CHECK(t->n_events == 3 && t->n_threads == 2 && !strcmp(t->event[2].name, "a,\"b\""));
	CHECK(!strcmp(t->thread[1]->comm, "two, \"2\""), "%s", t->thread[1]->comm);
	CHECK(windows_row(t, t->thread[0], 1)->value[1] == 250 &&
	      windows_row(t, t->thread[0], 1)->moved);
	CHECK(windows_row(t, t->thread[1], 0)->wall_ns == 500 &&
	      windows_row(t, t->thread[1], 1)->rest);
	again = csv_of(back, &source_exact);
	CHECK(strstr(text, ",metric.ipc") && !strcmp(text, again), "%s", again);
	free(text);
	free(again);
	windows_free(w);
	windows_free(back);
}

/* ---- many ---- */

static int count_bytes(void *with, const void *bytes, size_t n)
{
	(void)bytes;
	*(uint64_t *)with += n;
	return 0;
}

/* n windows of three threads, with the second event in phases; shown in all formats. */
static void show_many(void *with)
{
	static const struct window_end end = { 0 };
	const struct windows_about about = { .engine = &source_perf,
					     .mode = "sample",
					     .every = 1000,
					     .end = &end,
					     .most_rows = 40,
					     .exit_status = -1 };
	const struct style style = { .width = 120 };
	size_t n = *(const size_t *)with;
	uint64_t bytes = 0;
	struct windows *w;
	const struct windows_table *t;
	struct text text = { 0 };
	struct out out;

	CHECK_EQ(windows_new(&w, &list, NULL, NULL), 0);
	for (size_t i = 0; i < n; i++)
		put_window(w, i % 3, i / 3 * 1000, 1000, i * 4 / n % 2 ? 700 : 500,
			   (uint64_t)(20 * (noise(i) + 0.5)), false);
	t = windows_table(w, NULL);
	CHECK(t && t->n_threads == 3 && t->thread[0]->phases.segments == 4 &&
		      t->thread[0]->phases.phases == 2,
	      "%zu segments", t ? t->thread[0]->phases.segments : 0);
	for (size_t i = 0; i < n; i += n / 7)
		CHECK_EQ(windows_row(t, t->thread[i % 3], i / 3)->begin, i / 3 * 1000);
	out_open(&out, count_bytes, &bytes);
	windows_csv(&out, t, &about);
	windows_json(&out, t, &about);
	windows_page(&out, t, &about);
	CHECK_EQ(out_close(&out), 0);
	CHECK(bytes > 100 * n, "%zu bytes", (size_t)bytes);
	windows_text(&text, t, &about, &style);
	CHECK(!text.failed && text.len < 100000, "%zu", text.len);
	CHECK_EQ(windows_unread(t, NULL), 0);
	text_free(&text);
	windows_free(w);
}

TEST(memory_does_not_depend_on_the_number_of_windows)
{
	size_t n = 30000, more = 10 * n;
	uint64_t few = peak_of(show_many, &n), many = peak_of(show_many, &more);

	CHECK(few && many && many < few + PEAK_ROOM, "%zu bytes for %zu windows, %zu for %zu",
	      (size_t)few, n, (size_t)many, more);
}

/* The temporary file is limited to `most` bytes: the windows up to there are kept. */
TEST(what_came_before_a_full_disk_is_there)
{
	const struct rlimit most = { 100000, RLIM_INFINITY };
	const uint64_t value[] = { 1000, 500, 1 };
	struct window win = { .value = value, .time_ns = 1 };
	struct tare_error err = TARE_ERROR_INIT;
	const struct windows_table *t;
	struct windows *w;
	struct rlimit before;
	size_t n = 1;
	int ret = 0;

	CHECK_EQ(windows_new(&w, &list, NULL, NULL), 0);
	put_window(w, 0, 0, 1000, 500, 1, false);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &most);
	for (; ret == 0 && n < 100000; n += ret == 0) {
		win.begin = n * 1000;
		ret = windows_sink(w)->window(windows_sink(w), &win, &err);
	}
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK(ret == -EFBIG && windows_full(w) && strstr(err.what, "temporary file") &&
		      strstr(err.hint, "TMPDIR"),
	      "%d: %s", ret, err.what);
	t = windows_table(w, NULL);
	CHECK(t && n > ROWS_HELD && t->thread[0]->n == n, "%zu rows", n);
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(windows_row(t, t->thread[0], i)->begin, i * 1000);
	CHECK_EQ(windows_unread(t, &err), 0);
	windows_free(w);
}

TEST(damaged_csv_has_a_line)
{
	static const char head[] =
		"thread,pid,tid,comm,window,begin,time_ns,wall_ns,cpu,ended,phase,quality,i:u";
	static const struct {
		int line;
		const char *text, *what;
	} rows[] = {
		{ __LINE__, "", "the columns differ" },
		{ __LINE__, "a,b\n", "the columns differ" },
		{ __LINE__,
		  "thread,pid,tid,comm,window,begin,time_ns,wall_ns,cpu,ended,phase,quality\n",
		  "no event" },
		{ __LINE__, "@\n0,1,1,x,1,0,5,,,whole,,exact\n", "line 2: fields are missing" },
		{ __LINE__, "@\n0,1,1,x,1,0,5,,,whole,,exact,1,2\n",
		  "line 2: there are more fields" },
		{ __LINE__, "@\n0,1,1,x,1,0,5,,,whole,,exact,-1\n", "a number is wanted" },
		{ __LINE__, "@\n0,1,1,x,1,0,5,,,whole,,exact,99999999999999999999\n",
		  "below 2^64" },
		{ __LINE__, "@\n0,1,1,x,1,0,5,,,half,,exact,1\n", "whole, moved or rest" },
		{ __LINE__, "@\n0,1,1,x,1,0,5,,,whole,,perhaps,1\n", "exact or counted" },
		{ __LINE__, "@\n0,1,1,\"x,1,0,5,,,whole,,exact,1\n", "a quote is not closed" },
		{ __LINE__, "@\n0,1,1,\"x\"y,1,0,5,,,whole,,exact,1\n", "expected a comma" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct windows *w = NULL;
		char text[512];
		bool exact;

		snprintf(text, sizeof(text), "%s%s", rows[i].text[0] == '@' ? head : "",
			 rows[i].text + (rows[i].text[0] == '@'));
		CHECK(windows_csv_parse(&w, text, strlen(text), "x.csv", &exact, &err) == -EINVAL,
		      "row at line %d", rows[i].line);
		CHECK(strstr(err.what, rows[i].what) && strstr(err.what, "x.csv"),
		      "row at line %d: %s", rows[i].line, err.what);
	}
}

/* ---- where two runs diverge ---- */

/* n windows of `length`; the second event is 500 and, from window `from` to `to`, `other`. */
static struct windows *series(size_t n, uint64_t length, size_t from, size_t to, uint64_t other,
			      double shake)
{
	struct windows *w;

	if (windows_new(&w, &list, NULL, NULL) < 0)
		abort();
	for (size_t i = 0; i < n; i++) {
		uint64_t v = i >= from && i < to ? other : 500;

		put_window(w, 0, i * length, length,
			   v * length / 1000 + (uint64_t)(shake * (noise(i * 7 + n) + 0.5)), 0,
			   false);
	}
	return w;
}

TEST(exact_runs_part_at_the_first_difference)
{
	struct windows *a = series(100, 1000, 0, 0, 0, 0), *b = series(110, 1000, 42, 50, 501, 0),
		       *c = series(62, 1000, 43, 45, 100, 0);
	static struct windows_diff d;
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(b, NULL), true, UINT64_MAX,
			      UINT64_MAX, &d, &err),
		 0);
	CHECK(d.parted && d.part_window == 42 && d.part_at == 42000 && d.part_event == 1 &&
	      d.part_a == 500 && d.part_b == 501);
	CHECK(d.aligned == 100 && d.length_a == 100000 && d.length_b == 110000);
	CHECK(d.total_a[1] == 50000 && d.total_b[1] == 50008);
	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(a, NULL), true, UINT64_MAX,
			      UINT64_MAX, &d, &err),
		 0);
	CHECK(!d.parted && d.stretches == 0);
	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(c, NULL), true, UINT64_MAX,
			      UINT64_MAX, &d, &err),
		 0);
	CHECK(d.part_window == 43 && d.stretches && d.stretch[0].first == 43 &&
		      d.stretch[0].begin == 43000,
	      "%u from %zu: until then they are the same", (unsigned)d.stretches,
	      d.stretch[0].first);
	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(b, NULL), true, 0, 5, &d, &err),
		 -EINVAL);
	windows_free(a);
	windows_free(b);
	windows_free(c);
}

TEST(noisy_runs_part_where_it_stands_out)
{
	struct windows *a = series(200, 1000, 0, 0, 0, 30),
		       *b = series(200, 1000, 120, 160, 700, 30),
		       *c = series(201, 1000, 0, 0, 0, 30);
	static struct windows_diff d;

	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(b, NULL), false, UINT64_MAX,
			      UINT64_MAX, &d, NULL),
		 0);
	CHECK(d.parted && d.part_window >= 116 && d.part_window <= 120 && d.part_event == 1, "%zu",
	      d.part_window);
	CHECK(d.stretches == 1 && d.stretch[0].first == 120 && d.stretch[0].n == 40, "%zu",
	      d.stretches);
	CHECK(d.stretch[0].begin == 120000 && d.stretch[0].end == 160000);
	CHECK(fabs(d.stretch[0].b[1] - d.stretch[0].a[1] - 40 * 200) < 40 * 30, "%g",
	      d.stretch[0].b[1]);
	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(c, NULL), false, UINT64_MAX,
			      UINT64_MAX, &d, NULL),
		 0);
	CHECK(!d.parted, "%zu", d.part_window);
	windows_free(a);
	windows_free(b);
	windows_free(c);
}

/* Exact windows are compared where windows of both end. Other places are not a difference. */
TEST(windows_of_two_lengths)
{
	struct windows *a = series(60, 1000, 0, 0, 0, 0), *b = series(20, 3000, 10, 20, 1000, 0);
	static struct windows_diff d;

	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(b, NULL), true, UINT64_MAX,
			      UINT64_MAX, &d, NULL),
		 0);
	CHECK(d.aligned == 60 && d.places == 20 && d.parted && d.part_window == 30 &&
		      d.part_windows == 3,
	      "%zu %zu", d.part_window, d.part_windows);
	CHECK(d.part_at == 30000 && d.part_end == 33000 && d.part_a == 1500 && d.part_b == 3000 &&
	      d.part_bound == DIFF_IS);
	CHECK(d.stretches == 1 && d.stretch[0].first == 30 && d.stretch[0].n == 30 &&
	      d.stretch[0].end == 60000);
	windows_free(a);
	windows_free(b);
}

/* The count of the second event in the first `at` of a run with varying behaviour. */
static uint64_t until(uint64_t at)
{
	return at / 2 + (at > 700 ? (at - 700) / 3 : 0) - (at > 4000 ? (at - 4000) / 2 : 0);
}

/* That run in windows of `length`, with `more` of the second event in the last one. */
static struct windows *cut(uint64_t length, uint64_t total, uint64_t more)
{
	struct windows *w;

	if (windows_new(&w, &list, NULL, NULL) < 0)
		abort();
	for (uint64_t at = 0; at < total; at += length) {
		uint64_t end = at + length < total ? at + length : total;

		put_window(w, 0, at, end - at, until(end) - until(at) + (end == total ? more : 0),
			   0, end - at < length);
	}
	return w;
}

static struct windows_diff *compared(struct windows *a, struct windows *b)
{
	static struct windows_diff d;

	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(b, NULL), true, UINT64_MAX,
			      UINT64_MAX, &d, NULL),
		 0);
	windows_free(a);
	windows_free(b);
	return &d;
}

TEST(one_run_in_windows_of_any_two_lengths_is_the_same)
{
	static const uint64_t lengths[] = { 100, 300, 500, 700, 1000, 7000, 9000 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		for (size_t k = 0; k < ARRAY_SIZE(lengths); k++) {
			const struct windows_diff *d = compared(cut(lengths[i], 8200, 0),
								cut(lengths[k], 8200, 0));

			CHECK(!d->parted && !d->stretches && d->length_a == d->length_b &&
				      d->places && d->total_a[1] == until(8200) &&
				      d->total_b[1] == until(8200),
			      "%" PRIu64 " and %" PRIu64, lengths[i], lengths[k]);
			CHECK(compared(cut(lengths[i], 8200, 0), cut(lengths[k], 8200, 1))->parted,
			      "%" PRIu64 " and %" PRIu64 ": one more in the last", lengths[i],
			      lengths[k]);
		}
	const struct windows_diff *d = compared(cut(1000, 8200, 0), cut(700, 8200, 1));

	CHECK(d->part_at == 7000 && d->part_end == 8200 && d->part_window == 7 &&
		      d->part_windows == 2 && d->places == 2,
	      "equal until 7000");
	CHECK(d->part_b == d->part_a + 1 && d->part_bound == DIFF_IS);
}

TEST(the_rest_is_no_window)
{
	static const struct {
		int line;
		uint64_t total;
		size_t windows;
		bool rest;
		const char *words;
	} rows[] = {
		{ __LINE__, 8000, 8, false, "in all 8 windows that both have.\n" },
		{ __LINE__, 8200, 8, true,
		  "in all 8 windows that both have, and in the rest after them.\n" },
		{ __LINE__, 200, 0, true, "in the rest, which is shorter than a window.\n" },
	};
	const struct style plain = { .width = 80 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct windows *a = cut(1000, rows[i].total, 0), *b = cut(1000, rows[i].total, 0);
		static struct windows_diff d;
		struct text t = { 0 };

		CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(b, NULL), true,
				      UINT64_MAX, UINT64_MAX, &d, NULL),
			 0);
		CHECK(d.aligned == rows[i].windows && d.rest_too == rows[i].rest,
		      "row at line %d: %zu", rows[i].line, d.aligned);
		windows_diff_text(&t, &d, true, "a", "b", &plain);
		CHECK(strstr(t.s, rows[i].words), "row at line %d: %s", rows[i].line, t.s);
		text_free(&t);
		windows_free(a);
		windows_free(b);
	}
}

TEST(between_places_of_both_there_are_bounds)
{
	struct windows *a = series(5, 1000, 2, 3, 900, 0), *b = series(8, 700, 0, 0, 0, 0);
	const struct windows_diff *d = compared(a, b);

	CHECK(d->parted && d->part_at == 0 && d->part_end == 3000 && d->part_a == 1900 &&
		      d->part_b == 1750 && d->part_bound == DIFF_AT_MOST && d->aligned == 0 &&
		      d->places == 0,
	      "A has 1900 at 3000, B 1750 at 3500");
	d = compared(series(5, 1000, 2, 3, 1, 0), series(8, 700, 0, 0, 0, 0));
	CHECK(d->parted && d->part_end == 3000 && d->part_a == 1001 && d->part_b == 1400 &&
	      d->part_bound == DIFF_AT_LEAST);
	d = compared(series(5, 1000, 0, 0, 0, 0), series(8, 700, 0, 0, 0, 0));
	CHECK(!d->parted && d->aligned == 0 && d->length_a < d->length_b, "no place is common");

	struct text t = { 0 };
	const struct style plain = { .width = 80 };

	a = series(5, 1000, 2, 3, 900, 0), b = series(8, 700, 0, 0, 0, 0);
	static struct windows_diff kept;

	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(b, NULL), true, 0, 0, &kept,
			      NULL),
		 0);
	windows_diff_text(&t, &kept, true, "a", "b", &plain);
	CHECK(strstr(t.s,
		     "They diverge between 0 and 3000 instructions:u (from window 1): cycles:u 1900 -> at most 1750\n"),
	      "%s", t.s);
	CHECK(!strstr(t.s, "that both have"), "%s", t.s);
	windows_free(a);
	windows_free(b);
	text_free(&t);
	windows_diff(windows_table(a = series(5, 1000, 0, 0, 0, 0), NULL),
		     windows_table(b = series(8, 700, 0, 0, 0, 0), NULL), true, 0, 0, &kept, NULL);
	windows_diff_text(&t, &kept, true, "a", "b", &plain);
	CHECK(strstr(t.s, "no window of A ends where one of B does") && !strstr(t.s, "The same"),
	      "%s", t.s);
	windows_free(a);
	windows_free(b);
	text_free(&t);
}

TEST(threads_by_number)
{
	struct windows *a = make(NULL, NULL);
	static struct windows_diff d;

	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(a, NULL), true, 0, 1, &d, NULL),
		 0);
	CHECK(d.a->number == 0 && d.b->number == 1 && d.parted && d.part_a == 500 &&
	      d.part_b == 2000);
	CHECK(d.length_a == 2000 && d.length_b == 1010 && d.aligned == 1);
	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(a, NULL), true, 1, 1, &d, NULL),
		 0);
	CHECK(d.a->number == 1 && !d.parted);
	windows_free(a);
}

TEST(other_events_are_refused)
{
	struct windows *a = series(5, 1000, 0, 0, 0, 0), *b;
	static struct windows_diff d;
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(windows_new(&b, &(struct encoding_list){ events, 2, 1 }, NULL, NULL), 0);
	CHECK_EQ(windows_diff(windows_table(a, NULL), windows_table(b, NULL), true, UINT64_MAX,
			      UINT64_MAX, &d, &err),
		 -EINVAL);
	CHECK(strstr(err.what, "different events"), "%s", err.what);
	windows_free(a);
	windows_free(b);
}

/* ---- the plot ---- */

TEST(columns_that_find_no_room_are_counted_and_clocks_are_times)
{
	static struct encoding clocked[] = { { .name = "task-clock", .scale = 1e-6 },
					     { .name = "context-switches-or-so", .scale = 1 },
					     { .name = "another-that-is-wide", .scale = 1 } };
	static const struct window_end end = { 0 };
	const struct windows_about about = {
		.engine = &source_perf, .mode = "sample", .every = 2500000, .end = &end
	};
	struct style narrow = { .width = 50 }, wide = { .width = 200 };
	struct windows *w = NULL;
	struct text t = { 0 };

	CHECK_EQ(windows_new(&w, &(struct encoding_list){ clocked, 3, 1 }, NULL, NULL), 0);
	for (uint64_t i = 0; i < 5; i++)
		put_window(w, 0, i * 2500000, 2500000, 5, 7, false);
	windows_text(&t, windows_table(w, NULL), &about, &narrow);
	CHECK(strstr(t.s, "3 more columns: too wide for this terminal"), "%s", t.s);
	text_free(&t);
	windows_text(&t, windows_table(w, NULL), &about, &wide);
	CHECK(!strstr(t.s, "more column"), "%s", t.s);
	CHECK(strstr(t.s, "2.50 ms") && !strstr(t.s, "2500000"), "%s", t.s);
	text_free(&t);
	windows_free(w);
}

TEST(time_per_events_has_its_unit)
{
	static struct encoding clocked[] = {
		{ .name = "page-faults",
		  .scale = 1,
		  .attr = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS } },
		{ .name = "task-clock",
		  .scale = 1e-6,
		  .attr = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK } }
	};
	static const struct window_end end = { 0 };
	const struct windows_about about = {
		.engine = &source_perf, .mode = "sample", .every = 10, .end = &end
	};
	const struct style s = { .width = 120 };
	struct windows *w = NULL;
	struct text t = { 0 };

	CHECK_EQ(windows_new(&w, &(struct encoding_list){ clocked, 2, 1 }, NULL, NULL), 0);
	for (uint64_t i = 0; i < 4; i++)
		put_window(w, 0, i * 10, 10, 27519 + i * 1900000, 0, false);
	windows_text(&t, windows_table(w, NULL), &about, &s);
	CHECK(strstr(t.s, "task-clock / 1000         2.75 ms .. 572.75 ms"), "%s", t.s);
	text_free(&t);
	windows_free(w);
}

TEST(what_the_numbers_do_not_show_is_no_swing)
{
	static const struct window_end end = { 0 };
	const struct windows_about about = {
		.engine = &source_exact, .mode = "sample", .every = 1000000, .end = &end
	};
	const struct style s = { .width = 120, .utf8 = true };

	/* in steps of 0.001 of 1000, and of 1 */
	for (unsigned step = 1; step <= 1000; step *= 1000) {
		struct windows *w = NULL;
		struct text t = { 0 };

		CHECK_EQ(windows_new(&w, &list, NULL, NULL), 0);
		for (uint64_t i = 0; i < 5; i++)
			put_window(w, 0, i * 1000000, 1000000, 5000000 + i * step, 7, false);
		windows_text(&t, windows_table(w, NULL), &about, &s);
		CHECK((step == 1) == !strstr(t.s, "█"), "%s", t.s);
		CHECK((step == 1) == !!strstr(t.s, "5000 … 5000 "), "%s", t.s);
		text_free(&t);
		windows_free(w);
	}
}

TEST(sparklines)
{
	static const double v[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, flat[] = { 5, 5 },
			    gap[] = { 1, NAN, 3 };
	const struct style plain = { .width = 80 }, utf8 = { .width = 80, .utf8 = true };
	struct text t = { 0 };

	put_sparkline(&t, v, 8, 20, &utf8);
	CHECK(!strcmp(t.s, "▁▂▃▄▅▆▇█"), "%s", t.s);
	t.len = 0;
	put_sparkline(&t, v, 8, 4, &plain);
	CHECK(!strcmp(t.s, "_-+#"), "%s", t.s);
	t.len = 0;
	put_sparkline(&t, flat, 2, 9, &plain);
	CHECK(!strcmp(t.s, "__"), "%s", t.s);
	t.len = 0;
	put_sparkline(&t, gap, 3, 9, &plain);
	CHECK(!strcmp(t.s, "_ #"), "%s", t.s);
	text_free(&t);
}

TEST_MAIN()

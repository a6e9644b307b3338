/* SPDX-License-Identifier: MIT */
/*
 * Export a small recording with every kind of point to each format, and compare with the files in
 * tests/golden/export. After an intended change: TARE_RENEW=1 build/src/export_test, then review
 * the difference (tests/cli/export_test.py decodes the binary ones).
 */
#include "base/file.h"
#include "export/export.h"
#include "export/export_literal.h"
#include "tap.h"

#define GOLDEN    TESTS_DIR "/golden/export/"
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const char *const args[] = { "x.rs:1", "a\"b\\", NULL };
static const struct timeline_label labels[] = {
	{ .name = "outer", .kind = "Activity", .group = 0, .file = "src/a.c", .line = 12 },
	{ .name = "inner", .kind = "Query", .group = 1 },
	{ .name = "inner", .kind = "Query", .arg = args, .group = 1 },
	{ .name = "<script>alert(1)</script>; \xff\xc3\x28 \xe2\x82\xac \x01\n,\"q\"",
	  .kind = "Query",
	  .group = 3 },
	{ .name = "bytes", .kind = "", .group = 4 },
	{ .name = "load", .kind = "Io", .group = 5 },
};
static const struct timeline_counter counters[] = {
	{ .name = "wall-time", .unit = "ns", .quality = TARE_COUNTED },
	{ .name = "instructions:u", .unit = "", .quality = TARE_EXACT },
};
static const struct timeline_thread threads[] = {
	{ .pid = 100, .tid = 100, .name = "main", .complete = true },
	{ .pid = 100, .tid = 101, .name = "worker \xff", .complete = false, .lost = 7 },
};
static const struct literal_point points[] = {
	{ 0, TIMELINE_INSTANT, 3, .value = { 50, 10 } },
	{ 0, TIMELINE_BEGIN, 0, .value = { 100, 1000 } },
	{ 0, TIMELINE_BEGIN, 1, .value = { 150, 1500 } },
	{ 0, TIMELINE_INTEGER, 4, 9007199254740993, { 160, 1600 } },
	{ 0, TIMELINE_END, 1, .value = { 1151, 2500 } },
	{ 0, TIMELINE_START, 5, 77, { 1120, 2400 } }, /* before the previous point: allowed */
	{ 0, TIMELINE_BEGIN, 2, .value = { 1300, 2700 } },
	{ 0, TIMELINE_BEGIN, 3, .value = { 1300, 2700 } },
	{ 0, TIMELINE_END, 3, .value = { 1301, 2710 } },
	{ 0, TIMELINE_END, 2, .value = { 1400, 2800 } },
	{ 0, TIMELINE_END, 0, .value = { 2000000, 5000000 } },
	{ 0, TIMELINE_BEGIN, 1, .value = { 2000100, 5000050 } },
	{ 0, TIMELINE_END, 1, .value = { 2000200, 5000060 } },
	{ 1, TIMELINE_BEGIN, 1, .value = { 300, 5 } },
	{ 1, TIMELINE_FINISH, 5, 77, { 400, 6 } },
	{ 1, TIMELINE_LOST, 0, 7, { 500, 6 } },
	{ 1, TIMELINE_BEGIN, 3, .value = { 600, 6 }, .missing = 2 },
	{ 1, TIMELINE_END, 3, .value = { 700, 100 } },
	{ 1, TIMELINE_BEGIN, 3, .value = { 700, 110 }, .missing = 1 },
	{ 1, TIMELINE_END, 3, .value = { 650, 120 } },
	{ 1, TIMELINE_END, 1, .value = { 18446744073709551615u, 200 },
	  .repaired = TIMELINE_AT_END },
};

static void (*change)(struct literal *l);

/* Export the whole recording with `how`; the output is in *out. */
static int export_as(const struct exporter *how, const struct export_options *opt,
		     struct export_told *told, char **out, size_t *n, struct tare_error *err)
{
	struct literal l = {
		.base = { .format = &literal_format,
			  .info = { .path = "p.tare",
				    .format = "literal",
				    .command = "/usr/bin/rustc -O x.rs",
				    .start_ns = 1795184245508276447,
				    .time = 0,
				    .counter = counters,
				    .n_counters = LENGTH(counters),
				    .thread = threads,
				    .n_threads = LENGTH(threads),
				    .n_labels = LENGTH(labels) } },
		.label = labels,
		.point = points,
		.n_points = LENGTH(points),
	};
	FILE *f = tmpfile();
	int fd = fileno(f), ret;
	struct out o;

	if (change)
		change(&l);
	out_open_fd(&o, &fd);
	ret = export_timeline(&o, how, &l.base, opt, told, err);
	CHECK_EQ(out_close(&o), 0, "%s", how->name);
	*n = (size_t)lseek(fd, 0, SEEK_END);
	*out = calloc(1, *n + 1);
	CHECK_EQ(pread(fd, *out, *n, 0), *n, "%s", how->name);
	fclose(f);
	return ret;
}

static void compare(const char *name, const char *got, size_t n)
{
	char path[512], *wanted = NULL;
	size_t len = 0;

	snprintf(path, sizeof(path), GOLDEN "%s", name);
	if (getenv("TARE_RENEW")) {
		FILE *f = fopen(path, "wb");

		if (CHECK(f && fwrite(got, 1, n, f) == n && fclose(f) == 0, "cannot write %s",
			  path))
			printf("# wrote %s\n", path);
		return;
	}
	if (!CHECK(file_read(NULL, path, 1 << 20, &wanted, &len, NULL) == 0, "no %s", path))
		return;
	CHECK(len == n && !memcmp(wanted, got, n), "%s is not what is written now:\n%s", name, got);
	free(wanted);
}

TEST(every_format)
{
	for (const struct exporter *const *e = exporters; *e; e++) {
		struct export_options opt = { 0 };
		struct export_told told;
		struct tare_error err = TARE_ERROR_INIT;
		char name[64], *got;
		size_t n;

		/* Compressed bytes depend on zlib; tests/cli/export_test.py decodes them. */
		if (!strcmp((*e)->name, "pprof") || !strcmp((*e)->name, "html"))
			/* and the page changes with every change of web/: tests/page reads it */
			continue;
		CHECK_EQ(export_as(*e, &opt, &told, &got, &n, &err), 0, "%s: %s", (*e)->name,
			 err.what);
		snprintf(name, sizeof(name), "all%s", (*e)->ending);
		compare(name, got, n);
		CHECK_EQ(told.lost, 7, "%s", (*e)->name);
		free(got);
	}
}

static const struct timeline_label hostile_labels[LENGTH(labels)] = {
	{ .name = "outer\xc2\x9b"
		  "2J",
	  .kind = "@k",
	  .group = 0 },
	{ .name = "=1+1\xe2\x80\xae", .kind = "", .group = 1 },
	{ .name = "=1+1\xe2\x80\xae", .kind = "", .group = 1 },
	{ .name = "inner;", .kind = "", .group = 3 },
	{ .name = "bytes", .kind = "", .group = 4 },
	{ .name = "load", .kind = "", .group = 5 },
};

static void hostile_names(struct literal *l)
{
	l->label = hostile_labels;
}

/* C1 control characters, direction marks, and text that a spreadsheet would execute. */
TEST(names_that_a_terminal_or_spreadsheet_would_act_on)
{
	static const struct {
		const char *how;
		const char *wanted[3];
	} rows[] = {
		{ "folded", { "rustc;outer??2J;=1+1??? ", "inner: ", NULL } },
		{ "csv", { ",outer\\xc2\\x9b2J,'@k,", ",'=1+1\\xe2\\x80\\xae,,", NULL } },
	};

	change = hostile_names;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct export_options opt = { 0 };
		struct export_told told;
		const struct exporter *const *how = exporters;
		char *got;
		size_t n;

		while (strcmp((*how)->name, rows[i].how))
			how++;
		export_as(*how, &opt, &told, &got, &n, NULL);
		CHECK(!strstr(got, "\xc2\x9b") && !strstr(got, "\xe2\x80\xae"), "%s: %s",
		      rows[i].how, got);
		for (size_t k = 0; rows[i].wanted[k]; k++)
			CHECK(strstr(got, rows[i].wanted[k]), "%s: no %s in %s", rows[i].how,
			      rows[i].wanted[k], got);
		free(got);
	}
	change = NULL;
}

TEST(told)
{
	struct export_options opt = { 0 };
	struct export_told told;
	char *got;
	size_t n;

	export_as(exporters[0], &opt, &told, &got, &n, NULL);
	free(got);
	CHECK_EQ(told.unplaced, 2, "one not read, one backwards");
	CHECK_EQ(told.missing, 2, "a begin without instructions, one without a time");
	CHECK_EQ(told.repaired, 1, "the end of the worker");
}

static const struct timeline_label lossy_labels[] = {
	{ .name = "outer", .kind = "", .group = 0 },
	{ .name = "inner", .kind = "", .group = 1 },
	{ .name = "(lost)", .kind = "", .group = 2, .gap = 1 },
};
/* Three are missing: an end at lost points, one after the last point, and a begin. */
static const struct literal_point lossy_points[] = {
	{ 0, TIMELINE_BEGIN, 0, .value = { 10, 1 } },
	{ 0, TIMELINE_END, 0, .value = { 20, 2 }, .repaired = TIMELINE_AT_GAP },
	{ 0, TIMELINE_BEGIN, 2, .value = { 20, 2 }, .repaired = TIMELINE_AT_GAP },
	{ 0, TIMELINE_LOST, 0, 7, { 30, 3 } },
	{ 0, TIMELINE_END, 2, .value = { 30, 3 }, .repaired = TIMELINE_AT_GAP },
	{ 0, TIMELINE_BEGIN, 1, .value = { 30, 3 }, .repaired = TIMELINE_REPAIRED },
	{ 0, TIMELINE_END, 1, .value = { 40, 4 } },
	{ 0, TIMELINE_BEGIN, 0, .value = { 50, 5 } },
	{ 0, TIMELINE_END, 0, .value = { 60, 6 }, .repaired = TIMELINE_AT_END },
};

static void with_losses(struct literal *l)
{
	l->label = lossy_labels;
	l->base.info.n_labels = LENGTH(lossy_labels);
	l->base.info.n_threads = 1;
	l->point = lossy_points;
	l->n_points = LENGTH(lossy_points);
}

TEST(repaired_are_counted_one_by_one)
{
	for (const struct exporter *const *e = exporters; *e; e++) {
		struct export_options opt = { 0 };
		struct export_told told;
		char *got;
		size_t n;

		if (!strcmp((*e)->name, "html")) /* not in every build; has no points */
			continue;
		change = with_losses;
		CHECK_EQ(export_as(*e, &opt, &told, &got, &n, NULL), 0, "%s", (*e)->name);
		change = NULL;
		free(got);
		CHECK_EQ(told.repaired, (*e)->close ? 3 : 0, "%s: stacks have no positions",
			 (*e)->name);
		CHECK_EQ(told.n_repaired_of, (*e)->close ? 2 : 0, "%s: of which labels",
			 (*e)->name);
		CHECK(!(*e)->close ||
			      (told.repaired_of[0] == 0 && told.repaired_of[1] == 1 &&
			       !told.repaired_of_more),
		      "%s", (*e)->name);
		CHECK_EQ(told.lost, 7, "%s", (*e)->name);
	}
}

static const struct exporter *named(const char *name)
{
	for (const struct exporter *const *e = exporters; *e; e++)
		if (!strcmp((*e)->name, name))
			return *e;
	abort();
}

TEST(folded_by_thread_and_counter)
{
	struct export_options opt = { .counter = "instructions:u", .by_thread = true };
	struct tare_error err = TARE_ERROR_INIT;
	struct export_told told;
	char *got;
	size_t n;

	CHECK_EQ(export_as(named("folded"), &opt, &told, &got, &n, &err), 0, "%s", err.what);
	compare("by-thread.folded", got, n);
	free(got);
	opt.counter = "instruction:u";
	CHECK_EQ(export_as(named("folded"), &opt, &told, &got, &n, &err), -EINVAL,
		 "a similar name");
	CHECK_STR(err.hint, "did you mean instructions:u?", " ");
	free(got);
}

TEST(along_a_counter)
{
	struct export_options opt = { .counter = "instructions:u" };
	struct tare_error err = TARE_ERROR_INIT;
	struct export_told told;
	char *got;
	size_t n;

	CHECK_EQ(export_as(named("csv"), &opt, &told, &got, &n, &err), 0, "%s", err.what);
	CHECK(strstr(got,
		     "start_instructions:u,duration_instructions:u,wall-time,repaired,at_gap\r\n") !=
		      NULL,
	      "%s", got);
	CHECK(strstr(got, "region,100,100,main,1,inner,Query,,,1500,1000,1001,,\r\n") != NULL, "%s",
	      got);
	free(got);
}

static void no_counters(struct literal *l)
{
	l->base.info.n_counters = 0;
	l->base.info.time = -1;
}

static void no_threads(struct literal *l)
{
	l->base.info.n_threads = 0;
}

TEST(nothing_to_show)
{
	struct export_options opt = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	struct export_told told;
	char *got;
	size_t n;

	change = no_counters;
	for (const struct exporter *const *e = exporters; *e; e++) {
		CHECK_EQ(export_as(*e, &opt, &told, &got, &n, &err), -EINVAL, "%s without counters",
			 (*e)->name);
		free(got);
	}
	change = no_threads;
	for (const struct exporter *const *e = exporters; *e; e++) {
		if (!strcmp((*e)->name, "html"))
			continue;
		CHECK_EQ(export_as(*e, &opt, &told, &got, &n, &err), 0, "%s without threads: %s",
			 (*e)->name, err.what);
		if ((*e)->binary || !strcmp((*e)->name, "folded") || !strcmp((*e)->name, "csv")) {
			free(got);
			continue;
		}
		CHECK(got[0] == '{' && got[n - 2] == '}', "%s: %s", (*e)->name, got);
		free(got);
	}
}

/* A label of 1 MB used a thousand times is cut, so the file does not grow to a gigabyte. */
static struct timeline_label long_labels[LENGTH(labels)];

static void long_name(struct literal *l)
{
	static char name[1 << 20];

	memset(name, 'x', sizeof(name) - 1);
	memcpy(name + 4094, "\xe2\x82\xac", 3); /* across the cut */
	memcpy(long_labels, labels, sizeof(labels));
	long_labels[1].name = name;
	l->label = long_labels;
}

TEST(long_names_are_cut)
{
	struct export_options opt = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	struct export_told told;
	char *got;
	size_t n;

	change = long_name;
	for (const struct exporter *const *e = exporters; *e; e++) {
		if (!strcmp((*e)->name, "html"))
			continue;
		CHECK_EQ(export_as(*e, &opt, &told, &got, &n, &err), 0, "%s: %s", (*e)->name,
			 err.what);
		CHECK(n < 40000, "%s has %zu bytes", (*e)->name, n);
		free(got);
	}
}

/* A disk that is full after this many bytes. */
static size_t disk_room;

static int full_disk(void *with, const void *bytes, size_t n)
{
	(void)with;
	(void)bytes;
	if (n > disk_room)
		return -ENOSPC;
	disk_room -= n;
	return 0;
}

TEST(no_room)
{
	for (const struct exporter *const *e = exporters; *e; e++) {
		struct literal l = { .base = { .format = &literal_format,
					       .info = { .path = "p",
							 .command = "c",
							 .time = 0,
							 .counter = counters,
							 .n_counters = 2,
							 .thread = threads,
							 .n_threads = 2,
							 .n_labels = LENGTH(labels) } },
				     .label = labels,
				     .point = points,
				     .n_points = LENGTH(points) };
		struct export_options opt = { 0 };
		struct export_told told;
		struct tare_error err = TARE_ERROR_INIT;
		struct out o;

		if (!strcmp((*e)->name, "html"))
			continue;
		disk_room = 0;
		out_open(&o, full_disk, NULL);
		CHECK_EQ(export_timeline(&o, *e, &l.base, &opt, &told, &err), 0,
			 "%s fits the buffer: %s", (*e)->name, err.what);
		CHECK_EQ(out_close(&o), -ENOSPC, "%s", (*e)->name);
	}
}

/* Columns too large for memory are restored completely and in order. */
TEST(spool)
{
	struct spool s;
	struct out o;
	FILE *f = tmpfile();
	int fd = fileno(f);
	uint32_t word;

	spool_open(&s);
	out_open_fd(&o, &fd);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 100000; i++)
			out_put(&s.out, &i, sizeof(i));
		spool_copy(&s, &o);
		spool_pour(&s, &o);
	}
	CHECK_EQ(out_close(&o), 0, " ");
	for (uint32_t i = 0; i < 400000; i += 997) {
		CHECK_EQ(pread(fd, &word, sizeof(word), 4 * (off_t)i), 4, "word %u", i);
		CHECK_EQ(word, i % 100000, "word %u", i);
	}
	spool_close(&s);
	fclose(f);
}

TEST(numbers)
{
	static const struct {
		uint64_t v;
		unsigned decimals;
		const char *text;
	} rows[] = {
		{ 0, 0, "0" },
		{ 0, 3, "0.000" },
		{ 7, 3, "0.007" },
		{ 1000, 3, "1.000" },
		{ 1234567, 3, "1234.567" },
		{ 18446744073709551615u, 6, "18446744073709.551615" },
		{ 10, 0, "10" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		FILE *f = tmpfile();
		int fd = fileno(f);
		char got[64] = "";
		struct out o;

		out_open_fd(&o, &fd);
		out_fixed(&o, rows[i].v, rows[i].decimals);
		out_close(&o);
		CHECK(pread(fd, got, sizeof(got) - 1, 0) >= 0, "row %zu", i);
		CHECK_STR(got, rows[i].text, "row %zu", i);
		fclose(f);
	}
}

TEST_MAIN()

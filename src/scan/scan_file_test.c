/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "base/file.h"
#include "scan/finding.h"
#include "scan/scan_file.h"
#include "tap.h"

static void make(struct scan *s)
{
	struct scan_event live = {
		.select = 0xc0, .umask = 1, .state = SCAN_LIVE, .has_command = true, .command = 77
	};
	const struct scan_event dead = { .select = 0x10, .state = SCAN_DEAD },
				refused = { .select = 0xb7, .umask = 1, .state = SCAN_REFUSED };

	*s = (struct scan){ .cpu = "GenuineIntel-6-55-4",
			    .pmu = "cpu",
			    .machine = "GenuineIntel-6-55-4 microcode 0x1 Linux 6.1 #1 SMP -",
			    .rows = 2,
			    .row = { { 0, 100 }, { 3, 1100 } },
			    .interrupts_guessed = true };
	live.count = calloc(SCAN_SAMPLES_MOST, sizeof(*live.count));
	live.interrupts = calloc(SCAN_SAMPLES_MOST, sizeof(*live.interrupts));
	for (int i = 0; i < 2 * SCAN_ROUNDS; i++) {
		live.count[i] = i == 3 ? -5 : 1000000007ll * i;
		live.interrupts[i] = (uint32_t)i % 3;
	}
	CHECK_EQ(scan_put(s, &live, NULL), 0, "put");
	CHECK_EQ(scan_put(s, &dead, NULL), 0, "put");
	CHECK_EQ(scan_put(s, &refused, NULL), 0, "put");
}

TEST(what_is_written_is_read_again)
{
	struct scan s, again = { .cpu = "" };
	struct text a = { 0 }, b = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	bool kernel = false;

	make(&s);
	CHECK(s.event[0].select == 0x10 && s.event[1].select == 0xb7 && s.event[2].select == 0xc0,
	      "in order");
	scan_file_write(&a, &s, true);
	CHECK_EQ(scan_file_parse(a.s, "it", &again, &kernel, &err), 0, "%s", err.what);
	CHECK_STR(again.machine, s.machine, "its machine");
	CHECK(kernel && again.interrupts_guessed && again.n == 3 && again.rows == 2, "its head");
	CHECK_EQ(again.event[2].count[3], -5, "a count");
	CHECK_EQ(again.event[2].command, 77u, "of the command");
	scan_file_write(&b, &again, kernel);
	CHECK(!strcmp(a.s, b.s), "%s", b.s);
	/* Truncated at any point, the file is refused and nothing is kept. */
	for (size_t n = 0; n < a.len; n++) {
		char *cut = strndup(a.s, n);
		struct scan none = { .cpu = "" };

		CHECK_EQ(scan_file_parse(cut, "it", &none, &kernel, &err), -EBADMSG, "%zu bytes",
			 n);
		CHECK(!none.event, "freed");
		free(cut);
	}
	text_free(&a);
	text_free(&b);
	scan_free(&s);
	scan_free(&again);
}

static const struct {
	int line;
	const char *text, *what;
} bad[] = {
	{ __LINE__, "tare scan 1\n", "it:1: this is not a state file of tare scan" },
	{ __LINE__,
	  "tare scan 2\ncpu 0123456789012345678901234567890123456789012345678901234567890123\npmu y\n",
	  "it:2: its header is damaged" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows a:1\nend\n",
	  "it:8: a piece of work is KIND:TURNS" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows\nend\n",
	  "it:8: pieces of work are expected" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows 99:1\nend\n",
	  "it:8: a piece of work is KIND:TURNS" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows 1:0\nend\n",
	  "it:8: a piece of work is KIND:TURNS" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows 1:1\nwild 0x1 0x2\nend\n",
	  "it:9: an event is expected" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows 1:1\ndead 0x1 0x2 3\nend\n",
	  "it:9: unexpected text at the end of the line" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows 1:1\nlive 0x1 0x2 1 2 3 4\nend\n",
	  "it:9: fewer counts than pieces of work" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows 1:1\nlive 0x1 0x2 -9223372036854775808 1 1 1 1 / 0 0 0 0 0\nend\n",
	  "it:9: fewer counts than pieces of work" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows 1:1\nlive 0x1 0x2 1152921504606846977 1 1 1 1 / 0 0 0 0 0\nend\n",
	  "it:9: fewer counts than pieces of work" },
	{ __LINE__,
	  "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\nrows 1:1\ndead 0x1 0x0\n",
	  "it:10: it is truncated" },
};

TEST(damage_is_told_with_its_line)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct scan s = { .cpu = "" };
		struct tare_error err = TARE_ERROR_INIT;
		bool kernel;

		CHECK_EQ(scan_file_parse(bad[i].text, "it", &s, &kernel, &err), -EBADMSG,
			 "row at line %d", bad[i].line);
		CHECK(!strcmp(err.what, bad[i].what), "row at line %d: %s", bad[i].line, err.what);
	}
}

/*
 * The largest count for one turn predicts more than 2^63 for a billion turns. Differences from that
 * must not overflow, which the undefined-behaviour sanitizer checks.
 */
TEST(counts_at_the_limit_are_explained)
{
	struct text t = { 0 };
	struct scan s = { .cpu = "" };
	struct scan_finding found;
	struct tare_error err = TARE_ERROR_INIT;
	bool kernel;

	text_add(&t,
		 "tare scan 2\ncpu x\npmu y\nmachine z\nmode u\nguessed 0\ncommand 0\n"
		 "rows 1:1 1:2 0:1 1:1000000000\nlive 0x1 0x2");
	for (int i = 0; i < SCAN_ROUNDS; i++)
		text_add(&t, " 0 %" PRId64 " 0 %" PRId64, SCAN_COUNT_MOST, SCAN_COUNT_MOST);
	text_add(&t, " /");
	for (int i = 0; i < 4 * SCAN_ROUNDS; i++)
		text_add(&t, " 0");
	text_add(&t, "\nend\n");
	CHECK_EQ(scan_file_parse(t.s, "it", &s, &kernel, &err), 0, "%s", err.what);
	CHECK_EQ(scan_explain(&s, NULL, 0, &found, &err), 0, "%s", err.what);
	CHECK(found.meaning != SCAN_CONSTANT && found.sure != SCAN_CERTAIN, "no such event");
	text_free(&t);
	scan_free(&s);
}

TEST(a_file_is_replaced_whole)
{
	char folder[] = "/tmp/tare-scan-XXXXXX", path[64], other[80], *read = NULL;
	struct text t = { 0 };
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(mkdtemp(folder) != NULL, "a folder");
	snprintf(path, sizeof(path), "%s/a/b/state", folder);
	text_add(&t, "one\n");
	CHECK_EQ(scan_file_replace(path, &t, &err), 0, "%s", err.what);
	text_add(&t, "two\n");
	CHECK_EQ(scan_file_replace(path, &t, &err), 0, "%s", err.what);
	CHECK_EQ(file_read(NULL, path, 100, &read, NULL, &err), 0, "%s", err.what);
	CHECK(read && !strcmp(read, "one\ntwo\n"), "%s", read);
	snprintf(other, sizeof(other), "%s.part", path);
	CHECK(access(other, F_OK) < 0, "no temporary file is left");
	snprintf(other, sizeof(other), "%s/link", folder);
	CHECK_EQ(symlink("a/b/state", other), 0);
	text_add(&t, "three\n");
	CHECK_EQ(scan_file_replace(other, &t, &err), 0, "%s", err.what);
	free(read);
	read = NULL;
	CHECK_EQ(file_read(NULL, path, 100, &read, NULL, &err), 0, "%s", err.what);
	CHECK(read && !strcmp(read, "one\ntwo\nthree\n") && readlink(other, read, 1) == 1,
	      "at the link's target");
	CHECK_EQ(scan_file_replace("/dev/null", &t, &err), -EINVAL, "%s", err.what);
	snprintf(other, sizeof(other), "%s/state", path);
	CHECK_EQ(scan_file_replace(other, &t, &err), -ENOTDIR, "%s", err.what);
	unlink(path);
	snprintf(other, sizeof(other), "rm -r %s", folder);
	CHECK_EQ(system(other), 0, "taken away");
	free(read);
	text_free(&t);
}

TEST_MAIN()

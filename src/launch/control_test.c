/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/stat.h>
#include "launch/control.h"
#include "tap.h"

TEST(words)
{
	static const struct {
		int line;
		const char *in;
		enum control_word word;
		const char *name;
	} rows[] = {
		{ __LINE__, "enable\n", CONTROL_ENABLE, NULL },
		{ __LINE__, "disable\n", CONTROL_DISABLE, NULL },
		{ __LINE__, "ping\n", CONTROL_PING, NULL },
		{ __LINE__, "stop\n", CONTROL_STOP, NULL },
		{ __LINE__, "enable cycles:u\n", CONTROL_ENABLE, "cycles:u" },
		{ __LINE__, "disable  {a}\n", CONTROL_DISABLE, "{a}" },
		{ __LINE__, "stop now\n", CONTROL_UNKNOWN, NULL },
		{ __LINE__, "enabled\n", CONTROL_UNKNOWN, NULL },
		{ __LINE__, "\n\nping\n", CONTROL_PING, NULL },
		{ __LINE__, "ena", CONTROL_NONE, NULL },
		{ __LINE__, "enable", CONTROL_ENABLE, NULL },
		{ __LINE__, "disable cycles", CONTROL_DISABLE, "cycles" },
		{ __LINE__, "enablecycles", CONTROL_NONE, NULL },
		{ __LINE__, "", CONTROL_NONE, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct control c = CONTROL_INIT;
		const char *name = NULL;
		char spec[32];
		int p[2];

		CHECK(pipe(p) == 0);
		snprintf(spec, sizeof(spec), "fd:%d", p[0]);
		CHECK_EQ(control_open(&c, spec, NULL), 0);
		CHECK(write(p[1], rows[i].in, strlen(rows[i].in)) >= 0);
		CHECK_EQ(control_next(&c, &name), rows[i].word, "row at line %d", rows[i].line);
		if (rows[i].name)
			CHECK_STR(name, rows[i].name, "row at line %d", rows[i].line);
		else
			CHECK(!name, "row at line %d", rows[i].line);
		CHECK_EQ(control_next(&c, &name), CONTROL_NONE, "row at line %d", rows[i].line);
		close(p[1]);
		close(p[0]);
	}
}

/* A line without a newline at the end of the input is answered like any other. */
TEST(the_last_line_is_answered)
{
	static const struct {
		size_t n;
		enum control_word word;
	} rows[] = { { 4, CONTROL_PING }, { 300, CONTROL_UNKNOWN } };
	char text[301] = "ping", spec[32];
	const char *name;

	memset(text + 4, 'x', sizeof(text) - 4);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct control c;
		int p[2];

		CHECK_EQ(pipe(p), 0);
		snprintf(spec, sizeof(spec), "fd:%d", p[0]);
		CHECK_EQ(control_open(&c, spec, NULL), 0);
		CHECK_EQ(write(p[1], text, rows[i].n), rows[i].n);
		close(p[1]);
		CHECK_EQ(control_next(&c, &name), rows[i].word, "%zu bytes", rows[i].n);
		CHECK_EQ(control_next(&c, &name), CONTROL_NONE, "no more");
		CHECK_EQ(c.in, -1, "and closed");
		close(p[0]);
	}
}

TEST(pieces_and_long_lines)
{
	struct control c = CONTROL_INIT;
	const char *name;
	char spec[32], long_line[1000];
	int p[2];

	CHECK(pipe(p) == 0);
	snprintf(spec, sizeof(spec), "fd:%d", p[0]);
	control_open(&c, spec, NULL);
	CHECK_EQ(write(p[1], "ena", 3), 3);
	CHECK_EQ(control_next(&c, &name), CONTROL_NONE);
	CHECK_EQ(write(p[1], "ble\nping\n", 9), 9);
	CHECK_EQ(control_next(&c, &name), CONTROL_ENABLE);
	CHECK_EQ(control_next(&c, &name), CONTROL_PING);
	/* with the terminating NUL that C programs tend to send */
	CHECK_EQ(write(p[1], "ping", 5), 5);
	CHECK_EQ(control_next(&c, &name), CONTROL_PING);
	memset(long_line, 'x', sizeof(long_line));
	long_line[999] = '\n';
	CHECK_EQ(write(p[1], long_line, 1000), 1000);
	CHECK_EQ(write(p[1], "stop", 4), 4);
	CHECK_EQ(control_next(&c, &name), CONTROL_UNKNOWN);
	close(p[1]);
	CHECK_EQ(control_next(&c, &name), CONTROL_STOP, "the end of the input ends the last line");
	CHECK_EQ(c.in, -1);
	CHECK_EQ(control_next(&c, &name), CONTROL_NONE);
}

TEST(specs)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct control c;
	static const struct {
		int line;
		const char *spec;
		int ret;
	} rows[] = {
		{ __LINE__, "", -EINVAL },
		{ __LINE__, "fd:", -EINVAL },
		{ __LINE__, "fd:x", -EINVAL },
		{ __LINE__, "fd:0,", -EINVAL },
		{ __LINE__, "fd:999", -EBADF },
		{ __LINE__, "fd:0,999", -EBADF },
		{ __LINE__, "fd:99999999999999999999", -EINVAL },
		{ __LINE__, "fifo:", -EINVAL },
		{ __LINE__, "fifo:/nonexistent/x", -ENOENT },
		{ __LINE__, "fifo:/dev/null", -EINVAL },
		{ __LINE__, "pipe:3", -EINVAL },
		{ __LINE__, "fd:0,1", 0 },
		{ __LINE__, "fifo:control_test.ctl,control_test.ack", 0 },
	};

	unlink("control_test.ctl");
	unlink("control_test.ack");
	CHECK(mkfifo("control_test.ctl", 0600) == 0 && mkfifo("control_test.ack", 0600) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(control_open(&c, rows[i].spec, &err), rows[i].ret, "row at line %d: %s",
			 rows[i].line, err.what);
		control_close(&c);
		CHECK_EQ(c.in, -1);
	}
	unlink("control_test.ctl");
	unlink("control_test.ack");
	CHECK_EQ(control_open(&c, "fd:0,1", NULL), 0);
	control_close(&c);
	CHECK(fcntl(1, F_GETFD) >= 0, "of the answers too");
	CHECK(fcntl(0, F_GETFD) >= 0, "descriptors of others stay open");
}

TEST(answers_never_block)
{
	struct control c = { .in = -1, .ack = -1 };
	char line[16] = "";
	int p[2];

	control_answer(&c, "ack"); /* without a reader */
	CHECK(pipe(p) == 0);
	c.ack = p[1];
	control_answer(&c, "ack");
	CHECK_EQ(read(p[0], line, sizeof(line)), 4);
	CHECK_STR(line, "ack\n");
	for (int i = 0; i < 100000; i++)
		control_answer(&c, "ack"); /* a full pipe: dropped, or this test would hang */
	signal(SIGPIPE, SIG_IGN);
	close(p[0]);
	control_answer(&c, "ack");
	CHECK_EQ(c.ack, -1, "no reader is left");
}

TEST_MAIN()

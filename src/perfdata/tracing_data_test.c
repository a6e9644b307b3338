/* SPDX-License-Identifier: MIT */
/* A fake tracefs, converted to the bytes of the documented layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "perfdata/tracing_data.h"
#include "tap.h"

static char root[] = "/tmp/tare-tracefs-XXXXXX";

static void put_file(const char *name, const char *bytes)
{
	char path[256], *slash;

	snprintf(path, sizeof(path), "%s/sys/kernel/tracing/%s", root, name);
	for (slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}

	FILE *f = fopen(path, "w");

	if (!f || fputs(bytes, f) < 0 || fclose(f))
		abort();
}

static void make(void)
{
	if (!mkdtemp(root))
		abort();
	put_file("events/header_page", "page");
	put_file("events/header_event", "event");
	put_file("events/enable", "0\n");
	put_file("events/ftrace/print/id", "5\n");
	put_file("events/ftrace/print/format", "PRINT");
	put_file("events/irq/softirq/id", "20\n");
	put_file("events/irq/softirq/format", "SOFT");
	put_file("events/sched/enable", "0\n");
	put_file("events/sched/exec/id", "31\n");
	put_file("events/sched/exec/format", "EXEC");
	put_file("events/sched/switch/id", "30\n");
	put_file("events/sched/switch/format", "SWITCH");
	put_file("events/schedule/x/id", "40\n");
	put_file("events/schedule/x/format", "X");
	put_file("saved_cmdlines", "1 init\n");
}

static void clean(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		abort();
}

/* After the byte order and sizes. */
static void check(const uint64_t *ids, size_t n, const char *want, size_t len)
{
	static const char head[] = "\x17\x08\x44tracing"
				   "0.6";
	struct tare_error err = TARE_ERROR_INIT;
	struct text out = { 0 };
	size_t skip = sizeof(head) + 2 + 4;

	CHECK_EQ(tracing_data_put(&out, root, ids, n, &err), 0, "%s", err.what);
	CHECK_EQ(out.len, skip + len);
	CHECK(!memcmp(out.s, head, sizeof(head)));
	CHECK(out.len == skip + len && !memcmp(out.s + skip, want, len));
	text_free(&out);
}

TEST(systems_with_their_formats)
{
	static const char want[] = "header_page\0\4\0\0\0\0\0\0\0page"
				   "header_event\0\5\0\0\0\0\0\0\0event"
				   "\0\0\0\0" /* of ftrace */
				   "\3\0\0\0"
				   "irq\0\1\0\0\0"
				   "\4\0\0\0\0\0\0\0SOFT"
				   "sched\0\2\0\0\0"
				   "\4\0\0\0\0\0\0\0EXEC"
				   "\6\0\0\0\0\0\0\0SWITCH"
				   "schedule\0\1\0\0\0"
				   "\1\0\0\0\0\0\0\0X"
				   "\0\0\0\0" /* kallsyms */
				   "\0\0\0\0" /* printk_formats: not there */
				   "\7\0\0\0\0\0\0\0"
				   "1 init\n";
	static const uint64_t ids[] = { 40, 30, 20, 31 };

	make();
	check(ids, 4, want, sizeof(want) - 1);
	clean();
}

TEST(what_ftrace_has_comes_first)
{
	static const char want[] = "header_page\0\4\0\0\0\0\0\0\0page"
				   "header_event\0\5\0\0\0\0\0\0\0event"
				   "\1\0\0\0"
				   "\5\0\0\0\0\0\0\0PRINT"
				   "\1\0\0\0"
				   "sched\0\1\0\0\0"
				   "\6\0\0\0\0\0\0\0SWITCH"
				   "\0\0\0\0"
				   "\0\0\0\0"
				   "\7\0\0\0\0\0\0\0"
				   "1 init\n";
	static const uint64_t ids[] = { 30, 5 };

	make();
	check(ids, 2, want, sizeof(want) - 1);
	clean();
}

TEST(what_is_missing_is_named)
{
	static const uint64_t ids[] = { 30, 32 };
	struct tare_error err = TARE_ERROR_INIT;
	struct text out = { 0 };
	char path[256];

	make();
	CHECK_EQ(tracing_data_put(&out, root, ids, 2, &err), -ENOENT);
	CHECK(strstr(err.what, "/sys/kernel/tracing/events does not have all"), "%s", err.what);
	snprintf(path, sizeof(path), "%s/sys/kernel/tracing/events/sched/switch/format", root);
	unlink(path);
	text_add(&out, "before");
	CHECK_EQ(tracing_data_put(&out, root, ids, 1, &err), -ENOENT);
	CHECK(strstr(err.what, "events/sched/switch/format"), "%s", err.what);
	CHECK_EQ(out.len, 6, "no file is left");
	text_free(&out);
	clean();
}

TEST_MAIN()

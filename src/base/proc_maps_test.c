/* SPDX-License-Identifier: MIT */
/* Lines of /proc/PID/maps: of this process, and of files that look like it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/proc_maps.h"
#include "tap.h"

static char root[64];

/* Opens the maps of a process 42 with the contents `text`. */
static bool opened(struct proc_maps *m, const char *text)
{
	char path[128];
	FILE *f;

	strcpy(root, "/tmp/tare-maps-XXXXXX");
	CHECK(mkdtemp(root) != NULL);
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/42", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/42/maps", root);
	f = fopen(path, "w");
	CHECK(f != NULL);
	if (!f)
		return false;
	fputs(text, f);
	fclose(f);
	return proc_maps_open(m, root, 42) == 0;
}

static void closed(struct proc_maps *m)
{
	static const char *const parts[] = { "/proc/42/maps", "/proc/42", "/proc", "" };
	char path[128];

	proc_maps_close(m);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		snprintf(path, sizeof(path), "%s%s", root, parts[i]);
		remove(path);
	}
}

TEST(every_field_of_a_line)
{
	struct proc_maps m;
	struct proc_map l;

	CHECK(opened(
		&m,
		"00400000-00401fff r-xp 0001f000 fe:1b 18446744073709551615     /usr/bin/a b (deleted)\n"
		"7ffc00000000-7ffc00001000 rw-s 00000000 00:00 0 \n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]"));
	CHECK(proc_maps_next(&m, &l) && l.start == 0x400000 && l.end == 0x401fff &&
	      !memcmp(l.rights, "r-xp", 4));
	CHECK(l.offset == 0x1f000 && l.major == 0xfe && l.minor == 0x1b && l.inode == UINT64_MAX);
	CHECK_STR(l.name, "/usr/bin/a b (deleted)");
	CHECK(proc_maps_next(&m, &l) && l.start == 0x7ffc00000000 && !memcmp(l.rights, "rw-s", 4) &&
	      l.inode == 0);
	CHECK_STR(l.name, "");
	CHECK(proc_maps_next(&m, &l) && l.end == 0xffffffffff601000);
	CHECK_STR(l.name, "[vsyscall]");
	CHECK(!proc_maps_next(&m, &l) && !proc_maps_next(&m, &l));
	closed(&m);
}

TEST(ends_of_lines_in_names)
{
	static const struct {
		const char *written, *name;
	} rows[] = {
		{ "/a\\012b", "/a\nb" },
		{ "/memfd:queue of\\012jobs\\012 (deleted)", "/memfd:queue of\njobs\n (deleted)" },
		{ "/\\012\\012", "/\n\n" },
		{ "/a\\01", "/a\\01" },
		{ "/a\\011b\\", "/a\\011b\\" },
		{ "/\\\\012", "/\\\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct proc_maps m;
		struct proc_map l;
		char text[256];

		snprintf(
			text, sizeof(text),
			"1000-2000 r-xp 00000000 fe:00 2 %s\n2000-3000 r-xp 00000000 fe:00 3 /next\n",
			rows[i].written);
		CHECK(opened(&m, text));
		CHECK(proc_maps_next(&m, &l));
		CHECK_STR(l.name, rows[i].name);
		CHECK(proc_maps_next(&m, &l));
		CHECK_STR(l.name, "/next");
		closed(&m);
	}
}

TEST(lines_of_another_form_are_passed_by)
{
	struct proc_maps m;
	struct proc_map l;

	CHECK(opened(
		&m,
		"\n1000\n1000-\n1000-2000 r-x\n1000 2000 r-xp 0 0:0 0\n1000-2000 r-xp 0 0 0\n1000-2000 r-xp 0,0:0 0\n1000-2000_r-xp 0 0:0 0\n"
		"1000-2000 r-xp_0 0:0 0\n1000-2000 r-xp 0 0:0_0\n1000-2000 r-xp 0 0:0 0x /no\n3000-4000 r-xp 0 0:0 0 /yes\n"));
	CHECK(proc_maps_next(&m, &l) && l.start == 0x3000);
	CHECK_STR(l.name, "/yes");
	CHECK(!proc_maps_next(&m, &l));
	closed(&m);
}

/* At every position relative to the buffer's end: before, at and after the end of a line. */
TEST(long_lines)
{
	enum { HEAD = sizeof("3000-4000 r-xp 0 0:0 2 ") - 1 };
	static char text[40000];

	for (size_t long_name = 8130; long_name < 8200; long_name++) {
		struct proc_maps m;
		struct proc_map l;
		int n = snprintf(
			text, sizeof(text),
			"1000-2000 r-xp 0 0:0 1 /short\n3000-4000 r-xp 0 0:0 2 %0*d\n5000-6000 r-xp 0 0:0 3 %020000d\n7000-8000 r-xp 0 0:0 4 /last",
			(int)long_name, 0, 0);

		CHECK(n > 0 && (size_t)n < sizeof(text));
		CHECK(opened(&m, text));
		CHECK(proc_maps_next(&m, &l) && l.inode == 1);
		CHECK(proc_maps_next(&m, &l) && l.inode == 2);
		CHECK_EQ(strlen(l.name),
			 long_name + HEAD < sizeof(m.text) ? long_name : sizeof(m.text) - 1 - HEAD);
		CHECK(proc_maps_next(&m, &l) && l.inode == 3 &&
		      strlen(l.name) == sizeof(m.text) - 1 - HEAD);
		CHECK(proc_maps_next(&m, &l) && l.inode == 4);
		CHECK_STR(l.name, "/last");
		CHECK(!proc_maps_next(&m, &l));
		closed(&m);
	}
}

/* More lines than the kernel returns at once. */
TEST(of_this_process)
{
	enum { PAGES = 300 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	struct proc_maps m;
	struct proc_map l;
	uint64_t before = 0;
	size_t seen = 0;

	CHECK(p != MAP_FAILED);
	for (size_t i = 0; i < PAGES; i++)
		mprotect(p + 2 * i * page, page, PROT_READ);
	CHECK_EQ(proc_maps_open(&m, NULL, getpid()), 0);
	for (; proc_maps_next(&m, &l); before = l.end) {
		CHECK(l.start >= before && l.end > l.start);
		seen += l.start >= (uintptr_t)p && l.end <= (uintptr_t)p + 2 * PAGES * page;
	}
	proc_maps_close(&m);
	CHECK(seen >= 2 * PAGES - 1);
	munmap(p, 2 * PAGES * page);
	CHECK_EQ(proc_maps_open(&m, "/nowhere", 1), -ENOENT);
}

TEST_MAIN()

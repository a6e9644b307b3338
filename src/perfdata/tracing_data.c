/* SPDX-License-Identifier: MIT */
/*
 *	"\x17\x08\x44tracing" "0.6\0"
 *	u8 big_endian, u8 sizeof(long), u32 page_size
 *	"header_page\0"  u64 size, its bytes
 *	"header_event\0" u64 size, its bytes
 *	u32 n, { u64 size, bytes }[n]			formats of the system `ftrace`
 *	u32 systems, { name\0, u32 n, { u64 size, bytes }[n] }
 *	u32 size, kallsyms; u32 size, printk_formats; u64 size, saved_cmdlines
 *
 * Numbers are in the machine's own byte order. kallsyms is empty, as in perf's files: a reader can
 * get its megabytes elsewhere. Source: trace-cmd.dat.v6(5), and the output of perf 6.1.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "perfdata/tracing_data.h"

enum { FILE_MOST = 16 << 20 };

struct tracefs {
	const char *root, *dir; /* dir: the mount point */
	glob_t all;             /* ROOT/DIR/events/SYSTEM/NAME/id of all tracepoints, sorted */
	size_t lead;            /* length of the path before SYSTEM */
	const uint64_t *ids;    /* the requested ones */
	size_t n, kept;
};

typedef void put_number(struct text *out, size_t v);

static void put32(struct text *out, size_t v)
{
	const uint32_t n = (uint32_t)v;

	text_put(out, (const char *)&n, sizeof(n));
}

static void put64(struct text *out, size_t v)
{
	const uint64_t n = v;

	text_put(out, (const char *)&n, sizeof(n));
}

/* A whole file, preceded by its size. */
static int put_file(struct text *out, const char *root, put_number *put_size,
		    struct tare_error *err, const char *dir, const char *name)
{
	char path[PATH_MAX], *all;
	size_t len;
	int ret;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return tare_fail(err, ENAMETOOLONG, "%.64s...: the path is too long", name);
	ret = file_read(root, path, FILE_MOST, &all, &len, err);
	if (ret < 0)
		return ret;
	put_size(out, len);
	text_put(out, all, len);
	free(all);
	return 0;
}

/* Optional parts: empty if not available. */
static void put_spare(struct text *out, const struct tracefs *fs, put_number *put_size,
		      const char *name)
{
	if (put_file(out, fs->root, put_size, NULL, fs->dir, name) < 0)
		put_size(out, 0);
}

/* ---- the tracepoints ---- */

static bool is_wanted(const struct tracefs *fs, const char *path)
{
	char line[32];

	if (file_line(NULL, path, line, sizeof(line), NULL) < 0)
		return false;
	for (size_t i = 0; i < fs->n; i++)
		if (strtoull(line, NULL, 10) == fs->ids[i])
			return true;
	return false;
}

/* Keeps only the requested ids in `all`. */
static int find_wanted(struct tracefs *fs, struct tare_error *err)
{
	char pattern[PATH_MAX];

	snprintf(pattern, sizeof(pattern), "%s%s/events/*/*/id", fs->root ? fs->root : "", fs->dir);
	fs->lead = strlen(pattern) - strlen("*/*/id");
	if (glob(pattern, 0, NULL, &fs->all) == GLOB_NOSPACE)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < fs->all.gl_pathc && fs->kept < fs->n; i++)
		if (is_wanted(fs, fs->all.gl_pathv[i])) {
			char *path = fs->all.gl_pathv[i];

			fs->all.gl_pathv[i] = fs->all.gl_pathv[fs->kept];
			fs->all.gl_pathv[fs->kept++] = path;
		}
	return fs->kept == fs->n
		? 0
		: tare_fail(err, ENOENT, "%s/events does not have all of these tracepoints",
			    fs->dir);
}

static const char *name_of(const struct tracefs *fs, size_t i)
{
	return fs->all.gl_pathv[i] + fs->lead;
}

/* The end of the tracepoints in the same system as `at`. */
static size_t system_end(const struct tracefs *fs, size_t at)
{
	size_t n = strcspn(name_of(fs, at), "/") + 1, end = at;

	while (end < fs->kept && !strncmp(name_of(fs, end), name_of(fs, at), n))
		end++;
	return end;
}

static int put_formats(struct text *out, const struct tracefs *fs, size_t from, size_t to,
		       struct tare_error *err)
{
	char dir[PATH_MAX], name[NAME_MAX * 2];
	int ret = 0;

	snprintf(dir, sizeof(dir), "%s/events", fs->dir);
	put32(out, to - from);
	for (size_t i = from; ret == 0 && i < to; i++) {
		snprintf(name, sizeof(name), "%.*s/format",
			 (int)(strrchr(name_of(fs, i), '/') - name_of(fs, i)), name_of(fs, i));
		ret = put_file(out, fs->root, put64, err, dir, name);
	}
	return ret;
}

/* Those of the system `ftrace` come first, and without its name. */
static int put_systems(struct text *out, const struct tracefs *fs, struct tare_error *err)
{
	struct text others = { 0 };
	size_t n = 0, end, first = 0, last = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < fs->kept; i = end) {
		end = system_end(fs, i);
		if (!strncmp(name_of(fs, i), "ftrace/", 7)) {
			first = i;
			last = end;
			continue;
		}
		text_put(&others, name_of(fs, i), strcspn(name_of(fs, i), "/"));
		text_put(&others, "", 1);
		ret = put_formats(&others, fs, i, end, err);
		n++;
	}
	if (ret == 0)
		ret = put_formats(out, fs, first, last, err);
	put32(out, n);
	text_put(out, others.s ? others.s : "", others.len);
	out->failed |= others.failed;
	text_free(&others);
	return ret;
}

static int put_all(struct text *out, const struct tracefs *fs, struct tare_error *err)
{
	static const char magic[] = "\x17\x08\x44tracing"
				    "0.6";
	const char word[] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };
	static const char *const heads[] = { "header_page", "header_event" };
	char dir[PATH_MAX];
	int ret = 0;

	snprintf(dir, sizeof(dir), "%s/events", fs->dir);
	text_put(out, magic, sizeof(magic));
	text_put(out, word, sizeof(word));
	put32(out, (size_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; ret == 0 && i < 2; i++) {
		text_put(out, heads[i], strlen(heads[i]) + 1);
		ret = put_file(out, fs->root, put64, err, dir, heads[i]);
	}
	if (ret == 0)
		ret = put_systems(out, fs, err);
	put32(out, 0);
	put_spare(out, fs, put32, "printk_formats");
	put_spare(out, fs, put64, "saved_cmdlines");
	return ret;
}

int tracing_data_put(struct text *out, const char *root, const uint64_t *ids, size_t n,
		     struct tare_error *err)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct tare_error ignored;
	int ret = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(places) && ret < 0; i++) {
		struct tracefs fs = { .root = root, .dir = places[i], .ids = ids, .n = n };
		size_t before = out->len;

		/* Report the error of the usual mount point. */
		ret = find_wanted(&fs, i ? &ignored : err);
		if (ret == 0)
			ret = put_all(out, &fs, i ? &ignored : err);
		if (ret < 0)
			out->len = before;
		globfree(&fs.all);
	}
	return ret;
}

/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/file.h"
#include "base/proc_maps.h"
#include "sample/sample_state.h"

enum { MODULES_MOST = 64 << 20, NAME_MOST = 4096 };

struct record {
	union {
		struct perf_event_header header;
		unsigned char bytes[NAME_MOST + 256];
	};
	size_t n;
};

static void put_bytes(struct record *r, const void *bytes, size_t n)
{
	if (r->n + n > sizeof(r->bytes))
		n = sizeof(r->bytes) - r->n;
	memcpy(r->bytes + r->n, bytes, n);
	r->n += n;
}

static void put32(struct record *r, uint32_t v)
{
	put_bytes(r, &v, sizeof(v));
}

static void put64(struct record *r, uint64_t v)
{
	put_bytes(r, &v, sizeof(v));
}

/* NUL-terminated, and padded with zeros to 8 bytes. */
static void put_name(struct record *r, const char *name)
{
	static const char zeros[8];
	size_t n = strlen(name);

	if (n > NAME_MOST)
		n = NAME_MOST;
	put_bytes(r, name, n);
	put_bytes(r, zeros, 8 - n % 8);
}

static struct record begin_record(uint32_t type, uint16_t misc)
{
	return (struct record){ .header = { .type = type, .misc = misc },
				.n = sizeof(struct perf_event_header) };
}

/*
 * The trailer that the kernel adds to records with sample_id_all; time and id are 0: before all
 * samples, of no event.
 */
static int emit(const struct sample_state *s, struct record *r, pid_t pid, pid_t tid,
		struct tare_error *err)
{
	if (s->sample_type & PERF_SAMPLE_TID) {
		put32(r, (uint32_t)pid);
		put32(r, (uint32_t)tid);
	}
	if (s->sample_type & PERF_SAMPLE_TIME)
		put64(r, 0);
	if (s->sample_type & PERF_SAMPLE_ID)
		put64(r, 0);
	if (s->sample_type & PERF_SAMPLE_STREAM_ID)
		put64(r, 0);
	if (s->sample_type & PERF_SAMPLE_CPU)
		put64(r, 0);
	if (s->sample_type & PERF_SAMPLE_IDENTIFIER)
		put64(r, 0);
	r->header.size = (uint16_t)r->n;
	return s->take(s->with, r->bytes, r->n, err);
}

/* ---- tasks ---- */

static int put_comm(const struct sample_state *s, const char *root, pid_t pid, pid_t tid,
		    struct tare_error *err)
{
	struct record r = begin_record(PERF_RECORD_COMM, 0);
	char path[96], comm[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	if (file_line(root, path, comm, sizeof(comm), NULL) < 0)
		return 0;
	put32(&r, (uint32_t)pid);
	put32(&r, (uint32_t)tid);
	put_name(&r, comm);
	return emit(s, &r, pid, tid, err);
}

/* A thread of the process, or with tid == pid a process with an unknown parent. */
static int put_fork(const struct sample_state *s, pid_t pid, pid_t tid, struct tare_error *err)
{
	struct record r = begin_record(PERF_RECORD_FORK, 0);

	put32(&r, (uint32_t)pid);
	put32(&r, (uint32_t)pid);
	put32(&r, (uint32_t)tid);
	put32(&r, (uint32_t)pid);
	put64(&r, 0);
	return emit(s, &r, pid, tid, err);
}

/* A mapping, as an MMAP2 record. */
static int put_mapping(const struct sample_state *s, pid_t pid, const struct proc_map *m,
		       struct tare_error *err)
{
	bool code = m->rights[2] == 'x';
	struct record r = begin_record(
		PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (code ? 0 : PERF_RECORD_MISC_MMAP_DATA));

	if (!code && !(s->data && m->rights[0] == 'r'))
		return 0;
	put32(&r, (uint32_t)pid);
	put32(&r, (uint32_t)pid);
	put64(&r, m->start);
	put64(&r, m->end - m->start);
	put64(&r, m->offset);
	put32(&r, m->major);
	put32(&r, m->minor);
	put64(&r, m->inode);
	put64(&r, 0); /* the inode's generation is unknown */
	put32(&r,
	      (m->rights[0] == 'r' ? PROT_READ : 0u) | (m->rights[1] == 'w' ? PROT_WRITE : 0u) |
		      (code ? PROT_EXEC : 0u));
	put32(&r, m->rights[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
	put_name(&r, *m->name ? m->name : "//anon");
	return emit(s, &r, pid, pid, err);
}

static int put_maps(const struct sample_state *s, const char *root, pid_t pid,
		    struct tare_error *err)
{
	struct proc_maps maps;
	struct proc_map m;
	int ret = 0;

	if (proc_maps_open(&maps, root, pid) < 0)
		return 0; /* gone, or owned by another user */
	while (ret == 0 && proc_maps_next(&maps, &m))
		ret = put_mapping(s, pid, &m, err);
	proc_maps_close(&maps);
	return ret;
}

int sample_state_process(const struct sample_state *s, const char *root, pid_t pid,
			 struct tare_error *err)
{
	char path[PATH_MAX];
	struct dirent *d;
	int ret = put_comm(s, root, pid, pid, err);

	if (ret == 0)
		ret = put_maps(s, root, pid, err);
	snprintf(path, sizeof(path), "%s/proc/%d/task", root ? root : "", (int)pid);

	DIR *dir = opendir(path);

	while (ret == 0 && dir && (d = readdir(dir))) {
		pid_t tid = (pid_t)atoi(d->d_name);

		if (!isdigit((unsigned char)d->d_name[0]) || tid == pid)
			continue;
		ret = put_fork(s, pid, tid, err);
		if (ret == 0)
			ret = put_comm(s, root, pid, tid, err);
	}
	if (dir)
		closedir(dir);
	return ret;
}

int sample_state_all(const struct sample_state *s, const char *root, struct tare_error *err)
{
	char path[PATH_MAX];
	struct dirent *d;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/proc", root ? root : "");

	DIR *dir = opendir(path);

	if (!dir)
		return tare_fail(err, errno, "cannot list the processes in %s: %s", path,
				 strerror(errno));
	while (ret == 0 && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			ret = sample_state_process(s, root, (pid_t)atoi(d->d_name), err);
	closedir(dir);
	return ret;
}

/* ---- the kernel ---- */

struct kernel_ends {
	uint64_t text, stext, etext, edata;
};

/* The addresses of a few symbols from /proc/kallsyms: "ffffffff81000000 T _text". */
static bool find_ends(const char *root, struct kernel_ends *ends)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = { { "_text", offsetof(struct kernel_ends, text) },
		       { "_stext", offsetof(struct kernel_ends, stext) },
		       { "_etext", offsetof(struct kernel_ends, etext) },
		       { "_edata", offsetof(struct kernel_ends, edata) } };
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	FILE *f;

	*ends = (struct kernel_ends){ 0 };
	snprintf(path, sizeof(path), "%s/proc/kallsyms", root ? root : "");
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!ends->edata && getline(&line, &room, f) > 0) {
		char *name = strrchr(line, ' ');

		if (!name || name[1] != '_') /* a module's line ends in "[module]" */
			continue;
		name[1 + strcspn(name + 1, "\t\n")] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
			if (!strcmp(name + 1, wanted[i].name))
				*(uint64_t *)((char *)ends + wanted[i].at) = strtoull(line, NULL,
										      16);
	}
	free(line);
	fclose(f);
	return ends->text || ends->stext;
}

static int put_kernel_map(const struct sample_state *s, uint64_t from, uint64_t size,
			  uint64_t offset, const char *name, struct tare_error *err)
{
	struct record r = begin_record(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);

	put32(&r, (uint32_t)-1);
	put32(&r, 0);
	put64(&r, from);
	put64(&r, size);
	put64(&r, offset);
	put_name(&r, name);
	return emit(s, &r, -1, 0, err);
}

/* "ext4 1003520 1 - Live 0xffffffffc0200000" */
static int put_modules(const struct sample_state *s, const char *root, struct tare_error *err)
{
	char *all;
	int ret = 0;

	if (file_read(root, "/proc/modules", MODULES_MOST, &all, NULL, NULL) < 0)
		return 0;
	for (char *line = all, *next; ret == 0 && *line; line = next) {
		char name[128], shown[132];
		uint64_t size, from;
		const char *hex;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		hex = strstr(line, " 0x");
		if (!hex || sscanf(line, "%127s %" SCNu64, name, &size) != 2)
			continue;
		from = strtoull(hex + 3, NULL, 16);
		if (!from)
			continue;
		snprintf(shown, sizeof(shown), "[%s]", name);
		ret = put_kernel_map(s, from, size, 0, shown, err);
	}
	free(all);
	return ret;
}

int sample_state_kernel(const struct sample_state *s, const char *root, bool *known,
			struct tare_error *err)
{
	struct kernel_ends ends;
	int ret;

	*known = find_ends(root, &ends);
	if (!*known)
		return 0;

	/* The name includes the symbol from which a reader computes the kernel's relocation. */
	uint64_t from = ends.text ? ends.text : ends.stext;
	uint64_t to = ends.edata > from ? ends.edata : ends.etext;

	ret = put_kernel_map(s, from, to > from ? to - from : UINT64_MAX - from, from,
			     ends.text ? "[kernel.kallsyms]_text" : "[kernel.kallsyms]_stext", err);
	return ret < 0 ? ret : put_modules(s, root, err);
}

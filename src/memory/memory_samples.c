/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "memory/memory_samples_private.h"
#include "symbols/memory_limit.h"
#include "base/cpus.h"
#include "base/file.h"
#include "memory/decode/access.h"
#include "perfdata/perfdata_features.h"

/* ---- first reading: mappings over time ---- */

static uint64_t time_of(const struct perfdata_record *rec, uint64_t otherwise)
{
	uint64_t t = rec->has & PD_SAMPLE_TIME ? rec->time : otherwise;

	return t == UINT64_MAX ? 0 : t; /* synthesized by the recorder for what existed before */
}

/*
 * The whole file that a code mapping belongs to: its variables may be in mappings that were not
 * recorded.
 */
static int take_image(struct memory_samples *c, const struct mapped *m, uint64_t length,
		      uint64_t time, struct tare_error *err)
{
	struct image *in = memory_samples_image(c, m->map.module);

	if (!in)
		return tare_fail_nomem(err);
	for (size_t i = 0; in->state > 0 && i < in->head.segments; i++) {
		const struct elf_segment *s = &in->head.segment[i];
		struct map whole = { .module = m->map.module, .offset = in->low };

		/*
		 * The segment begins on the first mapped page, or the mapping is a later part of
		 * the segment.
		 */
		if (!s->executable ||
		    (s->offset - m->map.offset >= length && m->map.offset - s->offset >= s->size))
			continue;
		whole.start = m->map.start - m->map.offset + s->offset - s->address + in->low;
		if (__builtin_add_overflow(whole.start, in->high - in->low, &whole.last))
			continue;
		return mapping_history_map(c->p->history, m->pid, time, MAPPING_HISTORY_IMAGE,
					   &whole, err);
	}
	return 0;
}

/*
 * Memory that several processes may have at different addresses: of a file, of shm_open(3), or
 * anonymous shared memory.
 */
static int take_shared(struct memory_samples *c, const struct perfdata_record *rec, struct map *m,
		       struct tare_error *err)
{
	enum { PAGE = 4096 }; /* cache lines begin at the same offset in both */
	const struct perfdata_mmap *mm = &rec->mmap;
	const struct shared_file file = { mm->major,
					  mm->minor,
					  { (uint32_t)mm->inode, (uint32_t)(mm->inode >> 32) } };
	uint32_t at;

	if (rec->type != PD_RECORD_MMAP2 || !(mm->flags & MAP_SHARED) || mm->build_id_size ||
	    !mm->inode || (mm->addr ^ mm->pgoff) % PAGE)
		return 0;
	at = set_add(&c->p->shared, &file, sizeof(file), sizeof(file), NULL);
	if (at == SET_NONE)
		return tare_fail_nomem(err);
	m->shared = at + 1;
	m->shared_offset = mm->pgoff;
	return 0;
}

static int take_mapping(struct memory_samples *c, const struct perfdata_record *rec,
			struct tare_error *err)
{
	struct mapped m;
	uint64_t time = time_of(rec, 0);
	int ret = mapped_read(&c->modules, rec, &m, err);

	if (ret <= 0)
		return ret;
	ret = m.kernel ? 0 : take_shared(c, rec, &m.map, err);
	if (ret == 0)
		ret = mapping_history_map(c->p->history, m.kernel ? MAPPING_HISTORY_KERNEL : m.pid,
					  time, MAPPING_HISTORY_MAPPED, &m.map, err);
	if (ret == 0 && !m.kernel && !m.map.data &&
	    c->modules.module[m.map.module].kind == MODULE_FILE)
		ret = take_image(c, &m, m.map.last - m.map.start + 1, time, err);
	return ret;
}

static int take_comm(struct memory_samples *c, uint32_t pid, uint32_t tid, uint32_t comm,
		     uint64_t time, struct tare_error *err)
{
	struct memory_samples_task t = { tid, pid, comm, time }, *of;
	uint32_t at = set_add(&c->p->tasks, &t, sizeof(t), 8, NULL);

	if (at == SET_NONE || comm == WORDS_NONE ||
	    set_add(&c->p->process_of, &t, sizeof(t), sizeof(t.tid), NULL) == SET_NONE)
		return tare_fail_nomem(err);
	of = (struct memory_samples_task *)c->p->tasks.item + at;
	if (time >= of->comm_time)
		*of = t;
	return 0;
}

static uint32_t comm_word(const struct memory_samples *c, uint32_t pid, uint32_t tid)
{
	struct memory_samples_task key = { .tid = tid, .pid = pid };
	uint32_t at = set_find(&c->p->tasks, &key, sizeof(key), 8);

	return at == SET_NONE ? 0 : ((struct memory_samples_task *)c->p->tasks.item)[at].comm;
}

static int take_record(struct memory_samples *c, const struct perfdata_record *rec,
		       struct tare_error *err)
{
	int ret;

	if (rec->bad)
		return 0;
	switch (rec->type) {
	case PD_RECORD_SAMPLE:
		c->samples++;
		memory_samples_note_sample(c, rec);
		return 0;
	case PD_RECORD_COMM:
		ret = take_comm(
			c, rec->comm.pid, rec->comm.tid,
			words_add(&c->modules.words, rec->comm.comm, strlen(rec->comm.comm)),
			time_of(rec, 0), err);
		/* Source: linux/perf_event.h, PERF_RECORD_MISC_COMM_EXEC. */
		if (ret == 0 && rec->misc & PD_MISC_13)
			ret = mapping_history_exec(c->p->history, rec->comm.pid, time_of(rec, 0),
						   err);
		return ret;
	case PD_RECORD_FORK:
		ret = take_comm(c, rec->task.pid, rec->task.tid,
				comm_word(c, rec->task.ppid, rec->task.ptid),
				time_of(rec, rec->task.time), err);
		return ret < 0 ? ret
			       : mapping_history_fork(c->p->history, rec->task.pid, rec->task.ppid,
						      time_of(rec, rec->task.time), err);
	case PD_RECORD_BUILD_ID:
		return mapped_build_id(&c->modules, rec, err);
	default:
		return take_mapping(c, rec, err);
	}
}

static int check_kept(const struct memory_samples *c, const char *path, uint64_t read,
		      struct tare_error *err)
{
	size_t bytes = set_memory(&c->p->tasks, sizeof(struct memory_samples_task)) +
		set_memory(&c->p->process_of, sizeof(struct memory_samples_task)) +
		c->modules.room * sizeof(struct image);

	return memory_limit_check(&c->modules, bytes, path, read, err);
}

static int read_state(struct memory_samples *c, const char *path, struct tare_error *err)
{
	struct tare_error damage = TARE_ERROR_INIT;
	struct perfdata_record rec;
	struct stat st;
	int ret;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && c->p->input < 0)
		c->modules.ended_s = st.st_mtim.tv_sec;
	c->file = perfdata_open(path, NULL, err);
	if (!c->file)
		return -(err && err->code ? err->code : EIO);
	ret = mapped_build_ids(&c->modules, c->file, err);
	while (ret == 0 && perfdata_next(c->file, &rec, &damage) == 1) {
		ret = take_record(c, &rec, err);
		if (ret == 0)
			ret = check_kept(c, path, rec.offset, err);
	}
	if (ret == 0)
		ret = mapped_build_ids(&c->modules, c->file, err); /* in a pipe they are records */
	c->undecodable = perfdata_loss(c->file)->undecodable;
	c->throttled = perfdata_loss(c->file)->throttled;
	if (damage.code || !perfdata_whole(c->file, &damage))
		snprintf(c->damage, sizeof(c->damage), "%s", damage.what);
	return ret < 0 ? ret : mapping_history_finish(c->p->history, err);
}

enum whose { PROGRAMS, RECORDERS, CLOCKS };

/*
 * The code that `tare record --alloc` loaded into the program, and the vDSO, where it reads the
 * clock.
 */
static int find_recorder(struct memory_samples *c, struct tare_error *err)
{
	static const char recorder[] = "/libtare-alloc.so";
	size_t n = c->modules.key.n, k = sizeof(recorder) - 1;
	bool there = false;

	c->p->whose = calloc(n + 1, 1);
	if (!c->p->whose)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const char *path = words_at(&c->modules.words, c->modules.module[i].path);
		size_t length = strlen(path);
		bool is = length >= k && !strcmp(path + length - k, recorder);

		c->p->whose[i] = is                                ? RECORDERS
			: c->modules.module[i].kind == MODULE_VDSO ? CLOCKS
								   : PROGRAMS;
		there |= is;
	}
	if (!there) {
		free(c->p->whose);
		c->p->whose = NULL;
	}
	return 0;
}

static int read_nodes(struct memory_samples *c, struct tare_error *err)
{
	const struct perfdata_features *f = perfdata_features(c->file);

	for (size_t i = 0; i < f->n_nodes; i++) {
		struct cpus set = { 0 };

		if (!f->nodes[i].cpus || cpus_parse(f->nodes[i].cpus, &set, NULL) < 0)
			continue;
		for (size_t k = 0; k < set.n; k++) {
			size_t cpu = (size_t)set.cpu[k], n = c->p->cpus;

			if (!array_reserve(&c->p->node_of_cpu, &c->p->cpus, cpu + 1,
					   sizeof(*c->p->node_of_cpu))) {
				cpus_free(&set);
				return tare_fail_nomem(err);
			}
			for (; n < c->p->cpus; n++)
				c->p->node_of_cpu[n] = -1;
			c->p->node_of_cpu[cpu] = (int)f->nodes[i].node;
		}
		cpus_free(&set);
	}
	return 0;
}

/* Input that can be read only once is copied to an unlinked file. */
static int copy_input(struct memory_samples *c, struct tare_error *err)
{
	unsigned char buffer[1 << 16];
	ssize_t n;
	int fd = file_scratch(err);

	if (fd < 0)
		return fd;
	c->p->input = fd;
	while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tare_fail(err, errno, "cannot read standard input: %s",
					 strerror(errno));
		if (file_write_all(fd, buffer, (size_t)n) < 0)
			return tare_fail(err, errno, "cannot write a temporary file: %s",
					 strerror(errno));
	}
	return 0;
}

/* Messages about the copy name standard input. */
static void name_input(const struct memory_samples *c, char *said)
{
	char copy[64];
	int n = snprintf(copy, sizeof(copy), "/proc/self/fd/%d: ", c->p->input);

	if (c->p->input >= 0 && !strncmp(said, copy, (size_t)n)) {
		said[0] = '-';
		memmove(said + 1, said + n - 2, strlen(said + n - 2) + 1);
	}
}

int memory_samples_open(struct memory_samples *c, const char *path,
			const struct memory_samples_options *opts, struct tare_error *err)
{
	char copy[64];
	int ret = 0;

	*c = (struct memory_samples){ .opts = *opts, .modules.opts = opts->modules };
	c->p = calloc(1, sizeof(*c->p));
	if (!c->p)
		return tare_fail_nomem(err);
	c->p->input = -1;
	c->p->history = mapping_history_new(err);
	c->p->kernel_module = mapped_kernel(&c->modules);
	c->p->unknown_module = modules_add(&c->modules, MODULE_UNKNOWN, "[unknown]", NULL, 0, 0);
	if (!c->p->history || c->p->kernel_module == SET_NONE || c->p->unknown_module == SET_NONE)
		return tare_fail_nomem(err);
	if (!strcmp(path, "-")) {
		ret = copy_input(c, err);
		snprintf(copy, sizeof(copy), "/proc/self/fd/%d", c->p->input);
		path = copy;
	}
	if (ret == 0) {
		ret = read_state(c, path, err);
		name_input(c, err ? err->what : c->damage);
		name_input(c, c->damage);
	}
	if (ret == 0)
		ret = find_recorder(c, err);
	if (ret == 0)
		ret = read_nodes(c, err);
	if (ret == 0)
		ret = memory_samples_note_selection(c, err);
	if (ret == 0)
		ret = memory_samples_read_blocks(c, path, err);
	if (ret < 0)
		return ret;
	c->p->reader = tare_accesses_open(path, err);
	return c->p->reader ? 0 : -EINVAL;
}

void memory_samples_close(struct memory_samples *c)
{
	struct memory_samples_private *p = c->p;

	if (p) {
		tare_accesses_close(p->reader);
		mapping_history_free(p->history);
		mapping_history_free(p->blocks);
		memory_samples_objects_free(c);
		memory_samples_widths_free(c);
		set_free(&p->tasks);
		set_free(&p->process_of);
		set_free(&p->shared);
		free(p->node_of_cpu);
		free(p->whose);
		if (p->input >= 0)
			close(p->input);
	}
	for (size_t i = 0; i < c->n_notes; i++)
		free(c->note[i]);
	free(c->note);
	memory_samples_forget_unnamed(c);
	modules_free(&c->modules);
	perfdata_close(c->file);
	free(p);
	*c = (struct memory_samples){ 0 };
}

/* ---- second reading: the accesses ---- */

static bool passes(const struct memory_samples *c, const struct tare_access *a)
{
	const struct samples_filter *f = &c->opts.filter;
	bool task = a->has & TARE_ACCESS_TASK, timed = a->has & TARE_ACCESS_TIME;

	return (f->pid < 0 || (task && (uint32_t)f->pid == a->pid)) &&
		(f->tid < 0 || (task && (uint32_t)f->tid == a->tid)) &&
		(f->cpu < 0 || (a->has & TARE_ACCESS_CPU && f->cpu == a->cpu)) &&
		((!f->from_ns && !f->to_ns) ||
		 (timed && a->time_ns >= f->from_ns &&
		  a->time_ns <= (f->to_ns ? f->to_ns : UINT64_MAX))) &&
		(!f->comm ||
		 (task && fnmatch(f->comm, memory_samples_comm(c, a->pid, a->tid), 0) == 0));
}

/* SPE data has only the thread; the records that name its process may come later. */
static void find_process(const struct memory_samples *c, struct tare_access *a)
{
	struct memory_samples_task key = { .tid = a->tid };
	uint32_t at = a->origin == TARE_FROM_SPE && a->has & TARE_ACCESS_TASK
		? set_find(&c->p->process_of, &key, sizeof(key), sizeof(key.tid))
		: SET_NONE;

	if (at != SET_NONE)
		a->pid = ((struct memory_samples_task *)c->p->process_of.item)[at].pid;
}

/*
 * The recorder calls no libc function for each block, so accesses made in libraries are the
 * program's.
 */
static bool is_recorders(struct memory_samples *c, const struct tare_access *a)
{
	uint8_t whose = c->p->whose && !a->kernel ? c->p->whose[memory_samples_code(c, a).module]
						  : PROGRAMS;

	c->recorders += whose == RECORDERS;
	c->clocks += whose == CLOCKS;
	return whose == RECORDERS;
}

int memory_samples_next(struct memory_samples *c, struct tare_access *a, struct tare_error *err)
{
	struct tare_error damage = TARE_ERROR_INIT;
	int ret;

	do {
		ret = tare_accesses_next(c->p->reader, a, &damage);
		if (ret > 0)
			find_process(c, a);
	} while (ret > 0 && (!passes(c, a) || is_recorders(c, a)));
	if (ret > 0)
		return 1;
	c->loss = *tare_accesses_loss(c->p->reader);
	if (ret == 0)
		return 0;
	if (ret == -ENOMEM)
		return tare_fail_nomem(err);
	if (!c->damage[0])
		snprintf(c->damage, sizeof(c->damage), "%s", damage.what);
	name_input(c, c->damage);
	return 0;
}

const struct perfdata *memory_samples_read(const struct memory_samples *c)
{
	return accesses_file(c->p->reader);
}

struct memory_samples_code memory_samples_code(struct memory_samples *c,
					       const struct tare_access *a)
{
	uint32_t pid = a->kernel ? MAPPING_HISTORY_KERNEL : a->pid;
	uint64_t time = a->has & TARE_ACCESS_TIME ? a->time_ns : UINT64_MAX;
	struct code_cached *k = &c->p->code[(a->ip ^ (uint64_t)pid << 32) * 0x9e3779b97f4a7c15ull >>
					    (64 - CODE_BITS)];
	struct mapping_history_place at;

	if (k->set && k->ip == a->ip && k->pid == pid && during(k->from, k->until, time))
		return k->code;
	mapping_history_find(c->p->history, pid, time, MAPPING_HISTORY_MAPPED, a->ip, &at);
	*k = (struct code_cached){
		a->ip,
		at.from,
		at.until,
		pid,
		true,
		{ a->kernel ? c->p->kernel_module : c->p->unknown_module, a->kernel, a->ip }
	};
	if (at.found) {
		k->code.module = at.map.module;
		k->code.offset = a->ip - at.map.start + at.map.offset;
	}
	return k->code;
}

uint32_t memory_samples_shared(struct memory_samples *c, const struct tare_access *a,
			       uint64_t *offset)
{
	uint64_t time = a->has & TARE_ACCESS_TIME ? a->time_ns : UINT64_MAX;
	struct shared_cached *k = &c->p->mapped;

	if (!c->p->shared.n || !(a->has & TARE_ACCESS_TASK) || !(a->has & TARE_ACCESS_ADDRESS) ||
	    a->address >> 63)
		return 0;
	if (!k->set || k->pid != a->pid || a->address < k->at.low || a->address > k->at.high ||
	    !during(k->at.from, k->at.until, time)) {
		mapping_history_find(c->p->history, a->pid, time, MAPPING_HISTORY_MAPPED,
				     a->address, &k->at);
		k->pid = a->pid;
		k->set = true;
	}
	if (!k->at.found || !k->at.map.shared)
		return 0;
	*offset = a->address - k->at.map.start + k->at.map.shared_offset;
	return k->at.map.shared;
}

/* ---- tasks and nodes ---- */

const char *memory_samples_comm(const struct memory_samples *c, uint32_t pid, uint32_t tid)
{
	uint32_t comm = comm_word(c, pid, tid);

	return words_at(&c->modules.words, comm ? comm : comm_word(c, pid, pid));
}

int memory_samples_node_of_cpu(const struct memory_samples *c, int32_t cpu)
{
	return cpu >= 0 && (size_t)cpu < c->p->cpus ? c->p->node_of_cpu[cpu] : -1;
}

int memory_samples_node_of_memory(const struct memory_samples *c, uint64_t physical)
{
	const struct perfdata_features *f = perfdata_features(c->file);
	uint64_t block = f->memory_block_size ? physical / f->memory_block_size : UINT64_MAX;

	for (size_t i = 0; block != UINT64_MAX && i < f->n_memory; i++)
		if (block / 64 < f->memory[i].n_words &&
		    f->memory[i].blocks[block / 64] >> block % 64 & 1)
			return (int)f->memory[i].node;
	return -1;
}

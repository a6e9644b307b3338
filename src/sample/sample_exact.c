/* SPDX-License-Identifier: MIT */
/*
 * Sampling by the exact engine: a sample at exactly the instruction that reaches a multiple of the
 * period, in every thread and child; a deterministic program gets the same samples in every run.
 * Written as kernel records, so that any perf.data reader can read them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "base/array.h"
#include "regs.h"
#include "launch/exact_follow.h"
#include "exact/exact_raw.h"
#include "sample/sample.h"

enum { ROOM = RECORD_MOST, CHAIN = EXACT_CHAIN_MAX };

/* Ids in the file: the n-th event has FIRST_ID + n. */
enum { FIRST_ID = 1 };

#define OWN_EVENTS 0x7461726500ull /* "tare" */

struct exact_recording {
	const struct sample_plan *plan;
	struct sample_sink *to;
	struct sample_outcome *out;
	struct tare_error *err;
	struct sampled *event;
	size_t n;
	size_t sampled[EXACT_EVENTS_MAX], n_sampled; /* the engine's events; the others are read */
	struct {
		pid_t pid;
	} * process; /* indexed by serial */
	size_t processes;
	struct {
		bool known, ended;
		uint32_t serial;
		double *moved; /* by event: the events that its samples represent */
	} * thread;            /* indexed by `born` */
	size_t threads;
	uint64_t newest, newest_at_round,
		passed_on; /* ns: of all records; at the last round; at the round before */
	unsigned char record[ROOM];
	size_t at;
	bool full;
	bool enough; /* further records are of a command that was asked to end */
};

/* Records about a process refer to its first thread. */
static uint32_t tid_of(const struct exact_sample *s)
{
	return (uint32_t)(s->tid ? s->tid : s->pid);
}

/* ---- a record ---- */

static void put_bytes(struct exact_recording *r, const void *bytes, size_t n)
{
	if (n > ROOM - r->at) {
		r->full = true;
		return;
	}
	memcpy(r->record + r->at, bytes, n);
	r->at += n;
}

static void put32(struct exact_recording *r, uint32_t v)
{
	put_bytes(r, &v, sizeof(v));
}

static void put64(struct exact_recording *r, uint64_t v)
{
	put_bytes(r, &v, sizeof(v));
}

static void put_name(struct exact_recording *r, const char *name)
{
	static const char zeros[8];
	size_t n = strnlen(name, 4096);

	put_bytes(r, name, n);
	put_bytes(r, zeros, 8 - n % 8);
}

static void begin_record(struct exact_recording *r)
{
	r->at = sizeof(struct perf_event_header);
	r->full = false;
}

static int end_record(struct exact_recording *r, uint32_t type, uint16_t misc)
{
	const struct perf_event_header h = { .type = type, .misc = misc, .size = (uint16_t)r->at };

	if (r->full || r->at > UINT16_MAX)
		return tare_fail(r->err, E2BIG, "a record is longer than %d bytes", UINT16_MAX);
	memcpy(r->record, &h, sizeof(h));
	int ret = r->to->records(r->to, r->record, r->at, r->err);

	if (ret < 0)
		return ret;
	r->out->records++;
	r->out->bytes += r->at;
	return 0;
}

/* The trailer of all records but samples, in the order of its bits: task, time, id. */
static int end_with_trailer(struct exact_recording *r, const struct exact_sample *s, uint32_t type,
			    uint16_t misc)
{
	put32(r, (uint32_t)s->pid);
	put32(r, tid_of(s));
	put64(r, s->time_ns);
	put64(r, FIRST_ID);
	return end_record(r, type, misc);
}

/* ---- processes and threads ---- */

static int know_process(struct exact_recording *r, const struct exact_sample *s)
{
	uint32_t highest = s->serial > s->parent ? s->serial : s->parent;

	if (!array_reserve_zeroed(&r->process, &r->processes, highest + 1ull, sizeof(*r->process)))
		return tare_fail_nomem(r->err);
	r->process[s->serial].pid = s->pid;
	return 0;
}

static int put_task(struct exact_recording *r, const struct exact_sample *s, uint32_t type,
		    pid_t parent, pid_t parent_tid)
{
	begin_record(r);
	put32(r, (uint32_t)s->pid);
	put32(r, (uint32_t)parent);
	put32(r, tid_of(s));
	put32(r, (uint32_t)parent_tid);
	put64(r, s->time_ns);
	return end_with_trailer(r, s, type, 0);
}

/* A thread becomes known by its first sample or name: its process has that name then. */
static int know_thread(struct exact_recording *r, const struct exact_sample *s)
{
	if (!array_reserve_zeroed(&r->thread, &r->threads, s->born + 1ull, sizeof(*r->thread)))
		return tare_fail_nomem(r->err);
	if (r->thread[s->born].known)
		return 0;
	r->thread[s->born].known = true;
	r->thread[s->born].serial = s->serial;
	return s->tid == s->pid ? 0 : put_task(r, s, PERF_RECORD_FORK, s->pid, s->pid);
}

static int put_program(struct exact_recording *r, const struct exact_sample *s)
{
	int ret = know_process(r, s);

	begin_record(r);
	put32(r, (uint32_t)s->pid);
	put32(r, (uint32_t)s->pid);
	put_name(r, s->name);
	return ret < 0 ? ret : end_with_trailer(r, s, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
}

static int put_fork(struct exact_recording *r, const struct exact_sample *s)
{
	int ret = know_process(r, s);
	pid_t parent = ret == 0 ? r->process[s->parent].pid : 0;

	return ret < 0 ? ret : put_task(r, s, PERF_RECORD_FORK, parent, parent);
}

/* The thread must be known first: readers give a new thread its process's name. */
static int put_own_name(struct exact_recording *r, const struct exact_sample *s)
{
	int ret = know_thread(r, s);

	begin_record(r);
	put32(r, (uint32_t)s->pid);
	put32(r, tid_of(s));
	put_name(r, s->name);
	return ret < 0 ? ret : end_with_trailer(r, s, PERF_RECORD_COMM, 0);
}

/* A named mapping: named by the kernel or by the program. */
static bool is_named(const char *path)
{
	static const char *const names[] = { "[heap]", "[stack]", "[vvar", "/memfd:", "/SYSV" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(path, names[i], strlen(names[i])))
			return true;
	return false;
}

static const char *mapping_name(const struct exact_sample *s)
{
	if (s->module == EXACT_VDSO)
		return "[vdso]";
	if (s->module == EXACT_FILE && s->path)
		return s->path;
	if (s->data && s->name && *s->name)
		return s->name;
	return s->data && s->path && is_named(s->path) ? s->path : "//anon";
}

static int put_mapping(struct exact_recording *r, const struct exact_sample *s)
{
	const char *name = mapping_name(s);
	struct stat st = { 0 };

	if (s->module == EXACT_FILE && s->path && stat(s->path, &st) < 0)
		st = (struct stat){ 0 };
	begin_record(r);
	put32(r, (uint32_t)s->pid);
	put32(r, tid_of(s));
	put64(r, s->start);
	put64(r, s->end - s->start);
	put64(r, s->shared_inode ? s->shared_offset : s->offset);
	put32(r, major(s->shared_inode ? s->shared_dev : st.st_dev));
	put32(r, minor(s->shared_inode ? s->shared_dev : st.st_dev));
	put64(r, s->shared_inode ? s->shared_inode : st.st_ino);
	put64(r, 0);
	put32(r, s->data ? PROT_READ : PROT_READ | PROT_EXEC);
	put32(r, s->shared_inode ? MAP_SHARED : MAP_PRIVATE);
	put_name(r, name);
	return end_with_trailer(r, s, PERF_RECORD_MMAP2,
				PERF_RECORD_MISC_USER | (s->data ? PERF_RECORD_MISC_MMAP_DATA : 0));
}

/* ---- samples ---- */

/*
 * The engine orders registers by instruction encoding; perf's order is different. Source:
 * asm/perf_regs.h.
 */
static uint64_t register_of(const struct exact_sample *s, unsigned bit)
{
	enum { AX, BX, CX, DX, SI, DI, BP, SP, IP, FLAGS, CS, SS, R8 = 16 };
	static const unsigned char from[] = {
		[AX] = 0, [CX] = 1, [DX] = 2, [BX] = 3, [SP] = 4, [BP] = 5, [SI] = 6, [DI] = 7
	};

	if (bit <= SP)
		return s->registers[from[bit]];
	if (bit == IP)
		return s->pc;
	if (bit == FLAGS)
		return s->registers[16];
	if (bit == CS)
		return 0x33; /* the selectors of 64-bit user code. Source: asm/segment.h */
	if (bit == SS)
		return 0x2b;
	return s->registers[8 + bit - R8];
}

/*
 * Whether samples of the first event show the other counts at their places: every piece of code has
 * instructions.
 */
static bool shows(const struct exact_recording *r, size_t i)
{
	return exact_class_of(r->event[0].enc) == EXACT_INSTRUCTIONS &&
		exact_class_of(r->event[i].enc) != EXACT_TAKEN;
}

/*
 * The group. A reader attributes a counter's increase since the previous sample to the place of the
 * sample. The thread's counts would include what other functions did in between, so each counter
 * increases by what the code at the sample adds to it in a period. Sums over many samples are the
 * same. Events that the first one does not cover get the thread's counts.
 */
static int put_counts(struct exact_recording *r, const struct exact_sample *s)
{
	uint64_t period = r->event[0].attr.sample_period;
	double **moved = &r->thread[s->born].moved;

	if (!*moved && !(*moved = calloc(r->n, sizeof(**moved))))
		return tare_fail_nomem(r->err);
	put64(r, r->n);
	for (size_t i = 0; i < r->n; i++) {
		enum exact_class class = exact_class_of(r->event[i].enc);

		(*moved)[i] += (double)period * s->adds[class] /
			s->adds[exact_class_of(r->event[0].enc)];
		put64(r,
		      i == 0                ? s->number * period
			      : shows(r, i) ? (uint64_t)((*moved)[i] + 0.5)
					    : (uint64_t)s->counts[class]);
		put64(r, FIRST_ID + i);
	}
	return 0;
}

/* { nr, user mark, the instruction itself, callers }, as in the kernel. */
static void put_chain(struct exact_recording *r, const struct exact_sample *s, bool unwound_later)
{
	if (unwound_later) {
		put64(r, 0);
		return;
	}
	put64(r, 2 + s->n_chain);
	put64(r, (uint64_t)PERF_CONTEXT_USER);
	put64(r, s->pc);
	put_bytes(r, s->chain, s->n_chain * sizeof(uint64_t));
}

static void put_stack(struct exact_recording *r, const struct exact_sample *s, uint64_t mask)
{
	static const unsigned char zeros[8];
	size_t padded;

	put64(r, PERF_SAMPLE_REGS_ABI_64);
	for (unsigned bit = 0; bit < 64; bit++)
		if (mask >> bit & 1)
			put64(r, register_of(s, bit));
	padded = (s->n_stack + 7) & ~(size_t)7;
	put64(r, padded);
	put_bytes(r, s->stack, s->n_stack);
	put_bytes(r, zeros, padded - s->n_stack);
	if (padded)
		put64(r, s->n_stack);
}

/*
 * The kind of access to the operand; everything else is unknown. Source: linux/perf_event.h, union
 * perf_mem_data_src.
 */
static uint64_t data_source(const struct exact_sample *s)
{
	uint64_t op = (s->reads ? PERF_MEM_OP_LOAD : 0) | (s->writes ? PERF_MEM_OP_STORE : 0) |
		(s->prefetches ? PERF_MEM_OP_PFETCH : 0);

	return (op ? op : PERF_MEM_OP_NA) << PERF_MEM_OP_SHIFT | PERF_MEM_S(LVL, NA) |
		PERF_MEM_S(SNOOP, NA) | (s->locked ? PERF_MEM_S(LOCK, LOCKED) : 0) |
		PERF_MEM_S(TLB, NA) | PERF_MEM_S(LVLNUM, NA);
}

static void put_raw(struct exact_recording *r, const struct exact_sample *s)
{
	bool bytes = s->has_address && s->bytes;
	uint64_t value = bytes ? s->bytes : s->has_target ? s->target : 0;

	put32(r, EXACT_RAW_SIZE);
	put32(r,
	      bytes ? EXACT_RAW_BYTES
		    : (s->has_target ? EXACT_RAW_TARGET : 0) |
			      (s->has_outcome ? EXACT_RAW_OUTCOME : 0) |
			      (s->taken ? EXACT_RAW_TAKEN : 0));
	put64(r, value);
}

/* Fields in the order of perf_event_open(2), "PERF_RECORD_SAMPLE". */
static int put_sample(struct exact_recording *r, const struct exact_sample *s)
{
	size_t event = r->sampled[s->event];
	const struct perf_event_attr *a = &r->event[event].attr;
	int ret = know_thread(r, s);

	if (ret < 0)
		return ret;
	/*
	 * A repeated string instruction with a count of zero counts as a memory access without
	 * making one: it gets no access data.
	 */
	if (a->sample_type & PERF_SAMPLE_DATA_SRC && !s->reads && !s->writes && !s->prefetches)
		return 0;
	begin_record(r);
	put64(r, FIRST_ID + event);
	put64(r, s->pc);
	put32(r, (uint32_t)s->pid);
	put32(r, tid_of(s));
	put64(r, s->time_ns);
	if (a->sample_type & PERF_SAMPLE_ADDR)
		put64(r, s->has_address ? s->address : 0);
	if (a->sample_type & PERF_SAMPLE_READ)
		ret = put_counts(r, s);
	if (ret < 0)
		return ret;
	if (a->sample_type & PERF_SAMPLE_CALLCHAIN)
		put_chain(r, s, a->exclude_callchain_user);
	if (a->sample_type & PERF_SAMPLE_RAW)
		put_raw(r, s);
	if (a->sample_type & PERF_SAMPLE_REGS_USER)
		put_stack(r, s, a->sample_regs_user);
	if (a->sample_type & PERF_SAMPLE_DATA_SRC)
		put64(r, data_source(s));
	ret = end_record(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
	if (ret < 0)
		return ret;
	r->out->event[event].samples++;
	r->out->event[event].period_sum += a->sample_period;
	if (!r->out->first_ns || s->time_ns < r->out->first_ns)
		r->out->first_ns = s->time_ns;
	if (s->time_ns > r->out->last_ns)
		r->out->last_ns = s->time_ns;
	return 0;
}

static int put_end(struct exact_recording *r, const struct exact_sample *s)
{
	if (s->born < r->threads)
		r->thread[s->born].ended = true;
	for (size_t i = 0; s->counts && i < r->n; i++)
		r->out->event[i].total.value += (uint64_t)
							s->counts[exact_class_of(r->event[i].enc)];
	return put_task(r, s, PERF_RECORD_EXIT, s->pid, s->pid);
}

/*
 * A round promises that later records are not older than the newest record at the previous round:
 * readers pass those on. So it waits while an older sample may still come.
 */
static int put_round(struct exact_recording *r, const struct exact_sample *s)
{
	if (!r->out->records || s->time_ns < r->newest_at_round)
		return 0;
	r->passed_on = r->newest_at_round;
	r->newest_at_round = r->newest;
	return r->to->round(r->to, r->err);
}

/*
 * Records other than samples may arrive late, as the thread that reports them may be descheduled;
 * and the estimate of the tick rate keeps improving, by less than a microsecond per second.
 */
static void keep_order(struct exact_recording *r, struct exact_sample *s)
{
	if (s->time_ns < r->passed_on)
		s->time_ns = r->passed_on;
	if (s->time_ns > r->newest)
		r->newest = s->time_ns;
}

static int take_sample(void *with, const struct exact_sample *sample)
{
	struct exact_recording *r = with;
	struct exact_sample in_order = *sample, *s = &in_order;

	if (s->kind == EXACT_SAMPLE_SETTLED)
		return put_round(r, s);
	if (r->enough && s->kind != EXACT_SAMPLE_END)
		return 0;
	keep_order(r, s);
	switch (s->kind) {
	case EXACT_SAMPLE:
		return put_sample(r, s);
	case EXACT_SAMPLE_END:
		return put_end(r, s);
	case EXACT_SAMPLE_PROGRAM:
		return put_program(r, s);
	case EXACT_SAMPLE_FORK:
		return put_fork(r, s);
	case EXACT_SAMPLE_MAPPING:
		return put_mapping(r, s);
	case EXACT_SAMPLE_NAME:
		return put_own_name(r, s);
	case EXACT_SAMPLE_SETTLED:
		break;
	}
	return 0;
}

static bool enough(void *with)
{
	struct exact_recording *r = with;

	r->enough = r->plan->enough && r->plan->enough(r->plan->with);
	return r->enough;
}

/* ---- event descriptions in the file ---- */

/*
 * The generic events keep their numbers, so that every reader knows them; the others have a name,
 * and numbers of software events that no kernel uses: perf script prints no addresses for the dummy
 * event.
 */
static void describe(struct perf_event_attr *a, const struct encoding *e)
{
	enum exact_class c = exact_class_of(e);

	a->type = c == EXACT_INSTRUCTIONS || c == EXACT_BRANCHES ? PERF_TYPE_HARDWARE
								 : PERF_TYPE_SOFTWARE;
	a->config = c == EXACT_INSTRUCTIONS ? PERF_COUNT_HW_INSTRUCTIONS
		: c == EXACT_BRANCHES       ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS
					    : OWN_EVENTS + (uint64_t)c;
	a->exclude_kernel = a->exclude_hv = 1;
}

static bool accesses_memory(const struct encoding *e)
{
	enum exact_class c = exact_class_of(e);

	return c == EXACT_LOADS || c == EXACT_STORES || c == EXACT_ACCESSES;
}

static bool branches(const struct encoding *e)
{
	static const uint64_t classes = 1ull << EXACT_BRANCHES | 1ull << EXACT_CONDITIONAL |
		1ull << EXACT_CALLS | 1ull << EXACT_RETURNS | 1ull << EXACT_INDIRECT;

	return classes >> exact_class_of(e) & 1;
}

static uint64_t period_of(const struct sample_plan *plan, size_t i)
{
	uint64_t own = plan->events->enc[i].attr.sample_period;

	return own ? own : plan->how.period;
}

static void choose_sampled(struct exact_recording *r)
{
	for (size_t i = 0; i < r->plan->events->n && r->n_sampled < EXACT_EVENTS_MAX; i++)
		if (exact_samples_event(r->plan->events, i))
			r->sampled[r->n_sampled++] = i;
}

static int make_events(struct exact_recording *r)
{
	const struct sample_how *how = &r->plan->how;
	const struct encoding_list *list = r->plan->events;

	r->n = list->n;
	r->event = calloc(r->n + 1, sizeof(*r->event));
	r->out->event = calloc(r->n + 1, sizeof(*r->out->event));
	r->out->n_events = r->n;
	if (!r->event || !r->out->event)
		return tare_fail_nomem(r->err);
	for (size_t i = 0; i < r->n; i++)
		r->event[i].enc = &list->enc[i];
	for (size_t i = 0; i < r->n; i++) {
		struct perf_event_attr *a = &r->event[i].attr;
		bool sampled = exact_samples_event(list, i), reads = r->n_sampled < r->n;
		const struct encoding *at =
			&list->enc[sampled ? i : 0]; /* the event that its samples come from */

		describe(a, &list->enc[i]);
		a->size = sizeof(*a);
		a->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME;
		a->read_format = PERF_FORMAT_ID;
		a->sample_id_all = a->inherit = 1;
		a->use_clockid = 1;
		a->clockid = how->clockid;
		a->sample_period = sampled ? period_of(r->plan, i) : 0;
		a->config1 = !sampled && shows(r, i) ? EXACT_BY_CODE : 0;
		a->config2 = how->jitter ? EXACT_AT_RANDOM : 0;
		if (how->addresses)
			a->sample_type |= PERF_SAMPLE_ADDR;
		if (how->addresses && accesses_memory(at))
			a->sample_type |= PERF_SAMPLE_DATA_SRC;
		if (how->addresses && (accesses_memory(at) || branches(at)))
			a->sample_type |= PERF_SAMPLE_RAW;
		if (reads) {
			a->sample_type |= PERF_SAMPLE_READ;
			a->read_format |= PERF_FORMAT_GROUP;
		}
		if (how->calls == CALLS_FRAME_POINTERS)
			a->sample_type |= PERF_SAMPLE_CALLCHAIN;
		if (how->calls == CALLS_DWARF) {
			a->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				PERF_SAMPLE_STACK_USER;
			a->sample_regs_user = ARCH_REGS_USER;
			a->sample_stack_user = how->stack_bytes;
			a->exclude_callchain_user = 1;
		}
		if (!i)
			a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 1;
		r->event[i].ids = calloc(1, sizeof(uint64_t));
		if (!r->event[i].ids)
			return tare_fail_nomem(r->err);
		r->event[i].ids[0] = FIRST_ID + i;
		r->event[i].n_ids = 1;
		r->event[i].leader = exact_leader(list, i);
		snprintf(r->out->event[i].name, sizeof(r->out->event[i].name), "%s",
			 list->enc[i].name);
		r->out->event[i].member = !sampled;
		r->out->event[i].period = a->sample_period;
		r->out->event[i].share = 1;
	}
	return 0;
}

/* The counts of each event by instruction, if they are complete. */
static int find_places(struct exact_recording *r, const struct exact_profile *profile)
{
	struct sample_outcome *o = r->out;
	enum exact_class *class = calloc(r->n + 1, sizeof(*class));
	uint64_t *total = calloc(r->n + 1, sizeof(*total));
	int ret = 0;

	if (!class || !total)
		ret = tare_fail_nomem(r->err);
	for (size_t i = 0; ret == 0 && i < r->n; i++) {
		class[i] = exact_class_of(r->event[i].enc);
		total[i] = o->event[i].total.value;
	}
	if (ret == 0 && !o->event[0].total_unknown)
		ret = exact_places(&o->places, profile, class, total, r->n, r->err);
	free(class);
	free(total);
	return ret;
}

/* Totals lack the counts of threads that did not report their end. */
static void tell_unknown(struct exact_recording *r, bool unknown)
{
	for (size_t i = 0; i < r->threads; i++)
		unknown |= r->thread[i].known && !r->thread[i].ended;
	for (size_t i = 0; i < r->n; i++)
		r->out->event[i].total_unknown = unknown;
}

static void set_more(struct exact_every *every, const struct exact_recording *r)
{
	for (size_t k = 1; k < r->n_sampled; k++)
		every->more[every->n_more++] = (struct exact_more){
			.n = period_of(r->plan, r->sampled[k]),
			.class = exact_class_of(&r->plan->events->enc[r->sampled[k]])
		};
}

int sample_exact(const struct sample_plan *plan, struct sample_sink *to,
		 struct sample_outcome *outcome, struct tare_error *err)
{
	struct exact_recording *r = calloc(1, sizeof(*r));
	const struct count_target everywhere = { .inherit = true };
	const struct sample_how *how = &plan->how;
	struct exact_follow follow = {
		.who = { .root = plan->root,
			 .argv = plan->argv,
			 .launcher = &launch_exact,
			 .envp = plan->envp,
			 .fixed = plan->fixed,
			 .kills = plan->kills,
			 .target = &everywhere },
		.every = { .n = period_of(plan, 0),
			   .class = exact_class_of(&plan->events->enc[0]),
			   .jitter = how->jitter,
			   .registers = how->calls == CALLS_DWARF,
			   .stack = how->calls == CALLS_DWARF ? how->stack_bytes : 0,
			   .chain = how->calls == CALLS_FRAME_POINTERS
				   ? how->max_stack && how->max_stack < CHAIN ? how->max_stack
									      : CHAIN
				   : 0 },
		.mappings = true,
		.timeout_ns = plan->timeout_ns,
		.each = take_sample,
		.goes_on = true,
		.enough = enough,
	};
	struct exact_followed f = { .began = false };
	struct exact_profile profile = { 0 };
	int ret = 0;

	*outcome = (struct sample_outcome){ 0 };
	if (!r)
		return tare_fail_nomem(err);
	r->plan = plan;
	r->to = to;
	r->out = outcome;
	r->err = err;
	follow.with = r;
	choose_sampled(r);
	follow.every.counts = r->n_sampled < plan->events->n;
	set_more(&follow.every, r);
	follow.profile = &profile;
	ret = make_events(r);
	if (ret == 0)
		ret = to->begin(to, r->event, r->n, err);
	if (ret == 0)
		ret = exact_follow(&follow, &f, err);
	outcome->exact = true;
	outcome->period = period_of(plan, 0);
	outcome->jitter = how->jitter;
	outcome->accesses = how->addresses && accesses_memory(&plan->events->enc[0]);
	outcome->began = f.began;
	outcome->exec_code = f.exec_code;
	outcome->by_signal = f.by_signal;
	outcome->timed_out = f.timed_out;
	outcome->large_enough = f.enough;
	outcome->has_status = f.has_status;
	outcome->wait_status = f.wait_status;
	outcome->never_began = f.never_began;
	memcpy(outcome->uncounted, f.uncounted, sizeof(outcome->uncounted));
	outcome->partial = f.partial;
	outcome->went_on = f.went_on;
	if (outcome->event)
		tell_unknown(r, ret < 0 || f.uncounted[0]);
	if (ret == 0)
		ret = find_places(r, &profile);
	exact_profile_free(&profile);
	outcome->wall_ns = f.wall_ns;
	for (size_t i = 0; i < r->n; i++)
		free(r->event[i].ids);
	for (size_t i = 0; i < r->threads; i++)
		free(r->thread[i].moved);
	free(r->event);
	free(r->process);
	free(r->thread);
	free(r);
	return ret;
}

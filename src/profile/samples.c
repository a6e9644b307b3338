/* SPDX-License-Identifier: MIT */
/*
 * Reads samples: records in order of time. Mappings, forks and execs maintain the address spaces as
 * of each sample; each sample's stack becomes frame numbers (module and offset) and a path in the
 * tree of stacks. Names are added later, in samples_name.c.
 *
 * A stack is the kernel's call chain, or that of the processor's branch records (LBR), or is
 * unwound from registers and stack (symbols/unwind.h). Callers are recorded by return address; the
 * call is the instruction before it.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/array.h"
#include "profile/callchain_cache.h"
#include "profile/counted.h"
#include "symbols/memory_limit.h"
#include "symbols/mapped.h"
#include "profile/samples_private.h"
#include "symbols/address_spaces.h"
#include "profile/traced.h"
#include "symbols/unwind.h"
#include "perfdata/perfdata_features.h"
#include "exact/exact_raw.h"

enum {
	FRAMES_MAX = 8192, /* the most in one stack: a record has no room for more */
	UNWOUND_MAX = 512,
	CACHE_BITS = 14,
	/*
	 * Limits grow with the bytes read, so that a small (hostile) file that decompresses to a
	 * large one takes little memory. An address of a stack is 8 bytes and a mapping 80 or more,
	 * and a real recorder's records compress 30 times at most; a fork that maps something gets
	 * a copy of its parent's mappings.
	 */
	NODES_LEAST = 256 << 10,
	NODES_PER_BYTE = 8,
	NODES_MAX = 64 << 20,
	MAPS_LEAST = 256 << 10,
	MAPS_PER_BYTE = 4,
	MAPS_MAX = 16 << 20,
};

/* Context markers in a call chain. Source: linux/perf_event.h, enum perf_callchain_context. */
enum context {
	CONTEXT_KERNEL = 128,
	CONTEXT_USER = 512,
	CONTEXT_USER_DEFERRED = 640,
	CONTEXT_GUEST = 2048,
	CONTEXT_GUEST_KERNEL = 2176,
	CONTEXT_GUEST_USER = 2560
};

#define BRANCH_CALL_STACK  (1u << 11) /* PERF_SAMPLE_BRANCH_CALL_STACK */
#define ATTR_INHERIT       (1ull << 1)
#define ATTR_NO_USER_CHAIN (1ull << 22) /* exclude_callchain_user */

struct thread {
	uint32_t pid, tid, comm, task; /* task SET_NONE: not added yet */
	uint32_t again;                /* number of earlier threads with the same pid and tid */
	bool sampled;                  /* it has samples */
};

/* The last value of a counter that is read with samples. */
struct counter {
	uint64_t id;
	uint32_t tid, zero;
	uint64_t value;
};

struct cached {
	uint64_t address;
	uint32_t space, frame; /* space: the serial of the mappings; frame: number + 1, 0: none */
};

struct reader {
	const struct samples_options *opts;
	struct samples *out;
	struct raw *raw;
	struct perfdata *file;
	struct address_spaces address_spaces;
	struct set mains; /* by process: struct main_of */
	struct set threads, counters, comms;
	uint32_t last_thread; /* the last lookup; the next sample often has the same key */
	struct cached cache[1 << CACHE_BITS];
	struct callchain_cache chains;
	struct traced traced;
	uint32_t trace; /* of the current sample */
	uint32_t kernel_module, unknown_module, unknown_guest;
	struct unwinder *unwinder;
	bool no_unwinder, crowded; /* crowded: this stack was shortened */
	struct tare_error *err;
	uint64_t read; /* reading position in the file */

	/* the current stack, the innermost frame first */
	uint32_t frame[FRAMES_MAX];
	unsigned n;
	/* the previous stack, from the root: the next often begins the same */
	uint32_t last_frame[FRAMES_MAX], last_node[FRAMES_MAX];
	unsigned last_n;
};

static int nomem(struct reader *r)
{
	return tare_fail_nomem(r->err);
}

/* The present limit on the number of items. */
static uint32_t in_proportion(const struct reader *r, uint32_t least, uint32_t per_byte,
			      uint32_t max)
{
	return r->read < (max - least) / per_byte ? least + per_byte * (uint32_t)r->read : max;
}

/* ---- processes and threads ---- */

static struct thread *thread_of(struct reader *r, uint32_t pid, uint32_t tid)
{
	struct thread t = { pid, tid, 0, SET_NONE, 0, false }, *thread = r->threads.item;
	bool fresh;
	uint32_t at;
	char name[16];

	if (r->last_thread < r->threads.n && thread[r->last_thread].pid == pid &&
	    thread[r->last_thread].tid == tid)
		return &thread[r->last_thread];
	at = set_add(&r->threads, &t, sizeof(t), 8, &fresh);
	if (at == SET_NONE)
		return NULL;
	r->last_thread = at;
	thread = (struct thread *)r->threads.item + at;
	if (!fresh)
		return thread;
	if (tid != pid) { /* a thread inherits its process's name */
		struct thread key = { pid, pid, 0, 0, 0, false };
		uint32_t leader = set_find(&r->threads, &key, sizeof(key), 8);

		if (leader != SET_NONE) {
			thread->comm = ((struct thread *)r->threads.item)[leader].comm;
			return thread;
		}
	}
	snprintf(name, sizeof(name), ":%d", (int)tid);
	thread->comm = call_tree_add_name(r->raw->call_tree,
					  pid == 0 && tid == 0 ? "swapper" : name);
	return thread;
}

/*
 * ---- the program of a process ----
 * The mapped file with the name of the process, which is that of the program after an exec. If
 * there is none (a script, a process that renamed itself), the first mapped file that is not a
 * library. Libraries can come first: the exact engine records a mapping when code in it is
 * executed.
 */

enum { COMM_MAX = 15 };

struct main_of {
	uint32_t pid, module;
	uint64_t samples;
	uint32_t by_name, zero;
};

static struct main_of *main_of(struct reader *r, uint32_t pid)
{
	struct main_of m = { .pid = pid, .module = SET_NONE };
	uint32_t at = set_add(&r->mains, &m, sizeof(m), sizeof(m.pid), NULL);

	return at == SET_NONE ? NULL : (struct main_of *)r->mains.item + at;
}

static struct thread *thread_of(struct reader *r, uint32_t pid, uint32_t tid);

static void note_main(struct reader *r, uint32_t pid, uint32_t module)
{
	const char *path = words_at(&r->raw->modules.words, r->raw->modules.module[module].path),
		   *slash = strrchr(path, '/'), *comm;
	struct main_of *m = r->raw->modules.module[module].kind == MODULE_FILE && slash
		? main_of(r, pid)
		: NULL;
	struct thread *t;

	if (!m || m->by_name)
		return;
	t = thread_of(r, pid, pid);
	comm = t ? call_tree_name(r->raw->call_tree, t->comm) : "";
	if (*comm && !strncmp(slash + 1, comm, COMM_MAX)) {
		m->module = module;
		m->by_name = 1;
	} else if (m->module == SET_NONE && !strstr(slash, ".so")) {
		m->module = module;
	}
}

static void exec_main(struct reader *r, uint32_t pid)
{
	struct main_of *m = main_of(r, pid);

	if (m) {
		m->module = SET_NONE;
		m->by_name = 0;
	}
}

static void fork_main(struct reader *r, uint32_t child, uint32_t parent)
{
	struct main_of *m = main_of(r, parent);
	uint32_t module = m ? m->module : SET_NONE;

	m = child != parent ? main_of(r, child) : NULL;
	if (m)
		m->module = module;
}

/* That of the process with the most samples that has one. */
static uint32_t main_module(struct reader *r)
{
	size_t rows, n;
	const struct call_tree_row *row = call_tree_rows(r->raw->call_tree, &rows);
	const struct call_tree_task *task = call_tree_tasks(r->raw->call_tree, &n);
	const struct main_of *all, *best = NULL;

	for (size_t i = 0; i < rows; i++) {
		struct main_of *m = main_of(r, task[row[i].task].pid);

		if (m)
			m->samples += row[i].samples;
	}
	all = r->mains.item;
	for (size_t i = 0; i < r->mains.n; i++)
		if (all[i].module != SET_NONE && (!best || all[i].samples > best->samples))
			best = &all[i];
	return best ? best->module : SET_NONE;
}

static int name_thread(struct reader *r, uint32_t pid, uint32_t tid, uint32_t comm)
{
	struct thread *t = thread_of(r, pid, tid);

	if (!t || comm == WORDS_NONE)
		return nomem(r);
	if (t->comm != comm)
		t->task = SET_NONE;
	t->comm = comm;
	return 0;
}

/* The number of a thread's name. */
static uint32_t note_comm(struct reader *r, const char *comm)
{
	uint32_t word = call_tree_add_name(r->raw->call_tree, comm);

	return word == WORDS_NONE ||
			set_add(&r->comms, &word, sizeof(word), sizeof(word), NULL) == SET_NONE
		? WORDS_NONE
		: word;
}

static int take_comm(struct reader *r, const struct perfdata_record *rec)
{
	/* Source: linux/perf_event.h, PERF_RECORD_MISC_COMM_EXEC. */
	if (rec->misc & PD_MISC_13) {
		address_spaces_exec(&r->address_spaces, rec->comm.pid);
		exec_main(r, rec->comm.pid);
	}
	return name_thread(r, rec->comm.pid, rec->comm.tid, note_comm(r, rec->comm.comm));
}

static int take_fork(struct reader *r, const struct perfdata_record *rec)
{
	struct thread *t = thread_of(r, rec->task.pid, rec->task.tid), *parent;
	int ret;

	if (!t)
		return nomem(r);
	if (t->sampled) { /* pid and tid of an ended thread, reused */
		t->again++;
		t->sampled = false;
		t->task = SET_NONE;
	}
	parent = thread_of(r, rec->task.ppid, rec->task.ptid);
	if (!parent)
		return nomem(r);
	ret = name_thread(r, rec->task.pid, rec->task.tid, parent->comm);
	fork_main(r, rec->task.pid, rec->task.ppid);
	return ret < 0
		? ret
		: address_spaces_fork(&r->address_spaces, rec->task.pid, rec->task.ppid, r->err);
}

/* ---- mappings ---- */

static int take_mapping(struct reader *r, const struct perfdata_record *rec)
{
	struct mapped m;
	int ret = mapped_read(&r->raw->modules, rec, &m, r->err);

	if (ret <= 0)
		return ret;
	r->address_spaces.most = in_proportion(r, MAPS_LEAST, MAPS_PER_BYTE, MAPS_MAX);
	if (!m.kernel)
		note_main(r, m.pid, m.map.module);
	return m.kernel ? address_spaces_map_kernel(&r->address_spaces, &m.map, r->err)
			: address_spaces_map(&r->address_spaces, m.pid, &m.map, r->err);
}

/* ---- frames ---- */

static void push(struct reader *r, uint32_t frame)
{
	if (r->n < FRAMES_MAX)
		r->frame[r->n++] = frame;
}

static void push_mark(struct reader *r, const char *words)
{
	struct call_tree_frame f = { .function = call_tree_add_name(r->raw->call_tree, words),
				     .flags = CALL_TREE_MARK };

	push(r, call_tree_add_frame(r->raw->call_tree, &f));
}

/* The limits on the number of tree nodes and addresses. */
static uint32_t most_kept(const struct reader *r)
{
	return r->opts->nodes_max ? r->opts->nodes_max
				  : in_proportion(r, NODES_LEAST, NODES_PER_BYTE, NODES_MAX);
}

/* The frame's number; that of a marker when there are too many frames. */
static uint32_t frame_of(struct reader *r, const struct call_tree_frame *f)
{
	struct call_tree *st = r->raw->call_tree;
	struct call_tree_frame mark = { .flags = CALL_TREE_MARK };
	uint32_t at;

	if (st->frame_set.n < most_kept(r))
		return call_tree_add_frame(st, f);
	at = set_find(&st->frame_set, f, sizeof(*f), sizeof(*f));
	if (at != SET_NONE)
		return at;
	r->crowded = true;
	mark.function = call_tree_add_name(st, "[address not kept: too many different ones]");
	return call_tree_add_frame(st, &mark);
}

/* Adds a frame at an address; for callers, at the address of the call. */
static void push_address(struct reader *r, uint64_t address, enum context in,
			 const struct maps *user)
{
	const struct maps *maps = in == CONTEXT_KERNEL ? &r->address_spaces.kernel
		: in == CONTEXT_USER                   ? user
						       : NULL;
	uint32_t space = maps ? maps->serial : UINT32_MAX - in;
	struct cached
		*c = &r->cache[(address ^ address >> CACHE_BITS ^ (uint64_t)space * 0x9e3779b1) &
			       ((1 << CACHE_BITS) - 1)];
	const struct map *m;
	struct call_tree_frame f = { 0 };

	if (c->address == address && c->space == space && c->frame) {
		push(r, c->frame - 1);
		return;
	}
	m = maps ? maps_find(maps, address) : NULL;
	f.flags = in == CONTEXT_KERNEL || in == CONTEXT_GUEST_KERNEL ? CALL_TREE_KERNEL : 0;
	if (in >= CONTEXT_GUEST)
		f.flags |= CALL_TREE_GUEST;
	f.module = m                   ? m->module
		: in == CONTEXT_KERNEL ? r->kernel_module
		: in == CONTEXT_USER   ? r->unknown_module
				       : r->unknown_guest;
	f.address = m ? address - m->start + m->offset : address;
	*c = (struct cached){ address, space, frame_of(r, &f) + 1 };
	push(r, c->frame - 1);
}

static enum context context_of_mode(unsigned misc)
{
	static const enum context of[] = { CONTEXT_USER,   CONTEXT_KERNEL,       CONTEXT_USER,
					   CONTEXT_KERNEL, CONTEXT_GUEST_KERNEL, CONTEXT_GUEST_USER,
					   CONTEXT_USER,   CONTEXT_USER };

	return of[misc & PD_MISC_CPUMODE];
}

/*
 * Adds the callers of a recorded call chain after the sample's own address, which push_stack() has
 * added (`leaf`). The chain's first address in the same context is that of the leaf and is skipped.
 * The two may differ: precise hardware gives the address of the event, but the chain is walked a
 * little later, perhaps already in the kernel's handler, which is then not part of the stack; and a
 * chain may have no kernel part (exclude_callchain_kernel). Returns whether the chain has an
 * address that belongs to the stack. With `branches` the user part comes from the branch records.
 */
static bool push_chain(struct reader *r, const struct perfdata_record *rec, const struct maps *user,
		       bool branches)
{
	const struct perfdata_sample *s = &rec->sample;
	const enum context mode = context_of_mode(rec->misc);
	enum context in = mode;
	bool first = true, user_seen = false, leaf = rec->has & PD_SAMPLE_IP, any = false;

	for (uint64_t i = 0; i < s->n_chain; i++) {
		uint64_t a = s->chain[i];
		bool is_first = first, begins = leaf && !any;

		if (a >= PD_CONTEXT_MAX) {
			in = (enum context)(uint32_t)-a;
			first = true;
			if (in == CONTEXT_USER_DEFERRED) {
				r->out->quality.deferred++;
				push_mark(r, "[user stack not here]");
				any = true;
				break;
			}
			continue;
		}
		if (branches && in == CONTEXT_USER && user_seen)
			break;
		first = false;
		if (begins && in == CONTEXT_KERNEL && mode == CONTEXT_USER)
			continue;
		user_seen |= in == CONTEXT_USER;
		any = true;
		if (!begins || in != mode)
			push_address(r, is_first ? a : a - 1, in, user);
	}
	for (uint64_t i = 0; branches && i < s->n_branches; i++)
		if (s->branches[i].from)
			push_address(r, s->branches[i].from, CONTEXT_USER, user);
	return any || branches;
}

static bool elf_of(void *arg, uint32_t number, struct unwind_file *out)
{
	struct raw *raw = arg;
	struct module *of;

	if (!modules_elf(&raw->modules, number, &of))
		return false;
	*out = (struct unwind_file){ words_at(&raw->modules.words, of->path), of->fd, &of->head };
	return true;
}

static void push_unwound(struct reader *r, const struct perfdata_record *rec,
			 const struct maps *user)
{
	struct tare_error why = TARE_ERROR_INIT;
	uint64_t at[UNWOUND_MAX];
	bool whole = true;
	unsigned n;

	if (!r->unwinder && !r->no_unwinder) {
		r->unwinder = unwinder_new(elf_of, r->raw, &why);
		r->no_unwinder = !r->unwinder;
		if (r->no_unwinder)
			snprintf(r->out->quality.no_unwinding, sizeof(r->out->quality.no_unwinding),
				 "%s", why.what);
	}
	if (!r->unwinder)
		return;
	n = unwind(r->unwinder, user, &rec->sample, at, UNWOUND_MAX, &whole);
	/*
	 * The innermost entry is the interrupted user code: the sample's own address is on the
	 * stack already, unless it is in the kernel.
	 */
	for (unsigned i = r->n && context_of_mode(rec->misc) == CONTEXT_USER; i < n; i++)
		push_address(r, at[i], CONTEXT_USER, user);
	if (n && !whole) {
		r->out->quality.cut++;
		r->out->quality.cut_by_size += unwinder_ran_out(r->unwinder);
		push_mark(r, "[stack cut off]");
	}
}

/*
 * Does the stack end at a caller in user code that is not mapped? Unknown for a process without
 * recorded mappings.
 */
static void count_broken(struct reader *r, const struct perfdata_sample *s, const struct maps *user)
{
	uint64_t n = s->n_chain, at = n;

	while (at > 0 && s->chain[at - 1] < PD_CONTEXT_MAX)
		at--;
	if (!user || n - at < 2 || !at || (enum context)(uint32_t)-s->chain[at - 1] != CONTEXT_USER)
		return;
	r->out->quality.chains++;
	/* 0: an outermost frame may have it */
	r->out->quality.broken += s->chain[n - 1] && !maps_find(user, s->chain[n - 1] - 1);
}

/*
 * The innermost frame is the sample's own address, followed by its callers, so that self counts are
 * the same with and without callers. Only a sample without an address uses the innermost frame of
 * its stack.
 */
static void push_stack(struct reader *r, const struct perfdata_record *rec)
{
	const struct perfdata_sample *s = &rec->sample;
	const struct maps *user = address_spaces_of(&r->address_spaces, rec->pid);
	const struct perfdata_attr *attr = rec->event ? &rec->event->attr : NULL;
	unsigned max = attr && attr->max_stack ? attr->max_stack : 127;
	bool any = false, branches, own = rec->has & PD_SAMPLE_IP;

	r->n = 0;
	if (own)
		push_address(r, s->ip, context_of_mode(rec->misc), user);
	if (!r->opts->flat || !own) {
		branches = rec->has & PD_SAMPLE_BRANCH_STACK && attr &&
			attr->branch_sample_type & BRANCH_CALL_STACK && s->n_branches;
		if (rec->has & PD_SAMPLE_CALLCHAIN) {
			any = push_chain(r, rec, user, branches);
			if (any && r->n >= max) { /* the kernel stopped here */
				r->out->quality.cut++;
				push_mark(r, "[stack cut off]");
			}
		}
		if (rec->has & PD_SAMPLE_STACK_USER && rec->has & PD_SAMPLE_REGS_USER &&
		    (!attr || attr->flags & ATTR_NO_USER_CHAIN || !any))
			push_unwound(r, rec, user);
		r->out->quality.with_stacks |= !r->opts->flat &&
			((rec->has & (PD_SAMPLE_CALLCHAIN | PD_SAMPLE_STACK_USER)) || branches);
	}
	if (r->opts->flat && r->n)
		r->n = 1;
	if (!r->n)
		push_mark(r, "[no address recorded]");
}

static bool has_node(const struct call_tree *s, uint32_t parent, uint32_t frame)
{
	struct call_tree_node node = { parent, frame };

	return set_find(&s->node_set, &node, sizeof(node), sizeof(node)) != SET_NONE;
}

static uint32_t only_leaf(struct reader *r)
{
	uint32_t leaf = r->frame[0];

	r->crowded = true;
	r->n = r->last_n = 0;
	push_mark(r, "[stack not kept: too many different ones]");
	return call_tree_add_node(r->raw->call_tree,
				  call_tree_add_node(r->raw->call_tree, 0, r->frame[0]), leaf);
}

/* The node of the stack, from the root. Beyond nodes_max only the innermost frame is kept. */
static uint32_t node_of(struct reader *r)
{
	uint32_t max = most_kept(r), node = 0;
	struct call_tree *st = r->raw->call_tree;
	unsigned depth = 0;

	while (depth < r->n && depth < r->last_n &&
	       r->last_frame[depth] == r->frame[r->n - 1 - depth])
		node = r->last_node[depth++];
	for (; depth < r->n; depth++) {
		uint32_t frame = r->frame[r->n - 1 - depth];

		if (frame == SET_NONE)
			return SET_NONE;
		if (st->node_set.n >= max && depth + 1 < r->n && !has_node(st, node, frame))
			return only_leaf(r);
		node = call_tree_add_node(st, node, frame);
		if (node == SET_NONE)
			return SET_NONE;
		r->last_frame[depth] = frame;
		r->last_node[depth] = node;
	}
	r->last_n = r->n;
	return node;
}

/* The node of a sample's stack; the stack is built unless it is cached. */
static uint32_t stack_of(struct reader *r, const struct perfdata_record *rec)
{
	const struct perfdata_sample *s = &rec->sample;
	const struct samples_quality *q = &r->out->quality;
	const uint64_t losses = q->cut + q->deferred;
	const struct maps *user;
	struct callchain_cache_key key;
	struct chain *at;
	uint32_t node;

	r->crowded = false;
	/* then the chain is not the whole stack */
	if (rec->has & (PD_SAMPLE_BRANCH_STACK | PD_SAMPLE_STACK_USER)) {
		push_stack(r, rec);
		return node_of(r);
	}
	user = address_spaces_of(&r->address_spaces, rec->pid);
	key = (struct callchain_cache_key){
		.head = { rec->has & PD_SAMPLE_IP ? s->ip : 0, (uintptr_t)rec->event,
			  rec->misc & PD_MISC_CPUMODE,
			  (uint64_t)r->address_spaces.kernel.serial << 32 |
				  (user ? user->serial : 0) },
	};
	if (rec->has & PD_SAMPLE_CALLCHAIN && (!r->opts->flat || !(rec->has & PD_SAMPLE_IP))) {
		key.chain = s->chain;
		key.n = s->n_chain;
		count_broken(r, s, user);
	}
	at = callchain_cache_at(&r->chains, &key);
	node = callchain_cache_node(at, &key);
	if (node != SET_NONE)
		return node;
	push_stack(r, rec);
	node = node_of(r);
	if (node != SET_NONE && !r->crowded && q->cut + q->deferred == losses)
		callchain_cache_keep(at, &key, node);
	return node;
}

/* ---- counts ---- */

static bool is_clock(const struct perfdata_attr *a)
{
	return a->type == 1 && a->config <= 1; /* cpu-clock, task-clock */
}

/*
 * Software events that the kernel raises itself, once per event, while a PMU's interrupt comes
 * late.
 */
static bool is_software(const struct perfdata_attr *a)
{
	enum { SOFTWARE = 1, TRACEPOINT = 2, BREAKPOINT = 5 };

	return a->type == SOFTWARE || a->type == TRACEPOINT || a->type == BREAKPOINT;
}

static bool is_exact_by_name(const struct perfdata_event *ev)
{
	return !strncmp(ev->name, "exact/", 6);
}

/*
 * Does sampling itself add to this event's count? Not to what only the program causes: page faults,
 * its own instructions.
 */
static bool is_raised(const struct perfdata_event *ev)
{
	enum { HARDWARE, INSTRUCTIONS = 1, BRANCHES = 4 };
	const struct perfdata_attr *a = &ev->attr;

	if (is_software(a))
		return is_clock(a);
	return !is_exact_by_name(ev) &&
		!(a->type == HARDWARE && a->flags & PD_ATTR_EXCLUDE_KERNEL &&
		  (a->config == INSTRUCTIONS || a->config == BRANCHES));
}

static void say_how_often(struct call_tree_asked *c, const struct perfdata_event *ev)
{
	enum { NS_PER_S = 1000000000 };
	const struct perfdata_attr *a = &ev->attr;

	c->costs = is_raised(ev);
	c->every = !(a->flags & PD_ATTR_FREQ) && a->period == 1 &&
		(is_software(a) ? !is_clock(a) : is_exact_by_name(ev));
	c->repeats = is_exact_by_name(ev);
	c->random = a->config2 == EXACT_AT_RANDOM;
	c->by_code = a->config1 == EXACT_BY_CODE;
	if (a->flags & PD_ATTR_FREQ)
		c->rate_hz = a->period;
	else
		c->period = a->period;
	if (is_clock(a) && c->rate_hz)
		c->period = NS_PER_S / c->rate_hz;
	else if (is_clock(a) && c->period)
		c->rate_hz = NS_PER_S / c->period;
}

static uint32_t column_of(struct reader *r, const struct perfdata_event *ev)
{
	size_t n = r->raw->n_columns;

	if (!array_reserve(&r->raw->column, &r->raw->n_columns, ev->index + 1,
			   sizeof(*r->raw->column)))
		return SET_NONE;
	for (; n < r->raw->n_columns; n++)
		r->raw->column[n] = SET_NONE;
	if (r->raw->column[ev->index] == SET_NONE) {
		uint32_t c = call_tree_add_column(r->raw->call_tree, ev->name,
						  is_clock(&ev->attr) ? "ns" : "");

		if (c == SET_NONE)
			return SET_NONE;
		say_how_often(&r->raw->call_tree->column[c].asked, ev);
		r->raw->column[ev->index] = c;
	}
	return r->raw->column[ev->index];
}

static int count(struct reader *r, const struct perfdata_record *rec, uint32_t column,
		 uint32_t node, uint32_t task, uint64_t amount)
{
	struct call_tree_row row = { node, task, column, r->trace, 1, amount };
	int ret = call_tree_count(r->raw->call_tree, &row, (double)amount * (double)amount, r->err);

	if (ret == 0 && r->opts->sample_log) {
		struct logged_sample m = {
			rec->time, amount, node,
			task,      column, rec->has & PD_SAMPLE_CPU ? rec->cpu : UINT32_MAX,
			r->trace,  0
		};

		ret = sample_log_add(&r->raw->call_tree->sample_log, &m, r->err);
	}
	return ret;
}

/* How much a counter of a group has advanced since its last value; false if it has not. */
static bool grown(struct reader *r, const struct perfdata_event *ev, uint32_t tid,
		  struct perfdata_value v, uint64_t *by)
{
	/* An inherited counter has a separate value per thread under one id. */
	struct counter key = { v.id, ev->attr.flags & ATTR_INHERIT ? tid : 0, 0, 0 };
	uint32_t at = set_add(&r->counters, &key, sizeof(key), 16, NULL);
	struct counter *c;

	if (at == SET_NONE)
		return false;
	c = (struct counter *)r->counters.item + at;
	if (v.value < c->value) {
		r->out->quality.backwards++;
		*by = 0;
	} else {
		*by = v.value - c->value;
	}
	c->value = v.value;
	return *by > 0;
}

/* For a hardware event, ignoring the bit that says the address is exact. */
static bool skids(const struct perfdata_record *rec)
{
	return !is_software(&rec->event->attr) && !(rec->misc & PD_MISC_14);
}

/*
 * A generic event without precise sampling whose addresses are exact all the same: only the exact
 * engine has such events.
 */
static void note_exact(struct call_tree_asked *c, const struct perfdata_record *rec)
{
	const struct perfdata_attr *a = &rec->event->attr;

	if (a->type != 0 || a->flags >> PD_ATTR_PRECISE_SHIFT & 3 || !(rec->misc & PD_MISC_14))
		return;
	c->repeats = true;
	c->every = !(a->flags & PD_ATTR_FREQ) && a->period == 1;
}

/* Counts every member of the group by its advance since the previous sample. */
static int count_group(struct reader *r, const struct perfdata_record *rec, uint32_t node,
		       uint32_t task)
{
	const struct perfdata_read *read = &rec->sample.read;
	int ret = 0;

	for (uint64_t i = 0; ret == 0 && i < read->n; i++) {
		struct perfdata_value v = perfdata_read_at(read, i);
		const struct perfdata_event *ev = perfdata_event_of(r->file, v.id);
		bool leader = ev && ev == rec->event;
		uint64_t by;
		uint32_t column;

		if (!ev || !grown(r, ev, rec->tid, v, &by))
			continue;
		column = column_of(r, ev);
		if (column == SET_NONE)
			return nomem(r);
		r->raw->call_tree->column[column].read |= !leader;
		r->raw->call_tree->column[column].skids |= skids(rec);
		note_exact(&r->raw->call_tree->column[column].asked, rec);
		ret = count(r, rec, column, node, task, by);
	}
	return ret;
}

static bool passes(const struct reader *r, const struct perfdata_record *rec, const char *comm)
{
	const struct samples_filter *f = &r->opts->filter;

	return (f->pid < 0 || (uint32_t)f->pid == rec->pid) &&
		(f->tid < 0 || (uint32_t)f->tid == rec->tid) &&
		(f->cpu < 0 || (rec->has & PD_SAMPLE_CPU && (uint32_t)f->cpu == rec->cpu)) &&
		((!f->from_ns && !f->to_ns) ||
		 (rec->has & PD_SAMPLE_TIME && rec->time >= f->from_ns &&
		  rec->time <= (f->to_ns ? f->to_ns : UINT64_MAX))) &&
		(!f->comm || fnmatch(f->comm, comm, 0) == 0);
}

static int take_sample(struct reader *r, const struct perfdata_record *rec)
{
	struct samples_quality *q = &r->out->quality;
	struct thread *t;
	uint32_t node, column;
	uint64_t amount;

	q->samples++;
	if (rec->bad || !rec->event)
		return 0;
	t = thread_of(r, rec->pid, rec->tid);
	if (!t || t->comm == WORDS_NONE)
		return nomem(r);
	if (!passes(r, rec, call_tree_name(r->raw->call_tree, t->comm)))
		return 0;
	if (t->task == SET_NONE)
		t->task = call_tree_add_task_of(
			r->raw->call_tree,
			&(struct call_tree_task){ t->pid, t->tid, t->comm, t->again });
	t->sampled = true;
	node = stack_of(r, rec);
	q->unkept += r->crowded;
	if (node == SET_NONE || t->task == SET_NONE)
		return nomem(r);
	if (traced_sample(&r->traced, r->file, rec, most_kept(r), &r->trace) < 0)
		return nomem(r);
	q->used++;
	if (rec->has & PD_SAMPLE_TIME) {
		if (!q->first_ns || rec->time < q->first_ns)
			q->first_ns = rec->time;
		if (rec->time > q->last_ns)
			q->last_ns = rec->time;
	}
	if (rec->has & PD_SAMPLE_READ && rec->sample.read.format & PD_READ_GROUP &&
	    rec->sample.read.format & PD_READ_ID)
		return count_group(r, rec, node, t->task);
	column = column_of(r, rec->event);
	if (column == SET_NONE)
		return nomem(r);
	r->raw->call_tree->column[column].skids |= skids(rec);
	note_exact(&r->raw->call_tree->column[column].asked, rec);
	amount = rec->sample.period;
	if (!amount && !(rec->has & PD_SAMPLE_PERIOD)) {
		q->weightless = true;
		amount = 1;
	}
	return count(r, rec, column, node, t->task, amount);
}

static int take_record(struct reader *r, const struct perfdata_record *rec)
{
	if (rec->type == PD_RECORD_SAMPLE)
		return take_sample(r, rec);
	if (rec->bad)
		return 0;
	switch (rec->type) {
	case PD_RECORD_MMAP:
	case PD_RECORD_MMAP2:
	case PD_RECORD_KSYMBOL:
		return take_mapping(r, rec);
	case PD_RECORD_COMM:
		return take_comm(r, rec);
	case PD_RECORD_FORK:
		return take_fork(r, rec);
	case PD_RECORD_BUILD_ID:
		return mapped_build_id(&r->raw->modules, rec, r->err);
	/* of a pipe: the host's name decides which files unwinding may use */
	case PD_RECORD_FEATURE:
		return mapped_build_ids(&r->raw->modules, r->file, r->err);
	}
	return 0;
}

/*
 * Was a clock asked for a period below 10 us? The kernel writes that period into each sample, but
 * its timer never fires that often. Source: linux kernel/events/core.c,
 * perf_swevent_start_hrtimer().
 */
static bool short_clock(const struct perfdata *file)
{
	enum {
		SOFTWARE = 1,
		CPU_CLOCK = 0,
		TASK_CLOCK = 1,
		LEAST_NS = 10000,
		NS_PER_S = 1000000000
	};
	const struct perfdata_event *e;

	for (size_t i = 0; (e = perfdata_event_at(file, i)); i++) {
		uint64_t ns = e->attr.period;

		if (e->attr.type != SOFTWARE ||
		    (e->attr.config != CPU_CLOCK && e->attr.config != TASK_CLOCK) || !ns)
			continue;
		if (e->attr.flags & PD_ATTR_FREQ)
			ns = NS_PER_S / ns;
		if (ns < LEAST_NS)
			return true;
	}
	return false;
}

static int check_kept(const struct reader *r, const char *path)
{
	const struct call_tree *s = r->raw->call_tree;
	size_t bytes = set_memory(&r->threads, sizeof(struct thread)) +
		set_memory(&r->counters, sizeof(struct counter)) +
		set_memory(&s->task_set, sizeof(struct call_tree_task)) +
		set_memory(&s->row_set, sizeof(struct call_tree_row)) +
		set_memory(&s->trace_set, sizeof(struct call_tree_trace)) + words_memory(&s->names);

	return memory_limit_check(&r->raw->modules, bytes, path, r->read, r->err);
}

static int read_all(struct reader *r, const char *path)
{
	struct tare_error damage = TARE_ERROR_INIT;
	struct samples_quality *q = &r->out->quality;
	const struct perfdata_loss *loss = perfdata_loss(r->file);
	struct perfdata_record rec;
	int ret, taken = mapped_build_ids(&r->raw->modules, r->file, r->err);

	while (taken == 0 && (ret = perfdata_next_ordered(r->file, &rec, &damage)) == 1) {
		if (rec.offset > r->read)
			r->read = rec.offset;
		taken = take_record(r, &rec);
		if (taken == 0)
			taken = check_kept(r, path);
	}
	if (taken == -EFBIG && r->err) { /* the samples before the damage are worth showing */
		damage = *r->err;
		*r->err = (struct tare_error)TARE_ERROR_INIT;
	} else if (taken < 0) {
		return taken;
	}
	if (damage.code || !perfdata_whole(r->file, &damage))
		snprintf(q->damage, sizeof(q->damage), "%s", damage.what);
	q->short_clock = short_clock(r->file);
	q->undecodable = loss->undecodable;
	q->unattributed = loss->unattributed;
	q->broke_off = perfdata_file(r->file)->broke_off;
	q->lost = loss->lost;
	q->lost_samples = loss->lost_samples;
	q->throttled = loss->throttled;
	q->disordered = loss->disordered;
	ret = mapped_build_ids(&r->raw->modules, r->file, r->err); /* in a pipe they are records */
	for (uint32_t i = 0; i < r->raw->modules.key.n; i++)
		if (!r->raw->modules.module[i].verified)
			/* opened for unwinding, before all build ids were known */
			modules_close(&r->raw->modules, i);
	return ret;
}

/* What the file says about the exact engine's events. */
static void note_totals(struct reader *r)
{
	const struct perfdata_features *f = perfdata_features(r->file);

	for (size_t i = 0; i < r->raw->n_columns; i++) {
		struct call_tree_column *c = r->raw->column[i] == SET_NONE
			? NULL
			: &r->raw->call_tree->column[r->raw->column[i]];

		if (!c)
			continue;
		c->has_total = i < f->n_exact_total && f->exact_total[i] != PD_NO_TOTAL;
		c->total = c->has_total ? f->exact_total[i] : 0;
	}
}

/* ---- counts of the exact engine ---- */

/* Why samples must be used; NULL: counts can be. */
static const char *not_counted(const struct reader *r)
{
	const struct samples_options *o = r->opts;
	const struct samples_filter *f = &o->filter;

	if (f->comm || f->from_ns || f->to_ns || f->pid >= 0 || f->tid >= 0 || f->cpu >= 0)
		return "filters by command, process, thread, CPU or time need samples";
	if (o->comms_apart && r->comms.n > 1)
		return "rows are by command, and the recording has several; --sort module,function has exact amounts";
	if (o->threads_apart && r->threads.n > 1)
		return "rows are by process or thread, and the recording has several; --sort module,function has exact amounts";
	if (r->out->quality.unkept)
		return "not every stack was kept";
	return (o->sample_log && !o->log_with_counts) || o->n_trace
		? "single samples were requested"
		: NULL;
}

static int use_counted(struct reader *r)
{
	const struct exact_places *p = &perfdata_features(r->file)->places;
	struct samples_counted *c = &r->out->counted;
	const struct thread *first = r->threads.item;
	const struct perfdata_event *ev;
	struct tare_error why = TARE_ERROR_INIT;

	c->there = p->events > 0;
	c->comms = r->raw->comms = r->comms.n;
	if (!c->there || !r->opts->counted)
		return 0;
	c->why = not_counted(r);
	for (size_t i = 0; !c->why && i < p->events; i++) {
		ev = perfdata_event_at(r->file, i);
		if (!ev || ev->index != i) {
			c->why = "its events differ from those that were counted";
			break;
		}
		bool has_samples = i < r->raw->n_columns && r->raw->column[i] != SET_NONE;

		if (column_of(r, ev) == SET_NONE)
			return nomem(r);
		if (!has_samples) /* otherwise it would have been read with the first */
			r->raw->call_tree->column[column_of(r, ev)].read = i > 0 &&
				ev->attr.sample_type & PD_SAMPLE_READ;
	}
	if (!c->why && !perfdata_event_at(r->file, p->events) && r->threads.n) {
		int ret = counted_place(r->raw, p, &why);

		c->used = ret == 0;
		c->why = ret == -EBADMSG ? "its counts are of code in no file" : NULL;
		r->raw->alone = (struct call_tree_task){ first->pid, first->tid, first->comm, 0 };
		return ret == -EBADMSG ? 0 : ret < 0 ? nomem(r) : 0;
	}
	return 0;
}

/* Without a number of lost samples, every lost record may have been one. */
static void note_loss(struct samples *out)
{
	const struct samples_quality *q = &out->quality;
	uint64_t lost = q->lost > q->lost_samples ? q->lost : q->lost_samples;
	bool whole = !q->throttled && !q->undecodable && !q->unattributed && !q->broke_off &&
		!q->damage[0];

	for (uint32_t c = 0; c < out->call_tree->columns; c++)
		out->call_tree->column[c].asked.every &= whole;
	for (uint32_t c = 0; lost && c < out->call_tree->columns; c++)
		out->call_tree->column[c].lost = (double)lost / (double)(lost + q->samples);
}

int samples_read(struct samples *out, const char *path, const struct samples_options *opts,
		 struct tare_error *err)
{
	struct raw raw = { .modules.opts = { opts->symfs, opts->kallsyms, opts->home,
					     opts->force_names } };
	struct reader *r = calloc(1, sizeof(*r));
	struct stat st;
	int ret = -ENOMEM;

	*out = (struct samples){ 0 };
	raw.call_tree = r ? call_tree_new(err) : NULL;
	if (!raw.call_tree) {
		tare_fail_nomem(err);
		goto out;
	}
	r->opts = opts;
	r->out = out;
	r->raw = &raw;
	r->err = err;
	r->traced = (struct traced){ .key = opts->trace,
				     .n_keys = opts->n_trace,
				     .call_tree = raw.call_tree };
	r->kernel_module = mapped_kernel(&raw.modules);
	r->unknown_module = modules_add(&raw.modules, MODULE_UNKNOWN, "[unknown]", NULL, 0, 0);
	r->unknown_guest = modules_add(&raw.modules, MODULE_UNKNOWN, "[guest]", NULL, 0, 0);
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		raw.modules.ended_s = st.st_mtim.tv_sec;
	out->file = r->file = perfdata_open(path, NULL, err);
	ret = r->file ? read_all(r, path) : -(err && err->code ? err->code : EIO);
	if (ret == 0) {
		ret = use_counted(r);
	}
	if (ret == 0) {
		note_totals(r);
		raw.main = main_module(r);
		ret = samples_name(out, &raw, opts, err);
	}
	if (ret == 0 && opts->n_trace && !opts->trace_if_any)
		ret = traced_columns(&r->traced, r->file, out->call_tree, &out->field,
				     &out->n_fields, err);
	if (ret == 0)
		note_loss(out);
out:
	if (r) {
		unwinder_free(r->unwinder);
		address_spaces_free(&r->address_spaces);
		callchain_cache_free(&r->chains);
		set_free(&r->threads);
		set_free(&r->mains);
		set_free(&r->counters);
		set_free(&r->comms);
		traced_free(&r->traced);
	}
	free(r);
	free(raw.column);
	free(raw.place_frame);
	free(raw.place_module);
	if (ret == 0 && (opts->detail == SAMPLES_ADDRESS || opts->places) &&
	    (out->modules = malloc(sizeof(*out->modules))))
		*out->modules = raw.modules;
	else
		modules_free(&raw.modules);
	call_tree_free(raw.call_tree);
	if (ret < 0)
		samples_free(out);
	return ret;
}

void samples_free(struct samples *s)
{
	for (size_t i = 0; i < s->n_unnamed; i++) {
		free(s->unnamed[i].module);
		free(s->unnamed[i].why);
		free(s->unnamed[i].remedy);
	}
	free(s->unnamed);
	for (size_t i = 0; i < s->n_inlined; i++) {
		free(s->inlined[i].function);
		free(s->inlined[i].into);
	}
	free(s->inlined);
	for (size_t i = 0; i < s->n_by_name; i++)
		free(s->by_name[i].module);
	free(s->by_name);
	free(s->place);
	free(s->field);
	if (s->modules)
		modules_free(s->modules);
	free(s->modules);
	call_tree_free(s->call_tree);
	perfdata_close(s->file);
	*s = (struct samples){ 0 };
}

const struct samples_by_name *samples_by_name(const struct samples *s, const char *module)
{
	for (size_t i = 0; i < s->n_by_name; i++)
		if (!strcmp(s->by_name[i].module, module))
			return &s->by_name[i];
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * Creation, counting and end of threads and processes, and exec. Each thread has a slot on the
 * shared state, in which a child finds the initial values of its registers.
 */
#include <asm/unistd.h>
#include <asm/prctl.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include "exact/engine/engine.h"

enum { TAKEN = PROCESS_TAKEN };
_Static_assert(PROCESS_TAKEN == (int)THREAD_TAKEN, "take() knows one");

enum { WAIT_MS = 100, TURNS_WAIT_MS = 5000, KINDS_FEW = 1024 };

#define CLEAR_SIGHAND 0x100000000ull /* CLONE_CLEAR_SIGHAND, from Linux 5.5 */

void ring(void)
{
	__atomic_fetch_add(&eng.shared->bell, 1, __ATOMIC_SEQ_CST);
	futex_wake(&eng.shared->bell);
}

bool supervisor_gone(void)
{
	return eng.shared->gone || sys(__NR_kill, eng.supervisor, 0) == -ESRCH;
}

/*
 * Allocate a free entry of an array of states; -1: none. It is not live yet: the slot still
 * contains its predecessor's data, which the supervisor would take for current.
 */
static int take_entry(volatile uint32_t *states, size_t stride, unsigned n, volatile uint32_t *top)
{
	for (unsigned i = 0; i < n; i++) {
		volatile uint32_t *s = (volatile uint32_t *)((volatile uint8_t *)states +
							     i * stride);
		uint32_t seen = 0, t;

		if (*s ||
		    !__atomic_compare_exchange_n(s, &seen, TAKEN, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		for (t = *top; t < i + 1;)
			if (__atomic_compare_exchange_n(top, &t, i + 1, false, __ATOMIC_ACQ_REL,
							__ATOMIC_RELAXED))
				break;
		return (int)i;
	}
	return -1;
}

/* The supervisor frees the slots of dead processes; if none is free, wait for it. */
static int take_or_wait(volatile uint32_t *states, size_t stride, unsigned n,
			volatile uint32_t *top, const char *what)
{
	for (int tries = 0; tries < 100; tries++) {
		int i = take_entry(states, stride, n, top);

		if (i >= 0)
			return i;
		ring();
		sys(__NR_sched_yield);
		futex_wait(&eng.shared->gone, 0, WAIT_MS);
		if (supervisor_gone())
			break;
	}
	refuse(what, n);
}

struct thread *thread_new(struct process *p, uint64_t stable_id)
{
	int i = take_or_wait(eng.shared->thread_states, sizeof(uint32_t), THREADS,
			     &eng.shared->threads_top,
			     "more threads at a time than the exact engine follows:");
	struct thread *t = thread_at((uint32_t)i);

	*t = (struct thread){
		.self = t,
		.stack = (uint64_t)t + STACK_TOP,
		.dispatch = (uint64_t)engine_dispatch,
		.miss = (uint64_t)engine_miss,
		.syscall = (uint64_t)engine_syscall,
		.tail = eng.tail,
		.process = (uint32_t)(p - process_at(0)),
		.not_process = ~(uint32_t)(p - process_at(0)),
		.index = (uint32_t)i,
		.born = __atomic_fetch_add(&eng.shared->births, 1, __ATOMIC_ACQ_REL),
		.stable_id = stable_id,
		.alt_flags = 2, /* SS_DISABLE */
		.space = eng.space,
	};
	period_first(t);
	turn_first(t);
	__atomic_fetch_add(&p->threads, 1, __ATOMIC_ACQ_REL);
	__atomic_store_n(&eng.shared->thread_states[i], THREAD_LIVE, __ATOMIC_RELEASE);
	return t;
}

/* Add the thread's counts to its process. */
static void fold(struct thread *t)
{
	struct process *p = process_at(t->process);
	const uint32_t lineage = __atomic_load_n(&p->lineage, __ATOMIC_RELAXED),
		       top = lineage_top(lineage), *numbers = kind_numbers(lineage);
	const struct block_facts *kinds = kinds_of(lineage);
	volatile uint64_t *c = counters_of(t);
	int64_t sums[EXACT_CLASSES] = { 0 },
		few[KINDS_FEW] = { 0 }; /* by class; executions, by kind */
	uint64_t check;

	for (uint32_t i = 0; i < top; i++) {
		uint32_t kind = __atomic_load_n(&numbers[i], __ATOMIC_RELAXED) & ~COUNTER_APART;
		uint64_t n = c[i];

		if (t->has_seen)
			counters_seen(t)[i] = 0;
		if (!n)
			continue;
		if (kind >= COUNTERS_MAX)
			refuse_overwritten();
		if (kind < KINDS_FEW)
			few[kind] += (int64_t)n;
		else
			facts_times(sums, &kinds[kind], (int64_t)n);
		if (eng.mode & COUNT_PROFILE)
			__atomic_fetch_add(&lineage_sums(lineage)[i], n, __ATOMIC_RELAXED);
		c[i] = 0;
	}
	for (uint32_t i = 0; i < KINDS_FEW; i++)
		if (few[i])
			facts_times(sums, &kinds[i], few[i]);
	t->count = 0;
	if (t->settled[EXACT_INSTRUCTIONS])
		__atomic_fetch_add(&eng.shared->unplaced, t->settled[EXACT_INSTRUCTIONS],
				   __ATOMIC_RELAXED);
	/* not computed from t->settled: the program may have overwritten it */
	check = sums_check(sums) + t->settled_check;
	for (int k = 0; k < EXACT_CLASSES; k++)
		sums[k] += t->settled[k];
	note_ended(eng.shared, p,
		   &(struct ended_thread){ .born = t->born,
					   .stable_id = t->stable_id,
					   .tid = t->tid,
					   .tsc = t->ended_at,
					   .path = t->path,
					   .check = check },
		   sums);
	for (int k = 0; k < EXACT_CLASSES; k++)
		if (sums[k])
			__atomic_fetch_add(&p->done[k], sums[k], __ATOMIC_RELAXED);
	__atomic_fetch_add(&p->done_check, check, __ATOMIC_RELAXED);
}

/*
 * A thread that is killed while it folds loses counts. So a thread that kills others, by
 * exit_group, an exec, a deadly signal or kill(2), waits until none of them folds, and none begins.
 */
enum { HOLD_WAITS = 10000 };

void folds_hold(struct process *p)
{
	__atomic_store_n(&p->hold_folds, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < HOLD_WAITS && __atomic_load_n(&p->folding, __ATOMIC_SEQ_CST); i++)
		futex_wait(&p->hold_folds, 1, 1);
}

static void folds_release(struct process *p)
{
	__atomic_store_n(&p->hold_folds, 0, __ATOMIC_SEQ_CST);
}

/* Another counted process, by the id that kill(2) takes; NULL: there is none. */
static struct process *other_process(const struct thread *t, int32_t pid)
{
	for (uint32_t i = 0; pid > 0 && i < shared_processes(eng.shared); i++) {
		struct process *p = process_at(i);

		if (i != t->process && p->state == PROCESS_LIVE && !p->foreign && p->pid == pid)
			return p;
	}
	return NULL;
}

/* kill(2) or tgkill(2) with SIGKILL. False: not of another counted process, and not done. */
bool kill_process(struct thread *t)
{
	const uint64_t *r = t->regs;
	struct process *p = other_process(t, (int32_t)r[RDI]);
	long ret;

	if (!p)
		return false;
	folds_hold(p);
	ret = sys(r[RAX], r[RDI], r[RSI], r[RDX]);
	if (ret < 0) /* otherwise it dies, wherever its threads are */
		folds_release(p);
	else
		turn_killed(t, p);
	finish(t, ret);
	return true;
}

/* The supervisor reports a process that is killed from outside while a thread is in here. */
static void fold_and_leave(struct thread *t)
{
	struct process *p = process_at(t->process);

	for (int i = 0;; i++) {
		__atomic_fetch_add(&p->folding, 1, __ATOMIC_SEQ_CST);
		/* a thread that holds them for longer must not keep the process from ending */
		if (i == HOLD_WAITS || !__atomic_load_n(&p->hold_folds, __ATOMIC_SEQ_CST))
			break;
		__atomic_fetch_sub(&p->folding, 1, __ATOMIC_SEQ_CST);
		futex_wait(&p->hold_folds, 1, 1);
	}
	fold(t);
	__atomic_store_n(&eng.shared->thread_states[t->index], THREAD_DONE, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&p->folding, 1, __ATOMIC_SEQ_CST);
}

/*
 * Ends the process's last thread. Once its process has ended, the slot belongs to the supervisor.
 */
static void __attribute__((noreturn)) end_last(struct thread *t, long status, long nr)
{
	thread_end(status, &process_at(t->process)->state, PROCESS_ENDED, nr);
}

static void unpin_thread(struct thread *t)
{
	if (!(t->after & AFTER_UNPIN))
		return;
	lock();
	unpin(t);
	unlock();
}

/* The thread's own exit; never returns. */
void end_thread(struct thread *t, long status)
{
	struct process *p = process_at(t->process);

	t->ended_at = read_ticks();
	clock_ends(t);
	block_signals();
	sample_take(t, 0);
	unpin_thread(t);
	if (p->threads == 1) {
		files_unchanged(0, ~0ull);
		snapshot_end(t);
	}
	fold_and_leave(t);
	if (__atomic_sub_fetch(&p->threads, 1, __ATOMIC_ACQ_REL) == 0) {
		turn_ends(t, true);
		end_last(t, status, __NR_exit);
	}
	turn_ends(t, false);
	thread_end(status, &eng.shared->thread_states[t->index], THREAD_FREE, __NR_exit);
}

/* One of several threads, killed by a seccomp filter: the kernel ends it and sets its status. */
void end_killed_thread(struct thread *t)
{
	block_signals();
	fold_and_leave(t);
	__atomic_sub_fetch(&process_at(t->process)->threads, 1, __ATOMIC_ACQ_REL);
	seccomp_doom();
	turn_ends(t, false);
	thread_end(0, &eng.shared->thread_states[t->index], THREAD_FREE, __NR_exit);
}

/*
 * exit_group. A process with one thread stores its sums and releases its slot. Otherwise the kernel
 * ends every thread wherever it is, and the supervisor adds up their counts.
 */
void end_process(struct thread *t, long status)
{
	struct process *p = process_at(t->process);

	t->ended_at = read_ticks();
	clock_ends(t);
	sample_take(t, 0);
	files_unchanged(0, ~0ull);
	snapshot_end(t);
	p->ending = ENDING_EXIT;
	if (p->threads != 1) {
		folds_hold(p);
		turn_ends(t, true);
		return;
	}
	block_signals();
	fold_and_leave(t);
	turn_ends(t, true);
	end_last(t, status, __NR_exit_group);
}

/* ---- clone ---- */

static struct process *process_new(const struct process *parent, uint64_t stable_id)
{
	struct process *table = process_at(0);
	int i = take_or_wait(&table->state, sizeof(struct process), PROCESSES,
			     &eng.shared->processes_top,
			     "more processes at a time than the exact engine follows:");
	struct process *p = &table[i];

	p->parent = (uint32_t)(parent - table);
	p->lineage = parent->lineage;
	__atomic_fetch_add(&eng.shared->lineage_users[p->lineage], 1, __ATOMIC_ACQ_REL);
	p->serial = __atomic_fetch_add(&eng.shared->serials, 1, __ATOMIC_ACQ_REL);
	p->stable_id = stable_id;
	p->threads = 0;
	p->refused = 0;
	p->compared = p->stepped = 0;
	p->n_own = 0;
	p->pid = 0;
	p->parent_pid = parent->pid;
	p->foreign = parent->foreign || parent->makes_foreign;
	p->makes_foreign = p->foreign;
	memcpy(p->name, parent->name, sizeof p->name);
	p->mode = parent->mode;
	p->shared_at = parent->shared_at;
	p->shared_size = parent->shared_size;
	p->limited = parent->limited;
	memcpy(p->limits, parent->limits, sizeof p->limits);
	memcpy(p->mapped, parent->mapped, sizeof p->mapped);
	memset(p->done, 0, sizeof p->done);
	p->done_check = 0;
	memcpy(p->actions, parent->actions, sizeof p->actions);
	p->kept.which = 0;
	p->renamed = parent->renamed;
	p->dying = DYING_NOT;
	p->dying_tid = 0;
	p->ending = ENDING_NOT;
	p->folding = p->hold_folds = 0;
	p->has_timer = 0;
	p->snapshot = p->save = 0;
	__atomic_store_n(&p->state, PROCESS_LIVE, __ATOMIC_RELEASE);
	return p;
}

/*
 * A child that shares its parent's memory without thread-local storage of its own, as by vfork(),
 * sees the running counts that its parent has saved. The difference of the child's and the parent's
 * counts is meaningless, so the child's starts in another range, too far away to be reached by
 * counting.
 */
static void count_apart(struct thread *n, const struct thread *parent)
{
	enum { LOW = 50, RANGES = 1 << 13 };

	n->count = (parent->count & ((1ll << LOW) - 1)) +
		(((int64_t)n->born % (RANGES - 1) + 1) << LOW);
}

struct clone_wish {
	uint64_t flags;
	uint64_t stack; /* 0: the parent's */
};

static struct clone_wish wish_of(const struct thread *t, long nr)
{
	const uint64_t *r = t->regs;
	uint64_t args[8] = { 0 };

	switch (nr) {
	case __NR_clone:
		return (struct clone_wish){ r[RDI], r[RSI] };
	case __NR_vfork:
		return (struct clone_wish){ CLONE_VM | CLONE_VFORK, 0 };
	case __NR_clone3:
		/* flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls */
		if (copy_bytes(args, (const void *)r[RDI], sizeof args) < sizeof args)
			return (struct clone_wish){ 0, 0 };
		return (struct clone_wish){ args[0], args[5] ? args[5] + args[6] : 0 };
	default:
		return (struct clone_wish){ 0, 0 };
	}
}

void fork_like(struct thread *t, long nr)
{
	/*
	 * These read the program's memory, which may be unmapped: do it before SIGSEGV is blocked.
	 */
	struct clone_wish w = wish_of(t, nr);
	uint64_t mask;

	t->after = kernel_writes(t) ? AFTER_UNPIN : AFTER_NOTHING;
	mask = block_signals();
	if (t->pending) {
		set_signal_mask(mask);
		undo_syscall(t);
		return;
	}

	struct process *p = process_at(t->process);
	uint64_t stable_id = stable_id_of(t->stable_id, ++t->children);
	struct thread *n;

	if (!(w.flags & CLONE_THREAD)) {
		p = process_new(p, stable_id);
		p->foreign |= !!(w.flags & CLONE_NEWPID);
		eng.lent |= (w.flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM;
	}
	n = thread_new(p, stable_id);
	memcpy(n->regs, t->regs, sizeof n->regs);
	n->regs[RAX] = 0;
	n->regs[RCX] = t->target;
	n->regs[R11] = t->flags;
	if (w.stack)
		n->regs[RSP] = w.stack;
	n->flags = t->flags;
	n->target = t->target;
	n->user_gs = t->user_gs;
	n->rseq = w.flags & CLONE_VM ? 0 : t->rseq;
	n->mask = t->mask;
	n->filter = t->filter;
	n->cpus = t->cpus;
	n->cpu = t->cpu;
	n->clear_handlers = !!(w.flags & CLEAR_SIGHAND);
	n->resume_mask = mask;
	n->started = (uint32_t)(w.flags >> 8 & 1); /* CLONE_VM */
	n->begins_process = !(w.flags & CLONE_THREAD);
	if (!(w.flags & CLONE_VM) || (w.flags & CLONE_VFORK)) {
		n->alt_sp = t->alt_sp;
		n->alt_size = t->alt_size;
		n->alt_flags = t->alt_flags;
	}
	if ((w.flags & (CLONE_VM | CLONE_SETTLS)) == CLONE_VM)
		count_apart(n, t);
	clock_child(t, n);
	n->ordered = t->ordered && !p->foreign;
	if (n->ordered)
		turn_queue(n);
	else if (t->ordered)
		turns_beyond(TURNS_UNCOUNTED);
	t->child = n;
	t->child_serial = p->serial;
	t->resume_mask = mask;
	t->scratch2 = t->regs[RBX];
	/* Ensure that no thread is changing our memory while a forked child gets its copy. */
	if (!(w.flags & CLONE_VM)) {
		t->after |= AFTER_UNLOCK;
		lock();
		shared_passed_on(true);
		counters_meet();
	}
	if (n->ordered && turns_on(t) && (w.flags & CLONE_VFORK))
		turn_lend(t, n);
	t->jump = (uint64_t)clone_go;
}

void clone_done(struct thread *t)
{
	struct thread *n = t->child;
	struct process *p = process_at(n->process);

	t->regs[RBX] = t->scratch2;
	if (t->after & AFTER_UNLOCK)
		unlock();
	t->after &= AFTER_UNPIN; /* valid until the next call */
	if ((long)t->regs[RAX] < 0) {
		if (n->ordered)
			turn_lent(t, n);
		t->children--;
		__atomic_sub_fetch(&p->threads, 1, __ATOMIC_ACQ_REL);
		if (n->process != t->process) {
			__atomic_sub_fetch(&eng.shared->lineage_users[p->lineage], 1,
					   __ATOMIC_ACQ_REL);
			p->state = PROCESS_FREE;
		}
		eng.shared->thread_states[n->index] = THREAD_FREE;
	} else if (p->foreign && p->serial == t->child_serial && !process_at(t->process)->foreign) {
		p->pid = (int32_t)t->regs[RAX]; /* the child does not know this number itself */
	} else if (n->ordered && turn_is_own(t)) {
		/* it waits for its turn, and may be killed before it stores them itself */
		n->tid = (int32_t)t->regs[RAX];
		if (n->process != t->process)
			p->pid = n->tid;
	}
	lock();
	/* a child in the same memory may have mapped more memory for the engine */
	limits_of(process_at(t->process));
	unlock();
	set_signal_mask(t->resume_mask);
	t->edge = 0;
	dispatch(t);
}

/* The first code of a new thread: GS and the stack are its own, signals are blocked. */
void child_start(struct thread *t)
{
	struct process *p = process_at(t->process);

	if (!t->started) { /* its memory is a copy */
		eng.process = p;
		eng.lock = 0;
		eng.space = t->space = p->serial;
		unpin_others();
		shared_forked();
		no_gain_for_child();
		eng.locks_later = 0; /* Source: mlockall(2), "Notes" */
		limits_of(p);
		own_show(p);
		eng.maps_inherited = eng.shared->maps_opened;
		if (eng.alias)
			retire_all(); /* its parent still writes to that code */
	}
	t->tid = (int32_t)sys(__NR_gettid);
	if (!p->pid && !p->foreign)
		p->pid = (int32_t)sys(__NR_getpid);
	set_alt_stack(t);
	if (t->ordered)
		turn_take(t);
	if (t->clear_handlers)
		signals_cleared(t);
	set_signal_mask(t->resume_mask);
	if (t->begins_process)
		note_happening(eng.shared, HAPPENED_FORK,
			       &(struct happening){ .serial = p->serial,
						    .parent = process_at(p->parent)->serial,
						    .pid = p->pid,
						    .tsc = read_ticks() });
	name_born(t);
	t->edge = 0;
	dispatch(t);
}

/* ---- exec ---- */

/* As in src/base/program.c: the id of users that do not exist in this user namespace. */
enum { OVERFLOW_ID = 65534 };

/* Would the kernel change the program's rights? If it is traced at exec, it would not get them. */
static bool changes_rights(int dir, const char *path, int flags)
{
	struct statx st;
	uint8_t capability[4];

	if (sys(__NR_statx, dir, path, flags & AT_EMPTY_PATH, STATX_MODE | STATX_UID | STATX_GID,
		&st) < 0)
		return false;
	if ((st.stx_mode & S_ISUID) &&
	    (st.stx_uid == OVERFLOW_ID || st.stx_uid != (uint32_t)sys(__NR_geteuid)))
		return true;
	if ((st.stx_mode & S_ISGID) && (st.stx_mode & 010) &&
	    (st.stx_gid == OVERFLOW_ID || st.stx_gid != (uint32_t)sys(__NR_getegid)))
		return true;
	return !(flags & AT_EMPTY_PATH) && dir == AT_FDCWD && sys(__NR_geteuid) != 0 &&
		sys(__NR_getxattr, path, "security.capability", capability, 0) > 0;
}

/* Record the path of the first such program. True: it is this one. */
static bool note_gainer(const char *path)
{
	struct shared_state *b = eng.shared;

	if (__atomic_exchange_n(&b->has_gainer, 1, __ATOMIC_ACQ_REL))
		return false;
	for (unsigned i = 0; i < GAINER_MAX - 1 && path[i]; i++)
		b->gainer[i] = path[i];
	return true;
}

/* It was not executed. */
static void forget_gainer(void)
{
	struct shared_state *b = eng.shared;

	for (unsigned i = 0; i < GAINER_MAX; i++)
		b->gainer[i] = 0;
	__atomic_store_n(&b->has_gainer, 0, __ATOMIC_RELEASE);
}

static void name_program(struct process *p, const char *path)
{
	unsigned n = 0;

	for (; n < GAINER_MAX - 1 && path[n]; n++)
		p->program[n] = path[n];
	p->program[n] = 0;
}

/* Ask the supervisor to trace this thread's exec; false if it cannot. */
static bool ask_supervisor(struct thread *t)
{
	t->exec = EXEC_ASKED;
	ring();
	while (t->exec == EXEC_ASKED) {
		/* with SAME_TURNS a timeout would change the order of the threads */
		futex_wait(&t->exec, EXEC_ASKED, eng.mode & SAME_TURNS ? TURNS_WAIT_MS : WAIT_MS);
		if (t->exec == EXEC_ASKED && supervisor_gone())
			break;
	}
	return t->exec == EXEC_WATCHED;
}

void exec_like(struct thread *t, long nr)
{
	const uint64_t *r = t->regs;
	bool at = nr == __NR_execveat;
	int dir = at ? (int)r[RDI] : AT_FDCWD, flags = at ? (int)r[R8] : 0;
	const char *path = (const char *)(at ? r[RSI] : r[RDI]);
	struct process *p = process_at(t->process);
	uint64_t mask = block_signals();
	bool watched = false, told = false;
	long ret;

	if (t->pending) {
		set_signal_mask(mask);
		undo_syscall(t);
		return;
	}
	sample_take(t, 0); /* after the exec another program runs */
	/* A search along PATH fails often: do not involve the supervisor. */
	if (!(flags & AT_EMPTY_PATH) && (ret = sys(__NR_faccessat, dir, path, 1)) < 0) {
		if (ret != -EACCES || sys(__NR_geteuid) == sys(__NR_getuid)) {
			ret = sys(nr, r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9]);
			set_signal_mask(mask);
			finish(t, ret);
			return;
		}
	}
	files_unchanged(0, ~0ull);
	name_program(p, flags & AT_EMPTY_PATH ? "" : path);
	p->clock = t->clock + t->count;
	snapshot_end(t);
	if (changes_rights(dir, path, flags)) {
		note_uncounted(p, "it changes its rights (setuid, setgid or file capabilities)");
		told = note_gainer(path);
	} else {
		watched = ask_supervisor(t);
	}
	signals_for_exec(t);
	no_gain_for_exec();
	keep_for_exec(t, watched);
	if (!watched) {
		limits_for_real(p);
		set_signal_mask(t->mask);
		seccomp_for_real(t);
	}
	if (p->threads > 1)
		folds_hold(p);
	turn_execs(t, watched);
	ret = sys(nr, r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9]);
	folds_release(p);
	turn_exec_failed(t);
	if (told)
		forget_gainer();
	if (watched)
		exec_failed();
	else if (t->filter)
		refuse("a failed exec, after the kernel was given the program's seccomp filters",
		       0);
	if (!watched) {
		limits_after_exec(p);
		if (p->refused == REFUSED_EXEC) /* it is counted after all */
			p->refused = REFUSED_NOT;
	}
	t->exec = EXEC_NONE;
	signals_after_exec(t);
	set_signal_mask(mask);
	finish(t, ret);
}

/* ---- the beginning ---- */

struct thread *engine_first(struct process *p, struct shared_state *shared, uint64_t rsp);

struct thread *engine_first(struct process *p, struct shared_state *shared, uint64_t rsp)
{
	struct thread *t;

	eng.shared = shared;
	eng.process = p;
	eng.mode = p->mode;
	eng.supervisor = shared->supervisor;
	eng.clock_start = shared->clock.start;
	eng.clock_real_start = shared->clock.real_start;
	eng.image = p->image;
	eng.image_size = p->image_size;
	eng.space = p->serial;
	/* A core dump would write all of it: hours, and a full disk. */
	sys(__NR_madvise, shared, SHARED_SIZE, MADV_DONTDUMP);
	limits_first();
	eng.maps_inherited = shared->maps_opened;
	own_add(p->shared_at, p->shared_size);
	own_add(p->image, p->image_size);
	eng.next_place = p->tables_at;
	period_begin();
	regions_first(p);
	if (!snapshot_begin(p)) {
		pages_first();
		cache_first();
	}
	sys(__NR_close, p->shared_fd);
	emit_tail();
	t = thread_new(p, p->begins_as);
	sys(__NR_arch_prctl, ARCH_SET_GS, t);
	t->clock = p->clock;
	t->tid = (int32_t)sys(__NR_gettid);
	t->regs[RSP] = rsp;
	t->flags = 0x202;
	t->target = p->entry;
	t->filter = p->filter;
	t->cpus = p->cpus;
	t->cpu = p->cpus ? (uint32_t)__builtin_ctzll(p->cpus) : 0;
	turn_first_thread(t);
	signals_first(t);
	look_at_pending(t);
	dispatch(t);
	p->first_stepped = !!t->stepping;
	return t;
}

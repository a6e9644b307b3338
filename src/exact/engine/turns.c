/* SPDX-License-Identifier: MIT */
/*
 * With SAME_TURNS one thread of the run executes at a time. All are on one CPU and have SCHED_FIFO
 * with the same priority, so the kernel runs a thread until it blocks or yields, and then the one
 * that has waited longest. A thread that waits for another one in a busy loop would never yield, so
 * each thread yields after TURN backward or indirect branches. Every loop has one, except a loop
 * whose only branches are `ret`. Their number depends only on the instructions that the thread
 * executed. A block that ends with such a branch begins with
 *
 *	dec qword gs:[turn] ; js hit           if no flag but CF is live; else through rcx:
 *	mov gs:[scratch], rcx ; mov rcx, gs:[turn] ; lea rcx, [rcx - 1] ; mov gs:[turn], rcx
 *	mov ecx, gs:[turn + 4] ; jecxz on ; jmp hit ; on: mov rcx, gs:[scratch]
 *
 * The policy that the program sets for a thread is stored, but not applied.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include "exact/engine/emit.h"

enum { TURN = 1 << 16, POLICY_KEPT = -1 /* sched_setparam() */, PRIO_OF_PROCESS = 0 };

void turn_first(struct thread *t)
{
	t->turn = TURN;
}

/* ---- in translated code ---- */

/* Is `last`, the last instruction of a block, a backward or indirect branch? Loops have one. */
bool turn_counts(const struct insn *last)
{
	if (!(eng.mode & SAME_TURNS))
		return false;
	return last->kind == K_JMP_IND ||
		((last->kind == K_JCC || last->kind == K_JMP || last->kind == K_LOOP) &&
		 last->imm < 0);
}

static uint8_t *emit_hit(struct arena *a, uint64_t pc, bool give_rcx_back)
{
	eng.edges[eng.n_edges] = (struct edge){ .target = pc, .hit_event = HIT_TURN };
	a->cold = emit_stub(a->cold, eng.n_edges++);
	if (give_rcx_back)
		gs_load(a->cold -= 9, RCX, T_SCRATCH);
	return a->cold;
}

/* For the block at `pc`. `flags_free`: no flag but CF is live there. */
uint8_t *emit_turn(struct arena *a, uint8_t *p, uint64_t pc, bool flags_free)
{
	const uint8_t *hit = emit_hit(a, pc, !flags_free);

	if (flags_free) {
		PUT(p, 0x65, 0x48, 0xff, 0x0c, 0x25); /* dec qword gs:[turn] */
		p = put32(p, T_TURN);
		PUT(p, 0x0f, 0x88); /* js */
		return put32(p, (uint32_t)(hit - (p + 4)));
	}
	p = gs_store(p, RCX, T_SCRATCH);
	p = gs_load(p, RCX, T_TURN);
	PUT(p, 0x48, 0x8d, 0x49, 0xff); /* lea rcx, [rcx - 1] */
	p = gs_store(p, RCX, T_TURN);
	PUT(p, 0x65, 0x8b, 0x0c, 0x25); /* mov ecx, gs:[turn + 4] */
	p = put32(p, T_TURN + 4);
	PUT(p, 0x67, 0xe3, 5, 0xe9); /* jecxz over the jmp */
	p = put32(p, (uint32_t)(hit - (p + 4)));
	return gs_load(p, RCX, T_SCRATCH);
}

/* ---- in the engine ---- */

/*
 * The thread continues with SCHED_OTHER: code that does not run under the engine would not yield,
 * and after the supervisor's end no process would change the policy.
 */
void turns_leave(void)
{
	const uint32_t no_priority = 0;

	if (eng.mode & SAME_TURNS)
		sys(__NR_sched_setscheduler, 0, SCHED_NORMAL, &no_priority);
}

void turns_join(void)
{
	const uint32_t priority = TURNS_PRIORITY;

	if (eng.mode & SAME_TURNS)
		sys(__NR_sched_setscheduler, 0, SCHED_FIFO, &priority);
}

static void turn_over(struct thread *t)
{
	t->turn = TURN;
	if (eng.shared->turns_over || supervisor_gone())
		turns_leave();
	else
		sys(__NR_sched_yield);
}

/* Entry from translated code; the reason may be that the thread must yield. */
void turn_enter(struct thread *t)
{
	const struct edge *edge = &eng.edges[t->edge];

	if (t->edge && edge->hit_event == HIT_TURN && !edge->hit)
		turn_over(t);
}

/* A return from a signal handler counts: a loop may consist of a fault and its handler. */
void turn_returns(struct thread *t)
{
	if ((eng.mode & SAME_TURNS) && --t->turn < 0)
		turn_over(t);
}

/* ---- the program's policies ---- */

void turns_child(const struct thread *parent, struct thread *child)
{
	if (parent->policy & SCHED_RESET_ON_FORK)
		return;
	child->policy = parent->policy;
	child->priority = parent->priority;
}

static bool is_real_time(uint32_t policy)
{
	policy &= ~(uint32_t)SCHED_RESET_ON_FORK;
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/*
 * May the program set this policy? For a real-time policy, the kernel decides: the calling thread
 * sets it and restores its own. A thread that lowers its priority is put at the head of the queue
 * of the new priority, so it runs next. Source: linux/kernel/sched/syscalls.c,
 * __setscheduler_class().
 */
static long allowed(uint32_t policy, uint32_t priority)
{
	long ret;

	switch (policy & ~(uint32_t)SCHED_RESET_ON_FORK) {
	case SCHED_NORMAL:
	case SCHED_BATCH:
	case SCHED_IDLE:
		return priority ? -EINVAL : 0;
	case SCHED_FIFO:
	case SCHED_RR:
		ret = sys(__NR_sched_setscheduler, 0, policy & ~(uint32_t)SCHED_RESET_ON_FORK,
			  &priority);
		turns_join();
		return ret;
	case SCHED_DEADLINE: /* not for a thread that is bound to a CPU */
		return -EPERM;
	default:
		return -EINVAL;
	}
}

static long set_policy(struct thread *of, int policy, uint32_t priority)
{
	uint32_t new = policy == POLICY_KEPT ? of->policy : (uint32_t)policy;
	long ret = allowed(new, priority);

	if (ret < 0)
		return ret;
	of->policy = new;
	of->priority = priority;
	return 0;
}

/* sched_setscheduler(tid, policy, &priority), sched_setparam(tid, &priority). */
static long set_scheduler(struct thread *of, int policy, uint64_t from)
{
	uint32_t priority;

	if (!from)
		return -EINVAL;
	if (copy_bytes(&priority, (const void *)from, sizeof priority) != sizeof priority)
		return -EFAULT;
	return set_policy(of, policy, priority);
}

/* struct sched_attr up to its priority. Source: linux/sched/types.h */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
};

/* sched_setattr(tid, attributes, 0). */
static long set_attributes(struct thread *of, uint64_t from)
{
	const uint64_t reset = 1, keep_policy = 8, keep_parameters = 16;
	struct attributes a;
	long ret;

	if (copy_bytes(&a, (const void *)from, sizeof a) != sizeof a)
		return from ? -EFAULT : -EINVAL;
	if (a.flags & keep_policy)
		a.policy = of->policy & ~(uint32_t)SCHED_RESET_ON_FORK;
	if (a.flags & keep_parameters)
		a.priority = of->priority;
	ret = set_policy(of, (int)(a.policy | (a.flags & reset ? SCHED_RESET_ON_FORK : 0u)),
			 a.priority);
	if (ret == 0 && !is_real_time(a.policy) && !(a.flags & keep_parameters))
		ret = sys(__NR_setpriority, PRIO_OF_PROCESS, of->tid, a.nice);
	return ret;
}

/* The kernel's attributes, with the program's policy. */
static long get_attributes(struct thread *t, const struct thread *of)
{
	uint64_t *r = t->regs, to = r[RSI];
	long ret = sys(__NR_sched_getattr, r[RDI], to, r[RDX], r[R10]);
	struct attributes a;

	if (ret < 0)
		return ret;
	if (copy_bytes(&a, (const void *)to, sizeof a) != sizeof a)
		return -EFAULT;
	a.policy = of->policy & ~(uint32_t)SCHED_RESET_ON_FORK;
	a.flags = of->policy & SCHED_RESET_ON_FORK ? 1 : 0;
	a.nice = is_real_time(a.policy)
		? 0
		: 20 - (int32_t)sys(__NR_getpriority, PRIO_OF_PROCESS, of->tid);
	a.priority = of->priority;
	return copy_bytes((void *)to, &a, sizeof a) == sizeof a ? 0 : -EFAULT;
}

static long get_parameter(const struct thread *of, uint64_t to)
{
	if (!to)
		return -EINVAL;
	return copy_bytes((void *)to, &of->priority, sizeof of->priority) == sizeof of->priority
		? 0
		: -EFAULT;
}

/* Answers a call about the policy of a counted thread. False: another call, or another thread. */
bool turns_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	int32_t tid = (int32_t)r[RDI];
	struct thread *of;

	if (!(eng.mode & SAME_TURNS) || tid < 0)
		return false;
	of = counted_thread(t, tid);
	if (!of || process_at(of->process)->foreign)
		return false;
	switch (r[RAX]) {
	case __NR_sched_setscheduler:
		finish(t,
		       (int32_t)r[RSI] < 0 ? -EINVAL : set_scheduler(of, (int32_t)r[RSI], r[RDX]));
		return true;
	case __NR_sched_setparam:
		finish(t, set_scheduler(of, POLICY_KEPT, r[RSI]));
		return true;
	case __NR_sched_setattr:
		finish(t, r[RDX] ? -EINVAL : set_attributes(of, r[RSI]));
		return true;
	case __NR_sched_getscheduler:
		finish(t, (int32_t)of->policy);
		return true;
	case __NR_sched_getparam:
		finish(t, get_parameter(of, r[RSI]));
		return true;
	case __NR_sched_getattr:
		finish(t, get_attributes(t, of));
		return true;
	case __NR_sched_setaffinity: /* without SAME_CPUS: it would leave the CPU of the run */
		finish(t, 0);
		return true;
	default:
		return false;
	}
}

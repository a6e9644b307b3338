/* SPDX-License-Identifier: MIT */
/*
 * With SAME_TURNS one thread of the run executes at a time: the one in `turns.holder`. The others
 * wait inside the engine, each on its own futex. The turn passes when the holder waits, ends or has
 * executed a fixed number of branches (turns.c). The next holder is the thread with the smallest
 * ticket among those that can run. A thread gets a ticket when it is created, begins to wait, is
 * woken, or passes the turn on. Only the holder does this, so the order does not depend on the
 * kernel.
 *
 * A thread that waits for anything but a futex checks for the event itself when it gets the turn
 * (turn_calls.c). It gets the turn to check again only after a call that may have caused the event.
 * The end of a thread or process is complete before the next holder continues, so that a parent
 * finds the zombie and the signal.
 *
 * Waits are bounded, because the holder may die, or wait in the kernel in a call that is not
 * handled here. Then a waiting thread gives the turn to the next one, and the result has the
 * reason.
 */
#include <linux/errno.h>
#include <linux/time.h>
#include <linux/wait.h>
#include "exact/engine/signal.h"

enum {
	LOOK_MS = 20, /* between two looks at the holder; doubles */
	LOOK_MS_MAX = 160,
	LOOKS_AT_CALL = 3, /* a call that waits for longer loses the turn */
	END_LOOKS = 100,   /* of END_MS each, at the end of a process */
	END_MS = 100,
	END_SPINS = 100,
	IDLE_MS_MAX = 16,
	DEADLOCK_MS = 3000,
	PIDFD_OPEN = 434, /* from Linux 5.3 */
	READABLE = 1,     /* POLLIN */
};

static const char DEADLOCK[] =
	"a deadlock: each thread of the command waits for another one; the last one waits at";

static struct turns *turns(void)
{
	return &eng.shared->turns;
}

bool turns_on(const struct thread *t)
{
	return t->ordered && !eng.shared->turns_over && !eng.shared->gone;
}

void turns_beyond(uint32_t what)
{
	if (!(turns()->beyond & what))
		__atomic_fetch_or(&turns()->beyond, what, __ATOMIC_RELAXED);
}

bool turn_is_own(const struct thread *t)
{
	return __atomic_load_n(&turns()->holder, __ATOMIC_ACQUIRE) == t->index + 1;
}

static void draw_ticket(struct thread *t)
{
	t->ticket = __atomic_add_fetch(&turns()->tickets, 1, __ATOMIC_RELAXED);
}

/* Every thread that waits must check again. */
static void all_look(void)
{
	__atomic_fetch_add(&turns()->signals, 1, __ATOMIC_RELAXED);
}

/* ---- which thread is next ---- */

/* It can run; after all that can run now. A new thread, or one that is woken. */
void turn_queue(struct thread *t)
{
	draw_ticket(t);
	t->turn_state = TURN_READY;
	t->turn_until = TURN_NEVER;
}

/* The time of deadlines. */
static int64_t time_of_order(void)
{
	return eng.mode & SAME_CLOCK ? eng.shared->clock.latest : real_time(CLOCK_MONOTONIC);
}

int64_t turn_time(struct thread *t)
{
	return eng.mode & SAME_CLOCK ? clock_now(t) : real_time(CLOCK_MONOTONIC);
}

/* `now`: -1 until it is needed. */
static bool can_run(const struct thread *o, int64_t *now)
{
	switch (o->turn_state) {
	case TURN_READY:
		return true;
	case TURN_POLLS:
		if (o->seen_calls != turns()->calls)
			return true;
		break;
	case TURN_SLEEPS:
	case TURN_FUTEX:
		break;
	default:
		return false;
	}
	if (o->seen_signals != turns()->signals)
		return true;
	if (o->turn_until == TURN_NEVER)
		return false;
	if (*now < 0)
		*now = time_of_order();
	return o->turn_until <= *now;
}

/* NULL: none can run. */
static struct thread *next_thread(void)
{
	struct thread *best = NULL;
	int64_t now = -1;

	for (uint32_t i = 0; i < shared_threads(eng.shared); i++) {
		struct thread *o = thread_at(i);

		if (eng.shared->thread_states[i] == THREAD_LIVE &&
		    (!best || o->ticket < best->ticket) && can_run(o, &now))
			best = o;
	}
	return best;
}

/* False: the thread has lost its turn. */
static bool give(const struct thread *t, struct thread *next)
{
	uint32_t seen = t->index + 1;

	if (!__atomic_compare_exchange_n(&turns()->holder, &seen, next ? next->index + 1 : 0, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	if (next) {
		__atomic_fetch_add(&next->granted, 1, __ATOMIC_SEQ_CST);
		futex_wake(&next->granted);
	}
	return true;
}

static void leave_order(uint32_t process)
{
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++)
		if (eng.shared->thread_states[i] == THREAD_LIVE && thread_at(i)->process == process)
			thread_at(i)->turn_state = TURN_NONE;
}

/* ---- ends ---- */

static bool is_gone(int32_t pid, int32_t tid)
{
	char state;

	if (tid && sys(__NR_tgkill, pid, tid, 0) == -ESRCH)
		return true;
	state = state_of(pid, tid);
	return !state || state == 'Z' || state == 'X';
}

static void await_thread(int32_t pid, int32_t tid)
{
	volatile uint32_t nobody = 0;

	for (int i = 0; i < END_SPINS + END_LOOKS * END_MS; i++) {
		if (is_gone(pid, tid))
			return;
		if (i < END_SPINS)
			sys(__NR_sched_yield);
		else
			futex_wait(&nobody, 0, 1);
	}
	turns_beyond(TURNS_LATE);
}

static void await_process(int32_t pid)
{
	long fd = sys(PIDFD_OPEN, pid, 0);
	struct {
		int32_t fd;
		int16_t events, got;
	} p = { (int32_t)fd, READABLE, 0 };

	if (fd < 0) {
		await_thread(pid, 0);
		return;
	}
	for (int i = 0; sys(__NR_poll, &p, 1, END_MS) <= 0 && !is_gone(pid, 0); i++)
		if (i == END_LOOKS) {
			turns_beyond(TURNS_LATE);
			break;
		}
	sys(__NR_close, fd);
}

/*
 * The thread or process that had the turn has ended, or is about to. Its parent is notified
 * under a lock of the kernel, which waitid(2) needs, too. Source: linux/kernel/exit.c,
 * exit_notify().
 */
void turn_awaits(const struct thread *t)
{
	int32_t pid = turns()->dying_pid, tid = turns()->dying_tid;
	struct info none = { 0 };

	if (!pid || !turn_is_own(t))
		return;
	turns()->dying_pid = 0;
	if (tid)
		await_thread(pid, tid);
	else
		await_process(pid);
	sys(__NR_waitid, P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT, 0);
}

/* ---- waiting for the turn ---- */

/* As block_signals(), but other threads of a dying process must be notified: park.c. */
static uint64_t hold_signals(const struct thread *t)
{
	uint64_t old = 0;

	kernel_mask(~FAULTS, &old);
	return t->pending & PUT_OFF ? t->frame_mask : old;
}

static bool is_default_deadly(int sig)
{
	static const uint64_t harmless = BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH) |
		BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU);

	return !(harmless & BIT(sig));
}

/* Does one of these signals have a handler of the program (`handled`), or end it? */
static bool has_effect(const struct thread *t, uint64_t signals, bool handled)
{
	const struct process *p = process_at(t->process);

	for (int sig = 1; sig <= SIGNALS; sig++) {
		struct action a = p->actions[sig - 1];

		if (!(signals & BIT(sig)))
			continue;
		if (a.handler <= (uint64_t)SIG_IGN && !((FAULTS | CORES) & BIT(sig)))
			sys(__NR_rt_sigaction, sig, 0, &a, 8);
		if (a.handler == (uint64_t)SIG_DFL ? is_default_deadly(sig)
						   : handled && a.handler != (uint64_t)SIG_IGN)
			return true;
	}
	return false;
}

static uint64_t pending_set(void)
{
	uint64_t set = 0;

	sys(__NR_rt_sigpending, &set, 8);
	return set;
}

/* Is one of these signals, which the program blocks, pending? */
bool turn_pending(uint64_t set)
{
	return pending_set() & set;
}

/* Is a signal pending that is delivered with this mask? */
bool turn_deliverable(const struct thread *t, uint64_t mask)
{
	uint64_t kept = t->kept.which | process_at(t->process)->kept.which;

	return has_effect(t, (pending_set() | kept) & ~mask, true);
}

/* Takes the turn if no thread has it. */
static bool take_free(const struct thread *t)
{
	uint32_t nobody = 0;

	return __atomic_compare_exchange_n(&turns()->holder, &nobody, t->index + 1, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static bool is_lost(const struct thread *o)
{
	const struct process *p = process_at(o->process);
	int32_t execs = turns()->execs;
	char state;

	if (p->state != PROCESS_LIVE)
		return true;
	if (!execs && !o->tid)
		return false;
	state = state_of(p->pid, execs ? 0 : o->tid);
	return !state || state == 'Z' || state == 'X';
}

/* Takes the turn from `o`, and gives it to the next thread. */
static void recover(struct thread *t, struct thread *o, enum turn_state as)
{
	uint32_t seen = o->index + 1;
	struct thread *next;

	if (!__atomic_compare_exchange_n(&turns()->holder, &seen, t->index + 1, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	turns()->execs = 0;
	if (as == TURN_NONE && is_gone(process_at(o->process)->pid, 0))
		leave_order(o->process);
	else
		o->turn_state = as;
	if (as == TURN_NONE && process_at(o->process)->refused)
		turns_beyond(TURNS_UNCOUNTED);
	all_look();
	next = next_thread();
	if (next && next != t)
		give(t, next);
}

/* The holder, as found at the last look. */
struct watch {
	uint32_t holder, granted, calls;
	unsigned looks; /* in a row that found it in one call */
	bool lost;
};

/* Does it wait in the kernel: in a call, stopped, or stopped for its tracer? */
static void look_at_call(struct thread *t, struct thread *o, struct watch *w)
{
	char state = state_of(process_at(o->process)->pid, o->tid);
	bool stopped = state == 'T' || state == 't', waits = state == 'S' && o->in_call;

	if (state != 't' && (w->calls != turns()->calls || (!stopped && !waits))) {
		w->calls = turns()->calls;
		w->looks = 0;
	} else if (state == 't' || ++w->looks >= LOOKS_AT_CALL) {
		if (waits)
			turns()->blocked = (uint32_t)o->regs[RAX];
		turns_beyond(waits ? TURNS_CALL : TURNS_STOPPED);
		recover(t, o, TURN_OUT);
	}
}

static void look_at_holder(struct thread *t, struct watch *w)
{
	uint32_t holder = turns()->holder;
	struct thread *o = thread_at(holder - 1);

	if (!holder) {
		take_free(t);
		return;
	}
	if (turns()->idle)
		return;
	if (w->holder != holder || w->granted != o->granted)
		*w = (struct watch){ .holder = holder, .granted = o->granted };
	if (!is_lost(o)) {
		w->lost = false;
		if (!turns()->execs)
			look_at_call(t, o, w);
	} else if (w->lost) {
		recover(t, o, TURN_NONE);
	} else {
		w->lost = true;
	}
}

/* A signal from outside the run, or of a timer: the thread must get the turn for it. */
static void look_for_signals(struct thread *t)
{
	uint64_t new = pending_set() & ~t->mask & ~t->noticed;

	t->noticed |= new;
	if (new)
		all_look();
}

/* The process dies, or the order has ended. */
static bool is_free(const struct thread *t)
{
	return !turns_on(t) || process_at(t->process)->dying_tid;
}

/* Signals are blocked meanwhile, so that they arrive when the thread has the turn. */
static void wait_turn(struct thread *t)
{
	uint64_t mask = hold_signals(t);
	struct watch w = { 0 };

	t->in_call = 1;
	for (int ms = LOOK_MS;;) {
		uint32_t seen = __atomic_load_n(&t->granted, __ATOMIC_SEQ_CST);

		if (turn_is_own(t) || is_free(t))
			break;
		futex_wait(&t->granted, seen, ms);
		if (t->turn_state == TURN_OUT) /* it was stopped when it had the turn */
			turn_queue(t);
		if (t->granted != seen)
			continue;
		if (supervisor_gone())
			eng.shared->turns_over = 1;
		look_for_signals(t);
		look_at_holder(t, &w);
		/* another thread's exec or exit failed */
		if (t->turn_state == TURN_NONE && ms == LOOK_MS_MAX)
			turn_queue(t);
		ms = ms < LOOK_MS_MAX ? 2 * ms : ms;
	}
	t->in_call = 0;
	t->noticed = 0;
	turn_awaits(t);
	if (turn_is_own(t) && has_effect(t, pending_set() & ~mask & ~(FAULTS | CORES), false))
		turn_ends(t, true);
	set_signal_mask(mask);
}

/* The thread is about to execute the program's instructions. */
void turn_take(struct thread *t)
{
	if (!turns_on(t))
		return;
	if (!turn_is_own(t)) {
		if (t->turn_state == TURN_NONE || t->turn_state == TURN_OUT) {
			draw_ticket(t);
			t->turn_state = TURN_READY;
		}
		if (!take_free(t))
			wait_turn(t);
	}
	turn_awaits(t);
}

/* ---- passing the turn ---- */

/* A thread ran: when all wait the next time, idle() starts over. */
static void progress(void)
{
	turns()->rounds = 0;
	turns()->idle_since = 0;
}

void turn_yield(struct thread *t)
{
	struct thread *next;

	progress();
	draw_ticket(t);
	t->turn_state = TURN_READY;
	clock_ends(t);
	next = next_thread();
	if (next && next != t) {
		give(t, next);
		wait_turn(t);
	}
}

/* The earliest deadline of all threads that wait. `outside`: an event may come from elsewhere. */
static int64_t first_deadline(bool *outside, bool *all_blocked)
{
	int64_t first = TURN_NEVER;

	*outside = turns()->beyond & (TURNS_UNCOUNTED | TURNS_TIMER | TURNS_TRACES);
	*all_blocked = !*outside;
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++) {
		const struct thread *o = thread_at(i);

		if (eng.shared->thread_states[i] != THREAD_LIVE || o->turn_state == TURN_NONE)
			continue;
		if (o->turn_state == TURN_OUT || o->may_be_outside)
			*outside = true;
		*all_blocked &= !*outside && o->turn_state != TURN_READY;
		if (o->turn_state != TURN_OUT && o->turn_until < first)
			first = o->turn_until;
	}
	return first;
}

static int idle_ms(int64_t left_ns)
{
	int ms = turns()->rounds < 4 ? 1 << turns()->rounds : IDLE_MS_MAX;

	return left_ns / 1000000 < ms ? (int)(left_ns / 1000000) + 1 : ms;
}

/*
 * Every thread waits. With SAME_CLOCK the virtual time becomes that of the first deadline. If an
 * event may come from outside the run, the same real time must pass first.
 */
static void idle(struct thread *t)
{
	bool outside, all_blocked;
	int64_t first = first_deadline(&outside, &all_blocked), real = real_time(CLOCK_MONOTONIC),
		now = time_of_order(), slept;

	if (!turns()->idle_since)
		turns()->idle_since = real;
	slept = eng.mode & SAME_CLOCK ? real - turns()->idle_since : 0;
	if ((eng.mode & SAME_CLOCK) && first != TURN_NEVER && (!outside || slept >= first - now)) {
		clock_publish(first);
		return;
	}
	if (all_blocked && first == TURN_NEVER && t->turn_state == TURN_FUTEX &&
	    real - turns()->idle_since > DEADLOCK_MS * 1000000ll)
		refuse(DEADLOCK, t->target);
	turns()->idle = 1;
	t->in_call = 1;
	if (!t->pending)
		futex_wait(&t->granted, t->granted, idle_ms(first - now - slept));
	t->in_call = 0;
	turns()->idle = 0;
	turns()->rounds++;
	turns()->calls++;
	all_look();
}

/*
 * The thread waits, until `until` at most. Returns when it has the turn, to check for the event.
 * `again`: it has checked, and continues to wait.
 */
void turn_wait(struct thread *t, enum turn_state how, int64_t until, bool again)
{
	struct thread *next;

	if (!again) {
		progress();
		draw_ticket(t);
	}
	t->turn_until = until;
	t->seen_calls = turns()->calls;
	t->seen_signals = turns()->signals;
	t->turn_state = how;
	clock_ends(t);
	next = next_thread();
	if (!next) {
		idle(t);
		next = next_thread();
	}
	if (next && next != t) {
		give(t, next);
		wait_turn(t);
	}
	t->turn_state = TURN_READY;
}

/* The thread is about to wait in the kernel. */
void turn_out(struct thread *t)
{
	t->turn_state = TURN_OUT;
	clock_ends(t);
	give(t, next_thread());
}

/* ---- threads and processes ---- */

/* The first thread of a program. */
void turn_first_thread(struct thread *t)
{
	const struct process *p = process_at(t->process);

	t->ordered = (eng.mode & SAME_TURNS) && !p->foreign;
	if (!t->ordered)
		return;
	turn_queue(t);
	if (turns()->execs && turns()->execs == p->pid) {
		__atomic_store_n(&turns()->holder, t->index + 1, __ATOMIC_RELEASE);
		turns()->execs = 0;
	} else {
		turn_take(t);
	}
}

/* vfork(): the parent continues when the child executes another program or ends. */
void turn_lend(struct thread *t, struct thread *child)
{
	child->turn_parent = t->index + 1;
	t->turn_state = TURN_OUT;
	give(t, child);
}

/* The child was not created. */
void turn_lent(struct thread *t, struct thread *child)
{
	child->turn_state = TURN_NONE;
	if (turns()->holder == child->index + 1)
		give(child, t);
	t->turn_state = TURN_READY;
}

void turn_parent_continues(struct thread *t, bool yes)
{
	struct thread *parent = thread_at(t->turn_parent - 1);

	if (!t->turn_parent)
		return;
	draw_ticket(parent);
	parent->turn_state = yes ? TURN_READY : TURN_OUT;
}

/* The thread, or its process, is about to end. */
void turn_ends(struct thread *t, bool process)
{
	const struct process *p = process_at(t->process);

	if (!turns_on(t))
		return;
	turn_parent_continues(t, true);
	if (process)
		leave_order(t->process);
	t->turn_state = TURN_NONE;
	if (!turn_is_own(t))
		return;
	progress();
	clock_ends(t);
	turns()->calls++;
	all_look();
	turns()->dying_tid = process ? 0 : t->tid;
	turns()->dying_pid = p->pid;
	give(t, next_thread());
}

/* The holder has killed the process. */
void turn_killed(const struct thread *t, const struct process *p)
{
	if (!turns_on(t))
		return;
	leave_order((uint32_t)(p - process_at(0)));
	turns()->dying_tid = 0;
	turns()->dying_pid = p->pid;
	turn_awaits(t);
	turns()->calls++;
	all_look();
}

/* Before an exec. `counted`: the program keeps the turn. */
void turn_execs(struct thread *t, bool counted)
{
	if (!turns_on(t))
		return;
	turn_parent_continues(t, true);
	turns()->calls++;
	if (counted) {
		turns()->execs = process_at(t->process)->pid;
		return;
	}
	turns_beyond(TURNS_UNCOUNTED);
	leave_order(t->process);
	all_look();
	give(t, next_thread());
}

void turn_exec_failed(struct thread *t)
{
	if (!turns_on(t))
		return;
	turn_parent_continues(t, false);
	turns()->execs = 0;
	turn_take(t);
}

/* SPDX-License-Identifier: MIT */
/*
 * With SAME_TURNS: futexes. A thread that waits stores the address in its entry of the list of
 * threads. A wake searches this list, and wakes threads in the order in which they began to wait.
 * No other thread runs meanwhile, so no call needs to be atomic. The kernel handles locks with
 * priority inheritance.
 *
 * The kernel itself wakes a futex at a thread's end (pthread_join(), robust mutexes) and changes
 * the word. So a thread that waits checks the word after each end of a thread. A futex in shared
 * memory may have a different address in each process. So a call of another process at the same
 * offset in a page wakes a thread, too. The program's call returns 0, as after a spurious wakeup.
 * Source: futex(2), FUTEX_WAIT.
 */
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/time.h>
#include "exact/engine/signal.h"

enum { LOCK_PI_2 = 13 };

static bool read_word(uint64_t at, uint32_t *word)
{
	return at % 4 == 0 && copy_bytes(word, (const void *)at, 4) == 4;
}

/* ---- waiting ---- */

/* The deadline; false: the argument is invalid, as the kernel reports. */
static bool read_deadline(struct thread *t, uint64_t op, int64_t *until)
{
	const uint64_t *r = t->regs;
	uint64_t clock = r[RSI] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	int64_t ns;

	*until = TURN_NEVER;
	if (!r[R10])
		return true;
	if (!time_read(r[R10], 1, &ns))
		return false;
	if (!(eng.mode & SAME_CLOCK))
		turns_beyond(TURNS_REAL_TIME);
	if (op == FUTEX_WAIT)
		*until = turn_time(t) + ns;
	else if (eng.mode & SAME_CLOCK)
		*until = ns - clock_begin(clock);
	else
		*until = turn_time(t) + ns - real_time((int)clock);
	return true;
}

/* Has the kernel woken it, or another process? */
static bool has_changed(const struct thread *t, uint32_t value)
{
	uint32_t word = value;

	if (!t->futex_shared && eng.shared->turns.rounds < 2)
		return false;
	return read_word(t->futex, &word) && word != value;
}

static bool waits(struct thread *t, uint64_t op)
{
	const uint64_t *r = t->regs;
	uint32_t word, value = (uint32_t)r[RDX];
	int64_t until;

	if (!read_word(r[RDI], &word) || !read_deadline(t, op, &until) ||
	    (op == FUTEX_WAIT_BITSET && !(uint32_t)r[R9]))
		return false; /* the kernel reports the error */
	if (word != value) {
		finish(t, -EAGAIN);
		return true;
	}
	t->futex_bits = op == FUTEX_WAIT ? ~0u : (uint32_t)r[R9];
	t->futex_shared = !(r[RSI] & FUTEX_PRIVATE_FLAG);
	t->may_be_outside = 0;
	t->futex = r[RDI];
	for (bool waited = false; t->futex && !has_changed(t, value); waited = true) {
		if (t->pending) {
			t->futex = 0;
			return turn_interrupted(t, waited, until == TURN_NEVER);
		}
		if (until != TURN_NEVER && turn_time(t) >= until) {
			t->futex = 0;
			finish(t, -ETIMEDOUT);
			return true;
		}
		if (!turns_on(t)) {
			t->futex = 0;
			return false;
		}
		turn_wait(t, TURN_FUTEX, until, waited);
	}
	t->futex = 0;
	finish(t, 0);
	return true;
}

/* ---- waking ---- */

static bool is_waiting(const struct thread *t, const struct thread *o, uint64_t at, bool shared)
{
	if (o->turn_state != TURN_FUTEX || !o->futex)
		return false;
	if (o->space == t->space)
		return o->futex == at;
	return shared && o->futex_shared && (o->futex ^ at) % PAGE == 0;
}

/* The thread that has waited longest; NULL: none. */
static struct thread *first_waiting(const struct thread *t, uint64_t at, bool shared, uint32_t bits)
{
	struct thread *first = NULL;

	for (uint32_t i = 0; i < shared_threads(eng.shared); i++) {
		struct thread *o = thread_at(i);

		if (eng.shared->thread_states[i] == THREAD_LIVE && is_waiting(t, o, at, shared) &&
		    (o->futex_bits & bits) && (!first || o->ticket < first->ticket))
			first = o;
	}
	return first;
}

static long wake(const struct thread *t, uint64_t at, bool shared, uint32_t n, uint32_t bits)
{
	struct thread *o;
	long woken = 0;

	while (woken < (long)n && (o = first_waiting(t, at, shared, bits))) {
		o->futex = 0;
		turn_queue(o);
		woken++;
	}
	return woken;
}

/* Those that remain wait for `to` from now on. */
static long requeue(const struct thread *t, uint64_t at, uint64_t to, bool shared, uint32_t n)
{
	struct thread *o;
	long moved = 0;

	if (at == to)
		return 0;
	while (moved < (long)n && (o = first_waiting(t, at, shared, ~0u))) {
		if (o->space == t->space) {
			o->futex = to;
		} else { /* its address of `to` is not known */
			o->futex = 0;
			turn_queue(o);
		}
		moved++;
	}
	return moved;
}

/*
 * FUTEX_WAKE_OP: changes the second word by an operation, and compares its old value. Source:
 * futex(2), FUTEX_WAKE_OP.
 */
static bool change_word(uint64_t at, uint32_t code, bool *holds, long *error)
{
	uint32_t op = code >> 28 & 7, compare = code >> 24 & 15, old, new;
	int32_t value = (int32_t)(code << 8) >> 20, other = (int32_t)(code << 20) >> 20;

	if (code >> 31)
		value = 1 << (value & 31);
	if (!read_word(at, &old)) {
		*error = at % 4 ? -EINVAL : -EFAULT;
		return false;
	}
	switch (op) {
	case FUTEX_OP_SET:
		new = (uint32_t)value;
		break;
	case FUTEX_OP_ADD:
		new = old + (uint32_t)value;
		break;
	case FUTEX_OP_OR:
		new = old | (uint32_t)value;
		break;
	case FUTEX_OP_ANDN:
		new = old & ~(uint32_t)value;
		break;
	case FUTEX_OP_XOR:
		new = old ^ (uint32_t)value;
		break;
	default:
		*error = -ENOSYS;
		return false;
	}
	if (copy_bytes((void *)at, &new, 4) != 4) {
		*error = -EFAULT;
		return false;
	}
	switch (compare) {
	case FUTEX_OP_CMP_EQ:
		*holds = (int32_t)old == other;
		return true;
	case FUTEX_OP_CMP_NE:
		*holds = (int32_t)old != other;
		return true;
	case FUTEX_OP_CMP_LT:
		*holds = (int32_t)old < other;
		return true;
	case FUTEX_OP_CMP_GE:
		*holds = (int32_t)old >= other;
		return true;
	case FUTEX_OP_CMP_LE:
		*holds = (int32_t)old <= other;
		return true;
	case FUTEX_OP_CMP_GT:
		*holds = (int32_t)old > other;
		return true;
	default:
		*error = -ENOSYS;
		return false;
	}
}

static long wake_by_operation(const struct thread *t, bool shared)
{
	const uint64_t *r = t->regs;
	bool holds = false;
	long ret, error;

	if (!change_word(r[R8], (uint32_t)r[R9], &holds, &error))
		return error;
	ret = wake(t, r[RDI], shared, (uint32_t)r[RDX], ~0u);
	return holds ? ret + wake(t, r[R8], shared, (uint32_t)r[R10], ~0u) : ret;
}

static long requeue_call(const struct thread *t, bool shared, bool compares)
{
	const uint64_t *r = t->regs;
	uint32_t word;
	long woken, moved;

	if (!read_word(r[RDI], &word))
		return r[RDI] % 4 ? -EINVAL : -EFAULT;
	if ((int32_t)r[RDX] < 0 || (int32_t)r[R10] < 0)
		return -EINVAL;
	if (compares && word != (uint32_t)r[R9])
		return -EAGAIN;
	woken = wake(t, r[RDI], shared, (uint32_t)r[RDX], ~0u);
	moved = requeue(t, r[RDI], r[R8], shared, (uint32_t)r[R10]);
	return compares ? woken + moved : woken;
}

/* Processes without turns may share the memory: the kernel wakes those, too. */
static long wake_call(const struct thread *t, bool shared, uint32_t bits)
{
	const uint64_t *r = t->regs;
	uint32_t n = (int32_t)r[RDX] > 1 ? (uint32_t)r[RDX] : 1;
	long woken, others = 0;

	if (!bits || r[RDI] % 4)
		return -EINVAL;
	woken = wake(t, r[RDI], shared, n, bits);
	if (shared && woken < (long)n)
		others = sys(__NR_futex, r[RDI], r[RSI], n - (uint32_t)woken, 0, 0, r[R9]);
	return others < 0 ? others : woken + others;
}

/* True: the call is done. */
bool turn_futex(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t op = r[RSI] & FUTEX_CMD_MASK;
	bool shared = !(r[RSI] & FUTEX_PRIVATE_FLAG);

	switch (op) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return waits(t, op);
	case FUTEX_WAKE:
		finish(t, wake_call(t, shared, ~0u));
		return true;
	case FUTEX_WAKE_BITSET:
		finish(t, wake_call(t, shared, (uint32_t)r[R9]));
		return true;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		finish(t, requeue_call(t, shared, op == FUTEX_CMP_REQUEUE));
		return true;
	case FUTEX_WAKE_OP:
		finish(t, wake_by_operation(t, shared));
		return true;
	case FUTEX_LOCK_PI:
	case LOCK_PI_2:
	case FUTEX_WAIT_REQUEUE_PI:
		eng.shared->turns.blocked = (uint32_t)r[RAX];
		turns_beyond(TURNS_CALL);
		turn_out(t);
		return false;
	default:
		return false;
	}
}

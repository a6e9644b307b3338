/* SPDX-License-Identifier: MIT */
/*
 * The program's seccomp filters. They are evaluated here, as the kernel would apply them to the
 * engine's own calls, too. Each filter is in the shared state, so that children and the programs
 * they execute inherit it. The kernel also gets each one, after an instruction that allows
 * everything, so that it checks permissions, flags and the filter's code as usual. Source:
 * linux/kernel/seccomp.c, seccomp(2).
 */
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/errno.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/signal.h>
#include "exact/engine/engine.h"
#include "exact/engine/context.h"

enum { ERRNO_MAX = 4095, SCRATCH = 16 };

static const uint64_t ALLOW_ALL = BPF_RET | BPF_K | (uint64_t)SECCOMP_RET_ALLOW << 32;

_Static_assert(sizeof(struct sock_filter) == 8, "struct filter holds them");

/* ---- the verdict ---- */

static uint32_t alu(unsigned op, uint32_t a, uint32_t b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return a / b;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	default:
		return -a; /* BPF_NEG */
	}
}

static bool jumps(unsigned op, uint32_t a, uint32_t b)
{
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b; /* BPF_JSET */
	}
}

/* The kernel validated these operands, but a program may have overwritten them since. */
static uint32_t in_data(uint32_t at)
{
	if (at > sizeof(struct seccomp_data) - sizeof(uint32_t))
		refuse_overwritten();
	return at;
}

static uint32_t forward(uint32_t by)
{
	if (by >= FILTER_MAX)
		refuse_overwritten();
	return by;
}

/*
 * Evaluate one filter. The kernel has validated it: jumps go forward, and the last instruction
 * returns.
 */
static uint32_t run_filter(const struct filter *f, const struct seccomp_data *data)
{
	uint32_t a = 0, x = 0, mem[SCRATCH] = { 0 };

	const uint32_t n = __atomic_load_n(&f->n, __ATOMIC_RELAXED);

	for (uint32_t at = 0; at < n && at < FILTER_MAX; at++) {
		struct sock_filter in;

		memcpy(&in, &f->code[at], sizeof in);

		uint32_t operand = BPF_SRC(in.code) == BPF_X ? x : in.k;

		switch (BPF_CLASS(in.code)) {
		case BPF_LD:
		case BPF_LDX: {
			uint32_t v = in.k; /* BPF_IMM */

			if (BPF_MODE(in.code) == BPF_ABS)
				memcpy(&v, (const uint8_t *)data + in_data(in.k), sizeof v);
			else if (BPF_MODE(in.code) == BPF_LEN)
				v = sizeof *data;
			else if (BPF_MODE(in.code) == BPF_MEM)
				v = mem[in.k & (SCRATCH - 1)];
			*(BPF_CLASS(in.code) == BPF_LD ? &a : &x) = v;
			break;
		}
		case BPF_ST:
			mem[in.k & (SCRATCH - 1)] = a;
			break;
		case BPF_STX:
			mem[in.k & (SCRATCH - 1)] = x;
			break;
		case BPF_ALU:
			if (BPF_OP(in.code) == BPF_DIV && !operand)
				return 0;
			a = alu(BPF_OP(in.code), a, operand);
			break;
		case BPF_JMP:
			if (BPF_OP(in.code) == BPF_JA)
				at += forward(in.k);
			else
				at += jumps(BPF_OP(in.code), a, operand) ? in.jt : in.jf;
			break;
		case BPF_RET:
			return BPF_RVAL(in.code) == BPF_A ? a : in.k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(in.code) == BPF_TAX)
				x = a;
			else
				a = x;
		}
	}
	return 0;
}

static struct filter *filter_at(uint32_t i)
{
	return (struct filter *)((uint8_t *)eng.shared + SHARED_FILTERS) + (i < FILTERS ? i : 0);
}

/* The filter that was installed before filter `i`: it has a lower number. 0: none. */
static uint32_t filter_before(uint32_t i)
{
	uint32_t before = __atomic_load_n(&filter_at(i)->before, __ATOMIC_RELAXED);

	if (i >= FILTERS || before >= i)
		refuse_overwritten();
	return before;
}

/* The strictest of all results; of equal ones, that of the filter installed last. */
static uint32_t verdict(const struct thread *t, const struct seccomp_data *data)
{
	uint32_t strictest = SECCOMP_RET_ALLOW;

	for (uint32_t i = t->filter; i; i = filter_before(i)) {
		uint32_t one = run_filter(filter_at(i), data);

		if ((int32_t)(one & SECCOMP_RET_ACTION_FULL) <
		    (int32_t)(strictest & SECCOMP_RET_ACTION_FULL))
			strictest = one;
	}
	return strictest;
}

static bool strict_allows(uint32_t arch, uint32_t nr)
{
	if (arch == AUDIT_ARCH_X86_64)
		return nr == __NR_read || nr == __NR_write || nr == __NR_exit ||
			nr == __NR_rt_sigreturn;
	return nr == 3 || nr == 4 || nr == 1 || nr == 119; /* the same calls in the 32-bit table */
}

/* SIGSYS, which the program can catch if the filter allows it. */
static void raise_sigsys(struct thread *t, const struct seccomp_data *data, uint32_t said,
			 bool fatal)
{
	struct info info = { .signo = SIGSYS,
			     .error = (int32_t)(said & SECCOMP_RET_DATA),
			     .code = SYS_SECCOMP,
			     .address = data->instruction_pointer };

	memcpy(info.rest, &data->nr, 4);
	memcpy(info.rest + 4, &data->arch, 4);
	finish(t, (long)t->regs[RAX]); /* rax still contains the call's number */
	force_signal(t, SIGSYS, &info, fatal);
}

/* Is the thread's next call allowed? If not, the result is already set up. */
bool seccomp_allows(struct thread *t)
{
	const uint64_t *r = t->regs;
	struct seccomp_data data = {
		.nr = (int)r[RAX],
		.arch = AUDIT_ARCH_X86_64,
		.instruction_pointer = t->target,
		.args = { r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9] },
	};
	uint32_t said;

	if (t->strict && !strict_allows(data.arch, (uint32_t)data.nr)) {
		/* The kernel may enforce strict mode now: it kills this thread at this call. */
		block_signals();
		sys(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		t->jump = (uint64_t)syscall_go;
		return false;
	}
	said = verdict(t, &data);
	switch (said & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:
		said &= SECCOMP_RET_DATA;
		finish(t, -(long)(said < ERRNO_MAX ? said : ERRNO_MAX));
		return false;
	case SECCOMP_RET_TRACE:
	case SECCOMP_RET_USER_NOTIF:
		finish(t, -ENOSYS); /* there is no tracer */
		return false;
	case SECCOMP_RET_TRAP:
		raise_sigsys(t, &data, said, false);
		return false;
	case SECCOMP_RET_KILL_THREAD:
		if (process_at(t->process)->threads > 1)
			end_killed_thread(t);
		/* fall through */
	default:
		raise_sigsys(t, &data, said, true);
		return false;
	}
}

/* The same for a call by the 32-bit gate: 1 allowed; 0 forbidden, *ret is its result. */
bool seccomp_allows_old(struct thread *t, long *ret)
{
	const uint64_t *r = t->regs;
	struct seccomp_data data = {
		.nr = (int)r[RAX],
		.arch = AUDIT_ARCH_I386,
		.instruction_pointer = t->target + 2,
		.args = { (uint32_t)r[RBX], (uint32_t)r[RCX], (uint32_t)r[RDX], (uint32_t)r[RSI],
			  (uint32_t)r[RDI], (uint32_t)r[RBP] },
	};
	uint32_t said = t->strict && !strict_allows(data.arch, (uint32_t)data.nr)
		? 0
		: verdict(t, &data);

	switch (said & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:
		said &= SECCOMP_RET_DATA;
		*ret = -(long)(said < ERRNO_MAX ? said : ERRNO_MAX);
		return false;
	default:
		refuse("an int 0x80 call that seccomp forbids, at", t->target);
	}
}

/* ---- installing ---- */

static struct filter *filter_new(uint64_t pc)
{
	uint32_t i = __atomic_add_fetch(&eng.shared->n_filters, 1, __ATOMIC_ACQ_REL);

	if (i >= FILTERS)
		refuse("more seccomp filters than the exact engine has room for, at", pc);
	return filter_at(i);
}

/*
 * Free the newest filter, if it is still the newest; otherwise its slot is lost, which is harmless.
 */
static void filter_drop(const struct filter *f)
{
	uint32_t i = (uint32_t)(f - filter_at(0));

	__atomic_compare_exchange_n(&eng.shared->n_filters, &i, i - 1, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
}

/*
 * The same filter on top of the same others is stored once in the shared state, even if many
 * processes install it.
 */
static uint32_t filter_shared(const struct filter *f, uint32_t n)
{
	uint32_t top = eng.shared->n_filters;

	for (uint32_t i = 1; i <= top && i < FILTERS; i++) {
		const struct filter *g = filter_at(i);

		if (g != f && __atomic_load_n(&g->ready, __ATOMIC_ACQUIRE) &&
		    g->before == f->before && g->n == n && g->flags == f->flags &&
		    g->by_prctl == f->by_prctl && !memcmp(g->code, f->code, n * sizeof f->code[0]))
			return i;
	}
	return 0;
}

static long give_to_kernel(const struct filter *f, const uint64_t *code, uint32_t n)
{
	struct sock_fprog prog = { .len = (unsigned short)n, .filter = (struct sock_filter *)code };

	return f->by_prctl ? sys(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)
			   : sys(__NR_seccomp, SECCOMP_SET_MODE_FILTER, f->flags, &prog);
}

static void give_to_threads(struct thread *t, uint32_t filter)
{
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++)
		if (eng.shared->thread_states[i] == THREAD_LIVE &&
		    thread_at(i)->process == t->process)
			thread_at(i)->filter = filter;
}

static long set_filter(struct thread *t, uint64_t at, uint64_t flags, bool by_prctl)
{
	struct sock_fprog prog;
	struct filter *f;
	uint32_t number, n;
	long ret;

	if (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER)
		refuse("a seccomp filter with a listener, which the exact engine does not support, at",
		       t->target);
	if (copy_bytes(&prog, (const void *)at, sizeof prog) != sizeof prog)
		return -EFAULT;
	if (prog.len == BPF_MAXINSNS)
		refuse("a seccomp filter of 4,096 instructions, one more than the exact engine supports, at",
		       t->target);
	f = filter_new(t->target);
	f->ready = 0;
	f->before = t->filter;
	f->n = n = prog.len < BPF_MAXINSNS ? prog.len : 0;
	f->flags = (uint32_t)flags;
	f->by_prctl = by_prctl;
	f->allow_all = ALLOW_ALL;
	ret = -EFAULT;
	if (copy_bytes(f->code, prog.filter, n * sizeof f->code[0]) == n * sizeof f->code[0])
		ret = n ? give_to_kernel(f, &f->allow_all, n + 1) : -EINVAL;
	if (ret) { /* positive: the tid of a thread that could not be synchronised */
		filter_drop(f);
		return ret;
	}
	number = filter_shared(f, n);
	if (number) {
		filter_drop(f);
	} else {
		number = (uint32_t)(f - filter_at(0));
		__atomic_store_n(&f->ready, 1, __ATOMIC_RELEASE);
	}
	if (flags & SECCOMP_FILTER_FLAG_TSYNC)
		give_to_threads(t, number);
	t->filter = number;
	return 0;
}

static long set_strict(struct thread *t)
{
	if (sys(__NR_prctl, PR_GET_SECCOMP) != 0)
		return -EINVAL; /* there are filters, and the kernel allows one mode only */
	sys(__NR_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
	t->strict = 1;
	return 0;
}

/* prctl or seccomp: true if the call was made here. */
bool seccomp_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	bool by_prctl = r[RAX] == __NR_prctl;
	uint64_t what = by_prctl ? r[RSI] : r[RDI];

	if (by_prctl && (int)r[RDI] != PR_SET_SECCOMP)
		return false;
	if (by_prctl ? what == SECCOMP_MODE_STRICT
		     : (uint32_t)what == SECCOMP_SET_MODE_STRICT && !(uint32_t)r[RSI] && !r[RDX]) {
		finish(t, set_strict(t));
		return true;
	}
	if (by_prctl ? what == SECCOMP_MODE_FILTER : (uint32_t)what == SECCOMP_SET_MODE_FILTER) {
		finish(t, set_filter(t, r[RDX], by_prctl ? 0 : (uint32_t)r[RSI], by_prctl));
		return true;
	}
	return false;
}

/* ---- out of the engine's hands ---- */

/* Before the program runs uncounted, install its filters in the kernel, the oldest first. */
void seccomp_for_real(struct thread *t)
{
	for (uint32_t last = 0; t->filter && last != t->filter;) {
		uint32_t i = t->filter, before;

		while ((before = filter_before(i)) != last && before)
			i = before;
		if (before != last)
			refuse_overwritten();
		if (give_to_kernel(filter_at(i), filter_at(i)->code, filter_at(i)->n) < 0)
			refuse("a seccomp filter cannot be passed on to a program that runs uncounted",
			       0);
		last = i;
	}
}

/* From now on the kernel kills this thread, and no other, at its next call. */
void seccomp_doom(void)
{
	struct sock_filter kill = { .code = BPF_RET | BPF_K, .k = SECCOMP_RET_KILL_THREAD };
	struct sock_fprog prog = { .len = 1, .filter = &kill };

	sys(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1);
	sys(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

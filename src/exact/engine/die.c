/* SPDX-License-Identifier: MIT */
/*
 * Ends the program by a signal that it does not catch. The program's own context is restored first,
 * so that the core dump is the same as without the engine.
 */
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/signal.h>
#include "exact/engine/engine.h"
#include "exact/engine/context.h"

enum { PLACE_SIZE = 1 << 16, FRAME_AT = 1024, FP_AT = 2048 };

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static uint8_t *put_unmap(uint8_t *at, uint64_t start, uint64_t size)
{
	at = put_bytes(at, "\xb8\x0b\0\0\0\x48\xbf", 7); /* mov eax, munmap; mov rdi, start */
	at = put_bytes(at, &start, 8);
	at = put_bytes(at, "\x48\xbe", 2); /* mov rsi, size */
	at = put_bytes(at, &size, 8);
	return put_bytes(at, "\x0f\x05", 2); /* syscall */
}

/*
 * Return to `c` from memory that is excluded from core dumps, after unmapping the engine and its
 * shared state: a core lists the mapped files, and a debugger looks for them. All signals are
 * blocked.
 */
static void leave_for_good(const struct context *c)
{
	uint8_t *place = NULL, *at;
	struct context *copy;
	uint64_t frame;

	for (uint64_t from = 0x5e0000000000; !place && from < 0x600000000000; from += 0x10000000000)
		place = reserve_at(from, PLACE_SIZE, 7 /* read, write, execute */);
	if (!place)
		return;
	copy = (struct context *)(place + FRAME_AT);
	*copy = *c;
	if (c->fpstate) {
		memcpy(place + FP_AT, (const void *)c->fpstate, fp_size(c->fpstate));
		copy->fpstate = (uint64_t)place + FP_AT;
	}
	frame = (uint64_t)copy;
	at = put_unmap(place, eng.process->shared_at, eng.process->shared_size);
	at = put_unmap(at, eng.image, (eng.image_size + PAGE - 1) & ~(uint64_t)(PAGE - 1));
	at = put_bytes(at, "\x48\xbc", 2); /* mov rsp, frame */
	at = put_bytes(at, &frame, 8);
	put_bytes(at, "\xb8\x0f\0\0\0\x0f\x05", 7); /* mov eax, rt_sigreturn; syscall */
	((void (*)(void))place)();
}

/*
 * The signal is queued while blocked, and arrives when the thread is back at its own pc, before it
 * executes anything.
 */
void die(struct thread *t, int sig, const struct info *info, struct context *c)
{
	struct action by_default = { 0 };
	uint64_t all = ~0ull;
	struct process *p = process_at(t->process);
	bool alone = p->threads == 1 && !t->started;

	sys(__NR_rt_sigprocmask, SIG_SETMASK, &all, 0, 8);
	files_unchanged(0, ~0ull);
	if (p->threads > 1 && leaves_core()) {
		int32_t nobody = 0;
		bool first = __atomic_compare_exchange_n(&p->dying_tid, &nobody, t->tid, false,
							 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);

		if (!first && wait_and_park(t, c))
			return;
		alone = first && park_others(t, sig);
	}
	/* the supervisor takes an unannounced death for an engine failure */
	p->ending = (uint32_t)sig;
	if (p->threads > 1)
		folds_hold(p);
	sys(__NR_rt_sigaction, sig, &by_default, 0, 8);
	sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), sig, info);
	c->eflags &= ~0x100ull; /* clear our trap flag */
	c->mask = ~(1ull << (sig - 1));
	turn_ends(t, true);
	/* The core shows the program's gs base. From here on no code needs the engine's. */
	sys(__NR_arch_prctl, ARCH_SET_GS, t->user_gs);
	if (alone && !eng.lent)
		leave_for_good(c);
}

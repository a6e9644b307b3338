/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files that implement the program's signals: signal.c, signal_calls.c, deliver.c,
 * step.c.
 */
#ifndef EXACT_SIGNAL_H
#define EXACT_SIGNAL_H

#include <asm/unistd.h>
#include <linux/signal.h>
#include "exact/engine/engine.h"
#include "exact/engine/context.h"

#pragma GCC visibility push(hidden)

#define BIT(sig) (1ull << ((sig)-1))

enum {
	EFLAGS_TF = 0x100,
	STACK_DISABLE = 2,
	STACK_ON = 1,
	CODE_64 = 0x33, /* segment selectors of the kernel */
	CODE_32 = 0x23,
	DATA = 0x2b,
	OF_LDT = 4,
};

#define STACK_AUTODISARM (1u << 31)

/* Fault signals: the engine always handles them, even if the program blocks them. */
static const uint64_t FAULTS = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) |
	BIT(SIGTRAP);
/*
 * These signals dump core, too: the engine handles them even if they just end the program, so that
 * the core shows the program's own context.
 */
static const uint64_t CORES = BIT(SIGQUIT) | BIT(SIGABRT) | BIT(SIGXCPU) | BIT(SIGXFSZ) |
	BIT(SIGSYS);
static const uint64_t NEVER_BLOCKED = BIT(SIGKILL) | BIT(SIGSTOP);

static inline void kernel_mask(uint64_t mask, uint64_t *old)
{
	sys(__NR_rt_sigprocmask, SIG_SETMASK, &mask, old, 8);
}

static inline uint64_t masked_for_kernel(uint64_t mask)
{
	return mask & ~FAULTS;
}

static inline bool on_alt_stack(const struct thread *t, uint64_t rsp)
{
	return !(t->alt_flags & (STACK_DISABLE | STACK_AUTODISARM)) && rsp > t->alt_sp &&
		rsp - t->alt_sp <= t->alt_size;
}

static const char OVERWRITTEN[] =
	"the exact engine's own memory was written over: its code fails where the program's does not, at";
static const char STEPS_ITSELF[] =
	"the program sets the trap flag to step itself, which the exact engine does not run, at";

/* signal.c: the only handler that the kernel knows. */
void on_signal(int sig, struct info *info, struct context *c);

/* signal_calls.c: make the kernel call on_signal, or apply the program's disposition. */
void install(int sig, uint64_t flags);
void set_kernel_action(int sig, uint64_t handler, uint64_t flags);

/*
 * deliver.c: change `c`, the program's context, to that in which its handler starts, or queue the
 * signal again.
 */
void deliver(struct thread *t, int sig, const struct info *info, struct context *c, bool fault);
void put_off(struct thread *t, int sig, const struct info *info, struct context *c);

/* The same for a call of callback.c; rsi is its context. False: no room on the stack. */
bool deliver_call(struct thread *t, uint64_t handler, struct context *c);
bool callback_signal(struct thread *t, const struct info *info, struct context *c);

/* step.c */
enum { STEP_NONE, STEP_TO_BORDER, STEP_NATIVE, STEP_PROOF /* native, and it must fault */ };
void step_proof(struct thread *t, struct context *c);
void step_to_border(struct thread *t, int sig, const struct info *info, struct context *c);
void end_step(struct thread *t, struct context *c);
void on_step(struct thread *t, const struct info *now, struct context *c);
bool ends_uprobe(const struct thread *t, int sig, const struct context *c);
void after_sent(struct thread *t, int sig, const struct info *info, struct context *c);

#pragma GCC visibility pop

#endif

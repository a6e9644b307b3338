/* SPDX-License-Identifier: MIT */
/* One thread of a counted program: the layout of its slot in the shared state. */
#ifndef EXACT_THREAD_H
#define EXACT_THREAD_H

#include <stddef.h>
#include "exact/shared_state.h"
#include "exact/layout.h"

/* Work that is left for after a system call. */
enum {
	AFTER_NOTHING,
	AFTER_UNPIN = 1,  /* unpin memory that the kernel may have written */
	AFTER_OPEN = 2,   /* a file was opened for writing */
	AFTER_UNLOCK = 4, /* after a fork: release the lock */
	AFTER_LOOK = 16,  /* a file was opened for reading */
	AFTER_MASK = 8,   /* the kernel had the program's full mask: pending_signals.c */
	AFTER_WAIT = 32,  /* the call has a timeout: clock.c */
};

/* Flags in `pending`. */
enum {
	PUT_OFF = 1,  /* queued again and blocked */
	KEPT = 2,     /* see pending_signals.c */
	CALL_DUE = 4, /* see callback.c */
};

enum { LATER_MAX = 2 };

/* One thread of the program. The GS base points to it. */
struct thread {
	volatile int64_t count; /* instructions, when COUNT_RUNNING */
	struct thread *self;
	uint64_t rax, rcx; /* saved around an indirect branch */
	/* saved while counting, or replaced by the address of an operand out of reach */
	uint64_t scratch;
	uint64_t target; /* the program's pc on entry to the engine and on leaving it */
	uint64_t edge;   /* the direct branch by which it entered; 0: an indirect one */
	uint64_t jump;   /* translated code for `target` */
	uint64_t stack, dispatch, miss, syscall, tail;
	struct thread *child;      /* being created */
	volatile uint32_t pending; /* enum pending: signals deferred until the engine leaves */
	uint32_t after;

	uint64_t scratch2;
	uint64_t regs[16];
	uint64_t flags;
	uint64_t user_gs;
	volatile uint32_t in_call;    /* in a system call, not in translated code */
	volatile uint32_t generation; /* the oldest code it can be in; 0: none */
	uint64_t path;                /* hash of its path, when COUNT_PATH: path.c */
	/* by event, when COUNT_EVERY: how many of the class come before its next sample */
	int64_t left[COUNTDOWNS];
	int64_t turn; /* with SAME_TURNS: branches until its turn passes: engine/turns */
	volatile uint32_t started;
	volatile uint32_t exec; /* enum exec_state */
	int32_t tid;
	uint32_t process, index;
	uint32_t not_process; /* ~process */
	uint32_t space;       /* its address space */
	uint32_t born;        /* order of creation in the whole run */
	uint32_t gs_swapped;  /* the program's own GS base is set, for one instruction */
	uint64_t frame_mask;  /* for delivery: the signal mask of the interrupted program */
	uint64_t mask;        /* blocked by the program */
	uint64_t alt_sp, alt_size;
	uint32_t alt_flags;
	uint32_t stepping; /* a signal waits for the next instruction boundary */
	uint64_t step_mask;
	uint8_t step_info[128];
	uint32_t step_signal;
	uint32_t one_shot;
	int64_t settled[EXACT_CLASSES]; /* corrections to its counters */
	/* sums_check() of `settled`, except while the thread adds to it */
	uint64_t settled_check;
	int64_t seen[EXACT_CLASSES]; /* its counters at the last reading: THREAD_SEEN */
	uint32_t has_seen, begins_process;
	uint32_t sampling; /* the next sample may be in the block at `target` */
	/* a draft exists, and becomes a sample once its instruction has retired */
	uint32_t drafted;
	struct sampler {
		int64_t left_more; /* to add to `left`, if not 0 */
		/*
		 * for the distances between samples: generator state; position of the last sample
		 * in its n events
		 */
		uint64_t random, offset;
		uint64_t samples; /* samples taken */
		struct operand {
			uint64_t address;
			uint32_t what; /* SAMPLE_OPERAND */
			/* of the draft, and of further samples of the same instruction */
		} operand[1 + LATER_MAX];
	} sampler[COUNTDOWNS]; /* by event */
	struct {
		uint64_t moved;  /* rsi or rdi before a repeated string instruction */
		uint64_t width;  /* of an operand, in bytes */
		uint8_t by;      /* the register; 0: none */
		uint8_t narrow;  /* only its lower half counts */
		uint8_t branch;  /* enum insn_kind of a branch; else 0 */
		uint8_t to_next; /* a branch to the next instruction, taken or not */
	} draft;
	struct {
		uint64_t from, to; /* the block of the next sample */
		uint8_t adds[EXACT_CLASSES];
	} around;
	/* engine/callback.c */
	struct {
		uint64_t n;                 /* instructions between two calls; 0: no calls */
		uint64_t enter, call, with; /* libtare's function; its arguments */
		uint64_t calls;             /* so far */
		int64_t left;               /* of the countdown, which stops during a call */
		uint32_t inside;            /* a call has not returned */
		volatile uint32_t due;      /* its signal was sent */
	} callback;
	uint64_t ended_at;
	uint64_t rseq;               /* the area it registered, or 0 */
	uint64_t cpus;               /* with SAME_CPUS: the affinity that it set; 0: all */
	uint32_t cpu, pad_cpu;       /* the first of them */
	uint64_t resume_mask;        /* set when a new thread leaves the engine */
	uint32_t filter;             /* the last one installed or inherited, or 0 */
	uint32_t strict;             /* seccomp's strict mode */
	uint32_t clear_handlers;     /* a child with CLONE_CLEAR_SIGHAND */
	uint32_t child_serial;       /* of the process being created */
	uint32_t randoms;            /* number of random chunks from random.c */
	uint32_t children;           /* number of threads and processes it created */
	uint64_t stable_id;          /* stable_id.h */
	volatile uint64_t waits;     /* waits for these signals, in sigwait() */
	struct pending_signals kept; /* signals sent to this thread */
	volatile uint32_t park;      /* asked to leave the engine: its process dies */
	/* inside on_signal(), where a fault of the engine kills it without a report */
	volatile uint32_t handling;
	/* With SAME_CLOCK: its virtual time is `clock` + `count`. */
	int64_t clock;
	int64_t count_first; /* `count` when it began */
	/* while it is in a call that only waits: the virtual time at which it continues; 0: none */
	volatile int64_t until;
	/* the same of a call with a timeout, while AFTER_WAIT is due; 0: none */
	int64_t timeout;
	/* a deadline in real time; `wait_kept` is the address of the program's */
	int64_t wait_real[2];
	uint64_t wait_kept;
	uint32_t wait_register;  /* the one with the address; 0: the deadline is the program's */
	int32_t timeout_returns; /* the result if the time is over */
	/* With SAME_TURNS: engine/turns/turn_order.c. */
	uint32_t ordered;                  /* it takes turns */
	volatile uint32_t turn_state;      /* enum turn_state */
	volatile uint32_t granted;         /* futex: grows when the thread gets its turn */
	uint32_t turn_parent;              /* the slot of a parent in vfork(), plus 1; 0: none */
	uint32_t seen_calls, seen_signals; /* of struct turns, when it last checked its wait */
	uint32_t may_be_outside;           /* another program may end its wait */
	uint32_t last_signal;              /* the last one that was put off */
	uint64_t ticket;             /* the smallest one of all threads that can run is next */
	uint64_t noticed;            /* pending signals that were reported */
	volatile int64_t turn_until; /* its deadline; see turn_time() */
	/* a futex that it waits for; 0: it was woken */
	volatile uint64_t futex;
	uint32_t futex_bits, futex_shared;
};

enum turn_state {
	TURN_NONE,   /* it takes no turns, or ends */
	TURN_READY,  /* it can run */
	TURN_POLLS,  /* it waits, and checks for the event itself when it has the turn */
	TURN_SLEEPS, /* it waits for a signal, the end of a thread, or a time */
	TURN_FUTEX,  /* it waits for another thread's FUTEX_WAKE */
	TURN_OUT,    /* it waits in the kernel */
};

#define TURN_NEVER INT64_MAX

#define AT(f, o) _Static_assert(offsetof(struct thread, f) == o, "layout.h: " #f)
AT(count, T_COUNT);
AT(self, T_SELF);
AT(rax, T_RAX);
AT(rcx, T_RCX);
AT(scratch, T_SCRATCH);
AT(target, T_TARGET);
AT(edge, T_EDGE);
AT(jump, T_JUMP);
AT(stack, T_STACK);
AT(dispatch, T_DISPATCH);
AT(miss, T_MISS);
AT(syscall, T_SYSCALL);
AT(tail, T_TAIL);
AT(child, T_CHILD);
AT(pending, T_PENDING);
AT(scratch2, T_SCRATCH2);
AT(regs, T_REGS);
AT(flags, T_FLAGS);
AT(user_gs, T_USER_GS);
AT(left, T_LEFT);
AT(in_call, T_IN_CALL);
AT(generation, T_GENERATION);
AT(path, T_PATH);
AT(turn, T_TURN);
#undef AT

/* Parts of a thread's slot before its counters. */
enum {
	STACK_TOP = 0x10000, /* the engine's stack, downwards */
	ALT_STACK = 0x20000, /* the engine's signal stack, upwards */
	ALT_STACK_SIZE = 0x20000,
};

#endif

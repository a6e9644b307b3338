/* SPDX-License-Identifier: MIT */
/* One thread of a counted program, as its slot on the board holds it. */
#ifndef EXACT_THREAD_H
#define EXACT_THREAD_H

#include <stddef.h>
#include "exact/board.h"
#include "exact/layout.h"

/* What is left to do behind a system call. */
enum {
	AFTER_NOTHING,
	AFTER_UNPIN = 1,  /* memory that the kernel may have written to is the engine's again */
	AFTER_OPEN = 2,   /* a file was opened to be written */
	AFTER_UNLOCK = 4, /* of a fork */
	AFTER_LOOK = 16,  /* one was opened to be read */
	AFTER_MASK = 8,   /* the kernel had the program's mask whole: kept.c */
};

/* In `pending`. */
enum { PUT_OFF = 1 /* queued again, blocked */, KEPT = 2 /* see kept.c */ };

enum { LATER_MAX = 2 };

/* One thread of the program. GS holds its address; it lies on the board. */
struct thread {
	volatile int64_t count; /* instructions, when COUNT_RUNNING */
	struct thread *self;
	uint64_t rax, rcx; /* displaced around an indirect branch */
	uint64_t scratch;  /* displaced while counting, or by an operand out of reach */
	uint64_t target;   /* the program's pc on entry to the engine and on leaving it */
	uint64_t edge;     /* the direct branch it came by; 0: an indirect one */
	uint64_t jump;     /* translated code for `target` */
	uint64_t stack, dispatch, miss, syscall, tail;
	struct thread *child;      /* being born */
	volatile uint32_t pending; /* enum pending: signals wait until the engine leaves */
	uint32_t after;

	uint64_t scratch2;
	uint64_t regs[16];
	uint64_t flags;
	uint64_t user_gs;
	volatile uint32_t in_call;    /* in a system call: in no translated code */
	volatile uint32_t generation; /* of the oldest code it can be in; 0: none */
	uint64_t path; /* where it has been, when COUNT_PATH: path.c */
	int64_t left[SAMPLE_EVENTS]; /* by event, until its next sample: so many of its class come before it, when COUNT_EVERY */
	volatile uint32_t started;
	volatile uint32_t exec; /* enum exec_state */
	int32_t tid;
	uint32_t process, index;
	uint32_t not_process; /* ~process */
	uint32_t space; /* the memory it runs in */
	uint32_t born;       /* order of creation in the whole run */
	uint32_t gs_swapped; /* the program's own GS base is in force for one instruction */
	uint64_t frame_mask; /* for delivery: the mask the interrupted program had */
	uint64_t mask;       /* blocked by the program */
	uint64_t alt_sp, alt_size;
	uint32_t alt_flags;
	uint32_t stepping; /* a signal waits for the next clean instruction boundary */
	uint64_t step_mask;
	uint8_t step_info[128];
	uint32_t step_signal;
	uint32_t one_shot;
	int64_t settled[EXACT_CLASSES]; /* corrections to what its counters say */
	uint64_t settled_check;	       /* sums_check() of it, when the thread is not just adding */
	int64_t seen[EXACT_CLASSES];    /* what its counters said at its last reading: THREAD_SEEN */
	uint32_t has_seen, begins_process;
	uint32_t sampling; /* the next sample may lie in the block at `target` */
	uint32_t drafted;  /* a sample is written down, and taken once its instruction has retired */
	struct sampler {
		int64_t left_more;	 /* to add to `left`, if not 0 */
		uint64_t random, offset; /* for gaps between samples: generator state; position of the last sample in its n events */
		uint64_t samples;	 /* taken */
		struct operand {
			uint64_t address;
			uint32_t what; /* SAMPLE_OPERAND */
		} operand[1 + LATER_MAX]; /* of the draft, and of further samples of the same instruction */
	} sampler[SAMPLE_EVENTS]; /* by event */
	struct {
		uint64_t moved;	      /* rsi or rdi before a string instruction that repeats */
		uint64_t width;	      /* of an operand, in bytes */
		uint8_t by;	      /* which of them; 0: it does not */
		uint8_t narrow;	      /* of which the lower half counts */
		uint8_t branch;	      /* enum insn_kind of a branch; else 0 */
		uint8_t to_next;      /* a branch that leads to the next instruction, taken or not */
	} draft;
	struct {
		uint64_t from, to; /* the block that the next sample is in */
		uint8_t adds[EXACT_CLASSES];
	} around;
	uint64_t ended_at;
	uint64_t rseq; /* the area it registered, or 0 */
	uint64_t resume_mask;           /* put in force when a new thread leaves the engine */
	uint32_t filter; /* the last it installed or inherited, or 0 */
	uint32_t strict; /* seccomp's strict mode */
	uint32_t clear_handlers; /* a child with CLONE_CLEAR_SIGHAND */
	uint32_t child_serial;          /* of the process being born */
	uint32_t randoms; /* chunks of bytes it was given by random.c */
	uint32_t children; /* threads and processes that it began */
	uint64_t descent; /* descent.h */
	volatile uint64_t waits; /* for these signals, in sigwait() */
	struct kept kept; /* sent to this thread */
	volatile uint32_t park; /* is to come out of the engine: its process dies */
	volatile uint32_t handling; /* in on_signal(), where a fault of the engine's own kills without a word */
};

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
#undef AT

/* Parts of a thread's slot before its counters. */
enum {
	STACK_TOP = 0x10000, /* the engine's stack, downwards */
	ALT_STACK = 0x20000, /* the engine's signal stack, upwards */
	ALT_STACK_SIZE = 0x20000,
};

#endif

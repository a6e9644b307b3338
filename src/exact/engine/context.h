/* SPDX-License-Identifier: MIT */
/* A signal frame as the x86-64 kernel lays it out. Source:
 * linux/arch/x86/include/uapi/asm/sigcontext.h. */
#ifndef EXACT_CONTEXT_H
#define EXACT_CONTEXT_H

#include <stdint.h>

struct context {
	uint64_t flags, link;
	uint64_t stack_sp;
	uint32_t stack_flags, stack_pad;
	uint64_t stack_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2;
	uint64_t fpstate;
	uint64_t reserved[8];
	uint64_t mask;
};

struct info {
	int32_t signo, error, code, pad;
	uint64_t address;
	uint8_t rest[104];
};

struct frame {
	uint64_t restorer;
	struct context context;
	struct info info;
};

_Static_assert(sizeof(struct context) == 304, "struct ucontext");
_Static_assert(sizeof(struct info) == 128, "siginfo_t");

#endif

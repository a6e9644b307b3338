/* SPDX-License-Identifier: MIT */
/*
 * Between translated code and the engine. GS points at the thread's struct (layout.h). Only general
 * registers and flags are saved: the engine is built without vector code, so the rest is not touched.
 *
 * A signal may arrive at any instruction here; locate.c knows these ranges by their labels:
 *	leave_begin..leave_end    the program's registers are in struct thread, its pc in T_TARGET
 *	syscall_go..syscall_done  the program's registers are live (rcx, r11 aside)
 * Everywhere else in the engine the signal is deferred until engine_leave.
 */
#include "exact/layout.h"

	.intel_syntax noprefix
	.text

	/* all flags but CF, PF, AF, ZF, SF, OF, IF, and the one that is always set */
	.set NOT_ARITHMETIC, 0xfffff528

.macro SAVE_REGISTERS
	mov gs:[T_REGS + 0], rax
	mov gs:[T_REGS + 8], rcx
	mov gs:[T_REGS + 16], rdx
	mov gs:[T_REGS + 24], rbx
	mov gs:[T_REGS + 32], rsp
	mov gs:[T_REGS + 40], rbp
	mov gs:[T_REGS + 48], rsi
	mov gs:[T_REGS + 56], rdi
	mov gs:[T_REGS + 64], r8
	mov gs:[T_REGS + 72], r9
	mov gs:[T_REGS + 80], r10
	mov gs:[T_REGS + 88], r11
	mov gs:[T_REGS + 96], r12
	mov gs:[T_REGS + 104], r13
	mov gs:[T_REGS + 112], r14
	mov gs:[T_REGS + 120], r15
	mov rsp, gs:[T_STACK]
	pushfq
	pop qword ptr gs:[T_FLAGS]
	/* no direction, alignment or trace flag in here; popfq takes as long as all the rest */
	test dword ptr gs:[T_FLAGS], NOT_ARITHMETIC
	jz 9f
	push 2
	popfq
9:
	mov rdi, gs:[T_SELF]
.endm

.macro GLOBAL name
	.globl \name
	.hidden \name
\name:
.endm

	/* The first instruction of a counted program: rdi is its struct process, rsi the shared state. */
	.section .text.start, "ax"
image:
	jmp engine_start
	.balign 16
	.long engine_data - .
	.long engine_end - .
	.long syscall_after - .
	.long syscall_after_back - .
	.globl engine_start
engine_start:
	mov rdx, rsp
	lea rsp, [rip + start_stack_top]
	call engine_first
	/* rax: the first thread; GS points at it. */
	jmp engine_leave

	.text
	/* From the stub of direct branch T_EDGE. All registers are the program's. */
GLOBAL engine_dispatch
	SAVE_REGISTERS
	call dispatch
	jmp engine_leave

	/* From an indirect branch that found no code: rcx is the target; rax, rcx are in T_RAX, T_RCX. */
GLOBAL engine_miss
	mov gs:[T_TARGET], rcx
	mov rcx, gs:[T_RCX]
	mov rax, gs:[T_RAX]
	mov qword ptr gs:[T_EDGE], EDGE_MISS
	jmp engine_dispatch

	/* From a syscall instruction: rcx is the address after it; the program's rcx is in T_RCX. */
GLOBAL engine_syscall
	mov gs:[T_TARGET], rcx
	mov rcx, gs:[T_RCX]
	SAVE_REGISTERS
	call system_call
	/* fall through */

	/* Return to the program: load registers from struct thread, jump to T_JUMP. */
GLOBAL engine_leave
	cmp dword ptr gs:[T_PENDING], 0
	jne 1f
GLOBAL leave_begin
	mov rsp, gs:[T_STACK]
	mov rax, gs:[T_REGS + 0]
	mov rcx, gs:[T_REGS + 8]
	mov rdx, gs:[T_REGS + 16]
	mov rbx, gs:[T_REGS + 24]
	mov rbp, gs:[T_REGS + 40]
	mov rsi, gs:[T_REGS + 48]
	mov rdi, gs:[T_REGS + 56]
	mov r8, gs:[T_REGS + 64]
	mov r9, gs:[T_REGS + 72]
	mov r10, gs:[T_REGS + 80]
	mov r11, gs:[T_REGS + 88]
	mov r12, gs:[T_REGS + 96]
	mov r13, gs:[T_REGS + 104]
	mov r14, gs:[T_REGS + 112]
	mov r15, gs:[T_REGS + 120]
	push qword ptr gs:[T_FLAGS]
	popfq /* late: with a trap flag each further instruction takes 15 us in a virtual machine */
	mov rsp, gs:[T_REGS + 32]
	jmp qword ptr gs:[T_JUMP]
GLOBAL leave_end
1:
	mov rsp, gs:[T_STACK]
	mov rdi, gs:[T_SELF]
	call deliver_pending
	jmp engine_leave

	/*
	 * A system call made for the program with its own registers; T_TARGET is where it continues. The
	 * kernel puts the return address in rcx, so rcx tells a call that was interrupted and is to be
	 * restarted (rip back at the syscall) from one that was not made yet.
	 */
GLOBAL syscall_go
	mov dword ptr gs:[T_IN_CALL], 1
	mov ecx, 0
GLOBAL syscall_insn
	syscall
GLOBAL syscall_after
	/* must be visible to all threads before the buckets are read: retire.c */
	mov ecx, [rip + eng] /* eng.generation */
	mov gs:[T_GENERATION], ecx
	mov ecx, 0
	xchg ecx, gs:[T_IN_CALL]
	mov rcx, gs:[T_TARGET]
	jmp qword ptr gs:[T_TAIL]
GLOBAL syscall_done

	/* The same, but returns to the engine with the result; T_STARTED says why. */
GLOBAL syscall_go_back
	mov dword ptr gs:[T_IN_CALL], 1
	mov ecx, 0
GLOBAL syscall_insn_back
	syscall
GLOBAL syscall_after_back
	mov rcx, gs:[T_TARGET]
	SAVE_REGISTERS
	call system_call_done
	jmp engine_leave

	/*
	 * clone and similar calls, with all signals blocked. The child finds its struct in rbx, which
	 * the call does not use, and loads every register from there: it accesses no stack and no
	 * memory of the program.
	 */
GLOBAL clone_go
	mov rbx, gs:[T_CHILD]
	syscall
	mov rcx, rax
	jrcxz 1f
	jmp 2f
1:
	mov rsi, rbx
	mov edi, 0x1001 /* ARCH_SET_GS */
	mov eax, 158
	syscall
	mov rsp, gs:[T_STACK]
	mov rdi, gs:[T_SELF]
	call child_start
	jmp engine_leave
2:
	mov rcx, gs:[T_TARGET]
	SAVE_REGISTERS
	call clone_done
	jmp engine_leave

	/* thread_end(status, &state, free, nr): free the slot, then end without touching memory. */
GLOBAL thread_end
	mov dword ptr [rsi], edx
	mov eax, ecx
	syscall
	hlt

	/* raw_unblock(nr, a, b, c, d): deferred signals arrive right after it. */
GLOBAL raw_unblock
	mov rax, rdi
	mov rdi, rsi
	mov rsi, rdx
	mov rdx, rcx
	mov r10, r8
	syscall
GLOBAL unblock_after
	ret

	/* size_t copy_bytes(to, from, n): how many were copied before a fault. */
GLOBAL copy_bytes
	mov rcx, rdx
GLOBAL copy_insn
	rep movsb
GLOBAL copy_after
	mov rax, rdx
	sub rax, rcx
	ret

	/* bool store_pair(to, first, second): two words; false: a fault */
GLOBAL store_pair
	xor eax, eax
GLOBAL store_begin
	mov [rdi], rsi
	mov [rdi + 8], rdx
GLOBAL store_end
	mov al, 1
GLOBAL store_failed
	ret

	/* int is_readable(address): may its byte be read? */
GLOBAL is_readable
	xor eax, eax
GLOBAL readable_insn
	mov cl, [rdi]
	mov al, 1
GLOBAL readable_after
	ret

	/* uint64_t read_ticks(void): the time stamp counter, or 0 if the program has disabled RDTSC. */
GLOBAL read_ticks
GLOBAL ticks_insn
	rdtsc
	shl rdx, 32
	or rax, rdx
	ret
GLOBAL ticks_failed
	xor eax, eax
	ret

	/*
	 * bool old_gate(uint64_t regs[6]): a system call by the 32-bit gate, with rax, rbx, rcx, rdx,
	 * rsi and rdi; false: the kernel has no such gate.
	 */
GLOBAL old_gate
	push rbx
	push rdi
	mov rax, [rdi]
	mov rbx, [rdi + 8]
	mov rcx, [rdi + 16]
	mov rdx, [rdi + 24]
	mov rsi, [rdi + 32]
	mov rdi, [rdi + 40]
GLOBAL gate_insn
	int 0x80
	pop rdi
	mov [rdi], rax
	mov eax, 1
	pop rbx
	ret
GLOBAL gate_failed
	pop rdi
	xor eax, eax
	pop rbx
	ret

	/* The kernel does not clear the alignment check flag for a signal handler. */
GLOBAL engine_signal
	push 2
	popfq
	jmp on_signal

	/* void resume_frame(frame): rt_sigreturn from a frame that the engine built. */
GLOBAL resume_frame
	mov rsp, rdi
GLOBAL signal_restorer
	mov eax, 15
	syscall
	hlt

	/* A failed exec notifies the supervisor, which traces this thread, by a trap. */
GLOBAL exec_failed
	int3
GLOBAL exec_failed_after
	ret

	.bss
	.balign 64
	.space 16384
start_stack_top:

	.section .note.GNU-stack, "", @progbits

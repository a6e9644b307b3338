/* rdtsc, rdtscp, cpuid, rdpid, rdrand: their results vary and are not compared; that they leave the
 * other registers and the flags as they should is. */
#include "run.inc"
	begin
	mov	$0x1111, %ebx
	mov	$0x2222, %ecx
	flags	0xcd7
	rdtsc
	keepf
	keep	%rbx, %rcx
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %r12
	rdtscp
	shl	$32, %rdx
	or	%rdx, %rax
	cmp	%rax, %r12		/* time goes forwards */
	setb	%al
	and	$1, %eax
	keep	%rax
	flags	0xcd7
	xor	%eax, %eax
	cpuid
	keep	%rax, %rbx, %rcx, %rdx
	mov	$7, %eax
	xor	%ecx, %ecx
	cpuid
	keep	%rbx, %rcx
	mov	$0x80000001, %eax
	cpuid
	keep	%rcx, %rdx
	flags	0x402
	mov	$1, %eax
	cpuid
	keepf
	cld
	mov	$0xd, %eax
	xor	%ecx, %ecx
	cpuid
	keep	%rax, %rbx, %rcx, %rdx
1:	rdrand	%rax
	jnc	1b
	keepf
	finish

/* Bit tests with register, immediate and far memory offsets, scans, byte swaps, CRC, extensions. */
#include "run.inc"
	begin
	lea	mid(%rip), %rbx
	.irp i, bt, bts, btr, btc
	.irp n, 0, 63, 64, 500, -1, -300
	mov	$\n, %rcx
	flags	0x2
	\i	%rcx, (%rbx)
	keepf	1
	mov	$0x5555, %eax
	\i	%ecx, %eax
	keepf	1
	keep	%rax
	\i	%cx, (%rbx)
	keepf	1
	.endr
	\i\()q	$77, (%rbx)
	keepf	1
	\i\()w	$3, %ax
	keepf	1
	.endr
	.irp v, 1, 0x80, 0x8000000000000000, 0x100000
	movabs	$\v, %rcx
	bsf	%rcx, %rax
	keepf	0x40
	bsr	%rcx, %rdx
	keepf	0x40
	keep	%rax, %rdx
	bswap	%rcx
	movbe	%rcx, mid(%rip)
	movbe	mid(%rip), %ax
	keep	%rax, %rcx
	bswap	%ecx
	crc32b	%cl, %edx
	crc32q	%rcx, %rdx
	movzbl	%cl, %esi
	movsbq	%cl, %rdi
	movzwl	%cx, %ebp
	movslq	%ecx, %r8
	keep	%rdx, %rsi, %rdi, %rbp, %r8
	mov	%ch, %al
	mov	%al, %dh
	xchg	%ah, %bl
	xchg	%ah, %bl
	xadd	%ah, %dl
	add	%ch, %dh
	keep	%rax, %rdx
	cmpxchg	%cl, %dl
	keepf
	keep	%rax, %rdx
	.endr
	xor	%ecx, %ecx
	bsf	%rcx, %rax
	keepf	0x40
	mov	$40, %ecx
	lea	mid-160(%rip), %rsi
	mov	%r15, %rdi
	rep movsq
	mov	%rdi, %r15
	finish
	.data
	.skip	8192, 0xa5
mid:	.skip	8192, 0x5a

/* Shifts and rotates of every width by 0, 1, many and more than the width; double shifts. */
#include "run.inc"
	begin
	.irp n, 0, 1, 7, 8, 31, 32, 33, 63, 64
	mov	$\n, %ecx
	.irp i, shl, shr, sar, rol, ror, rcl, rcr
	.irp r, %al, %ax, %eax, %rax
	movabs	$0x81a3c5e7f1928374, %rax
	flags	0x3
	\i	%cl, \r
	keepf	0x1
	keep	%rax
	.endr
	.endr
	.irp i, shld, shrd
	movabs	$0x81a3c5e7f1928374, %rax
	mov	%rax, %rbx
	\i	%cl, %ebx, %eax
	keep	%rax
	\i	%cl, %rbx, %rax
	keep	%rax
	\i	$\n % 32, %rbx, mem(%rip)
	.endr
	.endr
	.irp i, shl, shr, sar, rol, ror, rcl, rcr
	movabs	$0x81a3c5e7f1928374, %rax
	flags	0x3
	\i	$1, %rax
	keepf	0x801
	\i	$1, %al
	keepf	0x801
	keep	%rax
	\i\()l	$5, mem(%rip)
	\i\()q	%cl, mem(%rip)
	.endr
	mov	mem(%rip), %rax
	keep	%rax
	finish
	.data
mem:	.quad	0x0123456789abcdef

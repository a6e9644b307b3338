/* The first thread ends, and another one continues, for longer than the interval at which the supervisor looks for
 * killed processes. /proc shows the state Z for such a process, but it runs. */
#include "run.inc"
	begin
	mov	$56, %eax
	mov	$0x10f00, %edi			/* VM FS FILES SIGHAND THREAD */
	lea	stack_end(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	test	%eax, %eax
	jz	work
	finish	0, 60
work:	mov	$35, %eax			/* nanosleep */
	lea	time(%rip), %rdi
	xor	%esi, %esi
	syscall
	mov	$10000, %ecx
1:	loop	1b
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.balign	8
time:	.quad	2, 200000000
	.bss
	.balign	4096
	.skip	4096
stack_end:

/* exact: refuse=iret
 * iretq in user mode. */
	.globl _start
_start:	mov	%rsp, %rcx
	mov	%ss, %eax
	push	%rax
	push	%rcx
	pushfq
	mov	%cs, %eax
	push	%rax
	lea	1f(%rip), %rax
	push	%rax
	iretq
1:	mov	$60, %eax
	xor	%edi, %edi
	syscall

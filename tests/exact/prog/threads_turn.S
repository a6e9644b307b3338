/* exact: linear=20,45,10000
 * N threads created in turn (N is argv[1]), each ended before the next begins, on one stack. */
	.globl _start
_start:	mov	16(%rsp), %rsi
	xor	%ebx, %ebx
1:	movzbl	(%rsi), %eax
	test	%eax, %eax
	jz	2f
	imul	$10, %rbx, %rbx
	lea	-'0'(%rbx, %rax), %rbx
	inc	%rsi
	jmp	1b
2:
3:	mov	$56, %eax
	mov	$0x4f00, %edi			/* VM FS FILES SIGHAND VFORK: goes on when that has ended */
	lea	stack(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	test	%eax, %eax
	jz	4f
	mov	%eax, %edi
	mov	$61, %eax			/* wait4(pid, NULL, __WALL, NULL) */
	xor	%esi, %esi
	mov	$0x40000000, %edx
	xor	%r10d, %r10d
	syscall
	dec	%rbx
	jnz	3b
	mov	total(%rip), %edi
	and	$63, %edi
	mov	$231, %eax
	syscall
4:	incl	total(%rip)
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.data
total:	.long	0
	.bss
	.balign	16
	.skip	4096
stack:

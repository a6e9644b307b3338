/* EIP-relative: nobody writes it. */
	.globl _start
_start:	mov	word(%eip), %rax
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.data
word:	.quad	0

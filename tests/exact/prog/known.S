/* exact: count=2026
 * A count known by construction: 10 + 2 * 1000 + 16. */
	.globl _start
_start:
	.rept 10
	nop
	.endr
	mov $1000, %ecx
1:	dec %ecx
	jnz 1b
	lea src(%rip), %rsi
	lea dst(%rip), %rdi
	mov $500, %ecx
	rep movsb
	xor %ecx, %ecx
	rep movsb
	mov $39, %eax
	syscall
	mov $39, %eax
	syscall
	movq $1, dst(%rip)
	movq $2, dst(%rip)
	mov $60, %eax
	xor %edi, %edi
	syscall
	.bss
src:	.skip 512
dst:	.skip 512

/* exact: refuse=int.0x80.call.that.seccomp.forbids unless=139
 * Strict mode, by the 32-bit gate: write is left, getpid is not. */
#include "run.inc"
	begin
	mov	$157, %eax
	mov	$22, %edi
	mov	$1, %esi
	syscall
	mov	$4, %eax
	mov	$1, %ebx
	lea	results(%rip), %rcx
	mov	$0, %edx
	int	$0x80
	test	%eax, %eax
	jnz	1f
	mov	$20, %eax
	int	$0x80
1:	mov	$60, %eax
	xor	%edi, %edi
	syscall

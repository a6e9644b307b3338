/* rep string instructions: each size, counts of 0, 1 and many, both directions, both ends of the
 * comparing ones, 32-bit addressing. Each counts one, whatever its count. */
#include "run.inc"
	.macro	one insn, count, f, value=0x41
	lea	src+64(%rip), %rsi
	lea	dst+64(%rip), %rdi
	mov	$\count, %ecx
	movabs	$\value, %rax
	flags	\f
	\insn
	keepf
	cld
	keep	%rax, %rcx
	lea	src(%rip), %rdx
	sub	%rdx, %rsi
	lea	dst(%rip), %rdx
	sub	%rdx, %rdi
	keep	%rsi, %rdi
	.endm
	begin
	.irp f, 0x2, 0xcd7
	.irp n, 0, 1, 2, 7, 8
	.irp i, "rep movsb", "rep movsw", "rep movsl", "rep movsq", "rep stosb", "rep stosw", "rep stosl", "rep stosq", "rep lodsb", "rep lodsw", "rep lodsl", "rep lodsq", "repe cmpsb", "repne cmpsb", "repe cmpsq", "repne cmpsl", "repe scasb", "repne scasb", "repne scasw", "repe scasq"
	one	"\i", \n, \f
	.endr
	.endr
	.endr
	one	"repne scasb", 60, 0x2, 0x7a
	one	"repe cmpsb", 60, 0x2
	one	"addr32 rep movsb", 5, 0x2
	one	"addr32 rep stosq", 3, 0x402
	one	"addr32 repne scasb", 9, 0x2
	mov	$0x100000000, %rcx
	lea	src(%rip), %rsi
	lea	dst(%rip), %rdi
	addr32 rep movsb			/* ecx is 0: nothing moves */
	keep	%rcx, %rsi, %rdi
	lea	dst(%rip), %rsi
	mov	%r15, %rdi
	mov	$20, %ecx
	rep movsq
	mov	%rdi, %r15
	/* a large one */
	lea	big(%rip), %rdi
	mov	$5000, %ecx
	mov	$0x3c, %al
	rep stosb
	keep	%rdi
	finish
	.data
src:	.ascii	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789--AAAAAAABBBBBBBBCCCCCCCCDDDDDDDDEEEEEEEE"
	.skip	64, 0x41
dst:	.ascii	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789--AAAAAAABBCBBBBBzCCCCCCCDDDDDDDDEEEEEEEE"
	.skip	64, 0x41
	.bss
big:	.skip	5008

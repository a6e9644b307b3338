/* Calls and returns that do not pair: popped, pushed, edited, skipped and doubled return addresses,
 * recursion, and two stacks that return into each other. */
#include "run.inc"
	begin
	mov	$12, %edi
	call	fib
	keep	%rax
	call	1f			/* get-pc */
1:	pop	%rax
	lea	1b(%rip), %rbx
	sub	%rbx, %rax
	keep	%rax
	lea	2f(%rip), %rax		/* push; ret as a jump */
	push	%rax
	ret
	ud2
2:	call	skip3			/* return address edited */
	.byte	0x0f, 0x0b, 0x90
	keep	%rdx
	call	outer			/* inner returns past outer */
	keep	%rdx
	lea	3f(%rip), %rax		/* a chain of returns, as in return-oriented code */
	push	%rax
	lea	hop(%rip), %rbx
	push	%rbx
	push	%rbx
	push	%rbx
	ret
3:	keep	%rdx
	/* a return to where no call was, 200 times, from one call site */
	mov	$200, %r12d
4:	call	elsewhere
	ud2
5:	dec	%r12d
	jnz	4b
	keep	%rdx
	/* coroutines: two stacks */
	lea	stack2_top(%rip), %rbx
	lea	worker(%rip), %rax
	mov	%rax, -8(%rbx)
	lea	-8(%rbx), %rbx
	mov	$50, %r13d
6:	xchg	%rsp, %rbx
	ret				/* into the worker */
back:	dec	%r13d
	jnz	6b
	keep	%rdx
	/* deep, then out */
	mov	$1000, %ecx
	call	deep
	keep	%rdx
	/* a return that finds a target seen before as a jump target */
	lea	7f(%rip), %rax
	jmp	*%rax
7:	inc	%edx
	cmp	$0x100000, %edx
	ja	8f
	or	$0x100000, %edx
	push	%rax
	ret
8:	keep	%rdx
	finish

fib:	cmp	$2, %edi
	jb	1f
	push	%rdi
	dec	%edi
	call	fib
	pop	%rdi
	push	%rax
	lea	-2(%rdi), %edi
	call	fib
	pop	%rdx
	add	%rdx, %rax
	ret
1:	mov	%edi, %eax
	ret
skip3:	addq	$3, (%rsp)
	inc	%edx
	ret
outer:	call	inner
	ud2
inner:	add	$8, %rsp
	inc	%edx
	ret
hop:	add	$5, %edx
	ret
elsewhere:
	lea	5b(%rip), %rax
	mov	%rax, (%rsp)
	inc	%edx
	ret
worker:
	add	$3, %edx
	lea	back(%rip), %rax
	lea	worker(%rip), %rcx
	lea	-8(%rsp), %rsp
	mov	%rcx, (%rsp)
	xchg	%rsp, %rbx
	push	%rax
	ret
deep:	dec	%ecx
	jz	1f
	call	deep
1:	inc	%edx
	ret
	.bss
	.balign	16
stack2:	.skip	4096
stack2_top:

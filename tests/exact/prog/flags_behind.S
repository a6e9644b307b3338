/*
 * Flags that are live only behind a jump, where as far before the jump lies code that would overwrite them all: who looks for the
 * reader on the wrong side counts over them.
 */
#include "run.inc"
	.macro	dead n
	.rept	\n
	sub	%eax, %eax			/* from its second byte on it is back in step after one instruction */
	.endr
	.endm

	.macro	behind f
	jmp	9f
	dead	60
9:	flags	\f
	jo	1f
1:	jmp	2f				/* a block of its own */
	dead	40
2:	keepf
	jmp	9f
	dead	60
9:	flags	\f
	jo	1f
1:	jc	3f				/* the jump behind this block's own */
3:	jmp	2f
	dead	40
2:	keepf
	jmp	9f
	dead	60
9:	flags	\f
	jo	1f
1:	call	2f
	dead	40
2:	keepf
	lea	8(%rsp), %rsp
	.endm

	begin
	.irp	f, 0x2, 0x8d7, 0x1, 0x40, 0x8c5, 0x10, 0x4, 0x80, 0x800
	behind	\f
	.endr
	finish

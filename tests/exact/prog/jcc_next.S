/* Conditional branches to the very next instruction: taken by their condition, not by where they go. */
#include "run.inc"
	begin
	.irp f, 0x2, 0xcd7, 0x43, 0x883, 0x806
	flags	\f
	.irp cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	j\cc	1f
1:
	.endr
	.irp c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.byte	0x0f, 0x80 + \c, 0, 0, 0, 0	/* the near form */
	.endr
	mov	$3, %ecx
	jrcxz	1f
1:	loop	1f
1:	loope	1f
1:	jmp	1f
1:	keepf
	keep	%rcx
	.endr
	finish

/* Without transactions, xbegin is an invalid instruction.		exact: lacks=rtm */
#include "run.inc"
	begin
	mov	$-1, %eax
	xbegin	1f
	xend
	mov	$0, %eax
1:	nop
	finish

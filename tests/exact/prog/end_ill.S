/* Death by an undefined instruction after a loop. */
	.globl _start
_start:	mov	$7, %ecx
1:	loop	1b
	ud2

/* The program kills itself by SIGKILL: the last instruction that retires is the system call. */
	.globl _start
_start:	mov	$39, %eax
	syscall
	mov	%eax, %edi
	mov	$62, %eax
	mov	$9, %esi
	syscall
	ud2

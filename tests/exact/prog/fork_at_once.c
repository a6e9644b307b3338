/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * Children that all run at once code which their parent never does: the same in two of them, else
 * blocks that add other things. What one takes a counter for, another may be taking it for, too.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 12 };

/* 1,200 blocks: up to three of each instruction, then a branch to what follows it anyway. */
__asm__(".text\n"
	".macro code name, seed\n"
	"\\name:\n"
	".set s, \\seed\n"
	".rept 1200\n"
	".set s, (s * 1103515245 + 12345) & 0x7fffffff\n"
	".rept (s >> 16) & 3; mov (%rsp), %eax; .endr\n"
	".rept (s >> 18) & 3; mov %eax, -8(%rsp); .endr\n"
	".rept (s >> 20) & 3; xorps %xmm0, %xmm0; .endr\n"
	".rept (s >> 22) & 3; test %eax, %eax; .endr\n"
	"je . + 2\n"
	".endr\n"
	"ret\n"
	".endm\n"
	"code code0, 1; code code1, 2; code code2, 3; code code3, 4; code code4, 5; code code5, 6\n");

void code0(void), code1(void), code2(void), code3(void), code4(void), code5(void);

int main(void)
{
	static void (*const codes[])(void) = { code0, code1, code2, code3, code4, code5 };
	int right = 0, status;

	for (int i = 0; i < CHILDREN; i++)
		if (fork() == 0) {
			codes[i / 2]();
			_exit(5);
		}
	for (int i = 0; i < CHILDREN; i++)
		right += wait(&status) > 0 && status == 5 << 8;
	printf("%d\n", right);
	return 0;
}

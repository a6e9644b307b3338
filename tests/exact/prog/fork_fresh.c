/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static linear=0,1,44
 * Children, as many as the argument says, one after the other, that each execute the same code
 * which their parent never does; in the midst of it each has a child of its own go on with more,
 * waits for it, and is killed. 96,000 counters for each: for 44 of them there are not as many.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code_page.h"

enum { BLOCKS = 24000, ROOM = 49152 };

/* or eax, 1, and branches that are not taken, each to what follows it anyway; ret */
static void generate(unsigned char *p)
{
	memcpy(p, "\x83\xc8\x01", 3);
	make_many(p + 3, p + 3 + 2 * BLOCKS, 0x74, 0);
	p[3 + 2 * BLOCKS] = 0xc3;
}

static int die(const unsigned char *code)
{
	int status = -1;
	pid_t pid;

	call(code);
	pid = fork();
	if (pid == 0) {
		call(code + ROOM);
		_exit(7);
	}
	if (waitpid(pid, &status, 0) != pid || status != 7 << 8)
		_exit(1);
	return kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	unsigned char *code = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	generate(code);
	generate(code + ROOM);
	if (mprotect(code, 2 * ROOM, PROT_READ | PROT_EXEC))
		return 1;
	for (int i = -1; i < n; i++) { /* the first fork of all is longer */
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(i < 0 ? kill(getpid(), SIGKILL) : die(code));
		if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) ||
		    WTERMSIG(status) != SIGKILL)
			return 2;
	}
	puts("killed");
	return 0;
}

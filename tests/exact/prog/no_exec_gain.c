/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * A program that lets none of its memory become executable any more (PR_SET_MDWE, Linux 6.3), with
 * code of its own making from before, and what it executes and forks afterwards.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code_page.h"
#include "say.h"

enum { SET = 65, GET = 66, REFUSE_EXEC_GAIN = 1 };

static void try(const char *what, int failed)
{
	SAY_LINE(what, failed, failed ? errno : 0);
}

int main(int argc, char **argv)
{
	int all = PROT_READ | PROT_WRITE | PROT_EXEC, sum = 0, how = MAP_PRIVATE | MAP_ANONYMOUS;
	unsigned char *p = mmap(NULL, 4096, all, how, -1, 0), *q;

	SAY_LINE("", prctl(GET, 0, 0, 0, 0));
	if (argc > 1) {
		try("mmap in another program", p == MAP_FAILED);
		return 0;
	}
	make(p, 5);
	sum += call(p);
	try("set", prctl(SET, REFUSE_EXEC_GAIN, 0, 0, 0) < 0);
	try("set again", prctl(SET, REFUSE_EXEC_GAIN, 0, 0, 0) < 0);
	try("unset", prctl(SET, 0, 0, 0, 0) < 0);
	try("wrong", prctl(SET, 8, 0, 0, 0) < 0);
	SAY_LINE("", prctl(GET, 0, 0, 0, 0));
	for (int i = 0; i < 20; i++) {
		make(p, i);
		sum += call(p);
	}
	SAY_LINE("", sum);
	try("mmap all", mmap(NULL, 4096, all, how, -1, 0) == MAP_FAILED);
	q = mmap(NULL, 8192, PROT_READ | PROT_EXEC, how, -1, 0);
	try("mmap executable", q == MAP_FAILED);
	try("mprotect all", mprotect(q, 4096, all) < 0);
	try("mprotect less", mprotect(q, 4096, PROT_READ | PROT_WRITE) < 0);
	try("mprotect back", mprotect(q, 4096, PROT_READ | PROT_EXEC) < 0);
	try("mprotect rest", mprotect(q + 4096, 4096, PROT_READ | PROT_EXEC) < 0);
	if (!fork()) {
		try("mmap all in a child", mmap(NULL, 4096, all, how, -1, 0) == MAP_FAILED);
		_exit(0);
	}
	wait(NULL);
	if (!fork())
		execl(argv[0], argv[0], "again", (char *)NULL);
	wait(NULL);
	return 0;
}

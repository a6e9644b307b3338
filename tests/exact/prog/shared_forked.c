/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * Code in shared memory that is executed where it is written, and a child that writes it, too: its
 * parent executes what the child has written, and the child what its parent has.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code_page.h"

enum { PAGE = 4096 };

static void with_a_child(unsigned char *x)
{
	int ends[2], status = 0;

	make(x, 1);
	printf("%d ", call(x));
	fflush(stdout);
	if (pipe(ends) < 0)
		return;
	if (!fork()) {
		int first, sum = call(x);

		if (read(ends[0], &first, sizeof first) < 0)
			_exit(99);
		sum += call(x);
		make(x, 4);
		_exit(sum + call(x));
	}
	make(x, 2);
	printf("%d ", call(x));
	if (write(ends[1], &status, sizeof status) < 0)
		return;
	wait(&status);
	printf("%d %d ", call(x), WEXITSTATUS(status) > 6);
	make(x, 5);
	printf("%d\n", call(x));
}

int main(void)
{
	int fd = memfd_create("code", MFD_CLOEXEC), prot = PROT_READ | PROT_WRITE | PROT_EXEC;

	with_a_child(mmap(NULL, PAGE, prot, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	if (ftruncate(fd, PAGE) < 0)
		return 9;
	with_a_child(mmap(NULL, PAGE, prot, MAP_SHARED, fd, 0));
	return 0;
}

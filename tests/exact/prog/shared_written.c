/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static compared=0
 * Code in a file of memory that is written by calls, each time after it ran. The engine compares
 * none of it with what it translated.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>
#include "code_page.h"

enum { PAGE = 4096, PAGES = 2, WAYS = 10, CALLS = 20 };

static int calls(const unsigned char *at)
{
	int sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += call(at);
	return sum;
}

int main(void)
{
	int fd = memfd_create("code", MFD_CLOEXEC), from = memfd_create("from", MFD_CLOEXEC),
	    ends[2];
	unsigned char *x, code[6];
	struct iovec v = { code, sizeof code };
	const int n = sizeof code;

	if (ftruncate(fd, (off_t)PAGES * PAGE) < 0 || pipe(ends) < 0)
		return 9;
	x = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	for (int at = 0; at <= PAGE; at += PAGE - 3)
		for (int way = 0; way < WAYS; way++) {
			loff_t to = at;
			off_t zero = 0;
			int done = 0;

			make(code, 100 + way);
			lseek(fd, at, SEEK_SET);
			pwrite(from, code, n, 0);
			switch (way) {
			case 0:
				done = pwrite(fd, code, n, at);
				break;
			case 1:
				done = write(fd, code, n);
				break;
			case 2:
				done = writev(fd, &v, 1);
				break;
			case 3:
				done = pwritev(fd, &v, 1, at);
				break;
			case 4:
				done = pwritev2(fd, &v, 1, at, 0);
				break;
			case 5:
				done = sendfile(fd, from, &zero, n);
				break;
			case 6:
				done = copy_file_range(from, &(loff_t){ 0 }, fd, &to, n, 0);
				break;
			case 7:
				done = write(ends[1], code, n);
				done = splice(ends[0], NULL, fd, &to, n, 0);
				break;
			case 8:
				done = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
						 PAGES * PAGE);
				done = pwrite(fd, code, n, at);
				break;
			default:
				done = ftruncate(fd, at);
				done = ftruncate(fd, PAGES * PAGE);
				done = pwrite(fd, code, n, at);
			}
			printf("%d: %d %d\n", way, done, calls(x + at));
		}
	return 0;
}

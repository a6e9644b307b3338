/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * A page of code that is rewritten often, then executed for long, then rewritten again: in private
 * memory and in two views of a file of memory, one of which the process has sent to itself.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "code_page.h"

enum { PAGE = 4096, REWRITES = 300 };

/*
 * Executions without a change: enough for the engine to watch the page again (UNCHANGED_MIN), twice
 * as many, and too few.
 */
static const int calls[] = { 4300, 8500, 500 };

static int often_then_long(unsigned char *write_at, unsigned char *run_at)
{
	int sum = 0;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < REWRITES; i++) {
			make(write_at, i + round);
			sum += call(run_at);
		}
		for (int i = 0; i < calls[round]; i++)
			sum += call(run_at);
	}
	return sum;
}

static union {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head;
} control;

static struct iovec byte = { .iov_base = "x", .iov_len = 1 };
static struct msghdr message = { .msg_iov = &byte,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control) };

/* What comes out of a socket that `fd` was sent through. */
static int sent(int fd)
{
	char buf[1];
	struct iovec to = { .iov_base = buf, .iov_len = 1 };
	int pair[2], got;

	control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
					 .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	message.msg_iov = &byte;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || sendmsg(pair[0], &message, 0) != 1)
		_exit(8);
	message.msg_iov = &to;
	if (recvmsg(pair[1], &message, 0) != 1)
		_exit(7);
	memcpy(&got, CMSG_DATA(&control.head), sizeof(got));
	return got;
}

int main(void)
{
	int fd = memfd_create("code", 0), other;
	unsigned char *both = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *w, *x, one[16];

	printf("%d\n", often_then_long(both, both));
	if (ftruncate(fd, PAGE))
		return 9;
	w = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	x = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	printf("%d\n", often_then_long(w, x));
	close(sent(1)); /* which is no file of code */
	printf("%d\n", often_then_long(w, x));
	other = sent(fd);
	make(one, 77);
	if (pwrite(other, one, sizeof(one), 0) != sizeof(one))
		return 6;
	printf("%d\n", call(x));
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * System calls that write into a page with code that has just been executed, each in its own way:
 * results, state that a second try would not find any more (a signal, a child's end, a datagram),
 * and the code read in.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "code_page.h"
#include "say.h"

static unsigned char *page; /* code at its start, and room for results; the page before is data */

#define SAY(what, expression)                                                                      \
	do {                                                                                       \
		if (call(page) != 5)                                                               \
			puts("other code");                                                        \
		errno = 0;                                                                         \
		long said = (long)(expression);                                                    \
		SAY_LINE(what, said, errno);                                                       \
	} while (0)

static void *at(int offset)
{
	return page + offset;
}

static void results(void)
{
	SAY("clock_gettime", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, at(64)));
	SAY("fstat", syscall(SYS_fstat, 0, at(128)));
	SAY("rt_sigaction", syscall(SYS_rt_sigaction, SIGUSR1, 0, at(512), 8));
	SAY("rt_sigprocmask", syscall(SYS_rt_sigprocmask, 0, 0, at(768), 8));
	SAY("sigaltstack", syscall(SYS_sigaltstack, 0, at(800)));
	SAY("arch_prctl", syscall(SYS_arch_prctl, 0x1003, at(848)));
	SAY("getcwd", syscall(SYS_getcwd, at(900), 4000 - 900) > 0);
	SAY("getrandom", syscall(SYS_getrandom, at(1000), 3000, 0));
	SAY("uname", syscall(SYS_uname, at(1100)));
	SAY("getrusage", syscall(SYS_getrusage, RUSAGE_SELF, at(1600)));
	SAY("prlimit64", syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, at(1800)));
	SAY("futex wake", syscall(SYS_futex, at(1900), 1, 1, 0, 0, 0));
	SAY("sched_getaffinity", syscall(SYS_sched_getaffinity, 0, 128, at(2000)) > 0);
	SAY("ioctl", syscall(SYS_ioctl, open("/dev/null", O_RDONLY), 0x5401, at(2200)));
}

static void state(void)
{
	struct sockaddr *name = at(1300);
	socklen_t *name_size = at(1500);
	int pair[2];
	sigset_t set;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	SAY("rt_sigtimedwait", syscall(SYS_rt_sigtimedwait, &set, at(3000), 0, 8));
	pid = fork();
	if (!pid)
		_exit(3);
	SAY("wait4", syscall(SYS_wait4, pid, at(904), 0, at(1000)) == pid);
	SAY("status", WEXITSTATUS(*(int *)at(904)));
	SAY("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, at(1200)));
	memcpy(pair, at(1200), sizeof pair);
	for (int i = 0; i < 3; i++)
		if (write(pair[0], "datagram", 8) != 8)
			puts("not written");
	*name_size = 100;
	SAY("recvfrom", recvfrom(pair[1], at(2000), 100, 0, name, name_size));

	struct iovec two[2] = { { at(-4), 4 }, { at(2100), 50 } };
	struct msghdr message = { .msg_iov = two, .msg_iovlen = 2 };

	SAY("recvmsg", recvmsg(pair[1], &message, 0));
	SAY("peek", *(char *)at(2100));

	struct mmsghdr several[2] = { { .msg_hdr = message }, { .msg_hdr = message } };

	SAY("recvmmsg", recvmmsg(pair[1], several, 2, MSG_DONTWAIT, NULL));
	SAY("pipe", syscall(SYS_pipe, at(2300)));

	struct pollfd *p = at(2400);

	p->fd = pair[0];
	p->events = POLLOUT;
	SAY("poll", poll(p, 1, -1));
	SAY("revents", p->revents == POLLOUT);

	struct epoll_event e = { .events = EPOLLOUT, .data.u32 = 77 };
	int set_of = epoll_create1(0);

	epoll_ctl(set_of, EPOLL_CTL_ADD, pair[0], &e);
	SAY("epoll_wait", epoll_wait(set_of, at(2500), 10, -1));
	SAY("data", ((struct epoll_event *)at(2500))->data.u32);
}

/* Code read in, alone and behind data, in one piece and in several. */
static void code(void)
{
	unsigned char bytes[8192] = { 0 };
	struct iovec pieces[2] = { { page - 100, 100 }, { page, 6 } };
	struct iovec from = { bytes, 6 }, to = { page, 6 };
	int fd = memfd_create("code", 0), pipes[2];

	SAY("pipe", pipe(pipes));
	make(bytes, 60);
	SAY("write", pwrite(fd, bytes, 6, 0));
	SAY("pread", pread(fd, page, 6, 0));
	SAY_LINE("", call(page));
	make(page, 5);
	make(bytes + 4096, 61);
	SAY("write", pwrite(fd, bytes, 8192, 0));
	SAY("pread over both", pread(fd, page - 4096, 8192, 0));
	SAY_LINE("", call(page));
	make(page, 5);
	SAY("write", write(pipes[1], bytes, 4200));
	SAY("read over both", read(pipes[0], page - 4096, 8192));
	SAY_LINE("", call(page));
	make(page, 5);
	make(bytes + 100, 62);
	SAY("write", pwrite(fd, bytes, 106, 0));
	SAY("preadv", preadv(fd, pieces, 2, 0));
	SAY_LINE("", call(page));
	make(page, 5);
	make(bytes, 63);
	SAY("process_vm_writev", process_vm_writev(getpid(), &from, 1, &to, 1, 0));
	SAY_LINE("", call(page));
	make(bytes, 64);
	SAY_LINE("", call(page));
	printf("process_vm_readv %zd\n", process_vm_readv(getpid(), &to, 1, &from, 1, 0));
	SAY_LINE("", call(page));
}

int main(void)
{
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	page += 4096;
	setvbuf(stdout, NULL, _IONBF, 0);
	make(page, 5);
	results();
	state();
	code();
	return 0;
}

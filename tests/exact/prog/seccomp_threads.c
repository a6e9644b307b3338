/* exact: compare=workers
 * Filters for one thread, and for all of them; a filter that kills one thread of several. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int to[2], from[2], beside[2];

static long install(unsigned flags, unsigned call, unsigned what)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, what),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, rules };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static void pass(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(90);
}

static void await(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		_exit(91);
}

static void *other(void *arg)
{
	long *said = arg;

	for (int i = 0; i < 3; i++) {
		await(to[0]);
		errno = 0;
		said[i] = syscall(SYS_getpgrp) > 0 ? 0 : errno;
		if (i == 1)
			said[3] = install(0, SYS_getsid, SECCOMP_RET_ERRNO | 5);
		if (i == 2)
			install(SECCOMP_FILTER_FLAG_TSYNC, SYS_getuid, SECCOMP_RET_ERRNO | 74);
		pass(from[1]);
	}
	return NULL;
}

static void *killed(void *arg)
{
	install(0, SYS_getpgrp, SECCOMP_RET_KILL_THREAD);
	*(int *)arg = 1;
	return (void *)syscall(SYS_getpgrp);
}

static void one_dies(void)
{
	pthread_t t;
	volatile int began = 0;
	void *ret = (void *)5;

	pthread_create(&t, NULL, killed, (void *)&began);
	pthread_join(t, &ret); /* the kernel clears the thread's id, however it ends */
	printf("killed thread: began %d\n", began);
	fflush(stdout);
	_exit(4);
}

int main(void)
{
	long said[4] = { 0 };
	pthread_t t;
	int status;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (pipe(to) || pipe(from))
		return 1;
	if (fork() == 0)
		one_dies();
	wait(&status);
	printf("%#x\n", status);
	if (pipe(beside))
		return 1;
	if (fork() == 0) { /* another process, whom none of it concerns */
		await(beside[0]);
		_exit(syscall(SYS_getppid) > 0 && syscall(SYS_getpgrp) > 0 ? 6 : 5);
	}
	pthread_create(&t, NULL, other, said);
	install(0, SYS_getpgrp, SECCOMP_RET_ERRNO | 71);
	pass(to[1]), await(from[0]);
	printf("mine alone: %ld\n",
	       install(SECCOMP_FILTER_FLAG_TSYNC, SYS_getppid, SECCOMP_RET_ERRNO | 72));
	pass(to[1]), await(from[0]);
	/* the other thread has one that is not mine */
	printf("cannot: %d\n",
	       install(SECCOMP_FILTER_FLAG_TSYNC, SYS_getpid, SECCOMP_RET_ERRNO | 73) > 0);
	pass(to[1]), await(from[0]);
	pthread_join(t, NULL);
	printf("%ld %ld %ld %ld\n", said[0], said[1], said[2], said[3]);
	errno = 0;
	printf("%ld %d\n", syscall(SYS_getppid), errno);
	pass(beside[1]);
	wait(&status);
	printf("beside: %d\n", WEXITSTATUS(status));
	errno = 0;
	printf("%ld %d\n", syscall(SYS_getuid), errno); /* by the other thread, for all */
	return 0;
}

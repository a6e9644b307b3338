/* SPDX-License-Identifier: MIT */
/*
 * exact: build=dynamic compare=output reason=it_runs_other_programs
 * A program that limits its own memory, and its children, by setrlimit and prlimit: it has what it
 * allows itself to the page, is told what it has set, and the programs it executes and the threads
 * it starts run under the same limits.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1ul << 20)

/* How much more can be had, in pages, one by one from large pieces to small. */
static unsigned long room(int flags)
{
	unsigned long n = 0;

	for (unsigned long piece = 1ul << 30; piece >= 4096; piece /= 2) {
		void *p;

		while ((p = mmap(NULL, piece, PROT_READ | PROT_WRITE,
				 flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) != MAP_FAILED)
			n += piece / 4096;
	}
	return n;
}

static void *nothing(void *a)
{
	return a;
}

static void show(const char *what, int resource)
{
	struct rlimit l = { 0 }, m = { 0 };
	int a = getrlimit(resource, &l), b = prlimit(getpid(), resource, NULL, &m);

	printf("%s: %d %d %lx %lx, %lx %lx\n", what, a, b, (long)l.rlim_cur, (long)l.rlim_max,
	       (long)m.rlim_cur, (long)m.rlim_max);
}

static void set(const char *what, int resource, unsigned long cur, unsigned long max)
{
	int ret = setrlimit(resource, &(struct rlimit){ cur, max });

	printf("%s: set %d %s\n", what, ret, ret ? strerror(errno) : "");
	show(what, resource);
}

static void child(const char *what, int resource, unsigned long limit, int flags)
{
	pthread_t t;
	pid_t pid;
	int status, ret;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		set(what, resource, limit, limit);
		ret = pthread_create(&t, NULL, nothing, NULL);
		if (!ret)
			pthread_join(t, NULL);
		printf("%s: thread %d, ", what, ret);
		fflush(stdout);
		pid = fork();
		if (!pid) {
			printf("%s: room %lu, then %lu\n", what, room(flags), room(flags));
			exit(0);
		}
		waitpid(pid, &status, 0);
		execl("/bin/sh", "sh", "-c",
		      "ulimit -v; ulimit -d; (exit 3); echo $?; /bin/echo on; exec /bin/ls /dev/null",
		      NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("%s: status %x\n", what, status);
}

int main(void)
{
	struct rlimit old = { 0 };
	int go[2];
	char c;
	pid_t pid;

	child("space", RLIMIT_AS, 300 * MIB + 4096, MAP_PRIVATE);
	child("data", RLIMIT_DATA, 200 * MIB + 8192, MAP_PRIVATE);
	child("not data", RLIMIT_AS, 150 * MIB + 100, MAP_SHARED);
	set("wrong", RLIMIT_AS, 2, 1);
	set("near infinity", RLIMIT_AS, RLIM_INFINITY - 2, RLIM_INFINITY - 1);
	set("more", RLIMIT_DATA, 500 * MIB, 1ul << 40);
	set("less", RLIMIT_DATA, 400 * MIB, 450 * MIB);
	set("soft up", RLIMIT_DATA, 450 * MIB, 450 * MIB);
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 1;
	set("hard up", RLIMIT_DATA, 400 * MIB, 451 * MIB);
	set("hard up by much", RLIMIT_DATA, 400 * MIB, RLIM_INFINITY);
	printf("bad address: %d\n", prlimit(0, RLIMIT_AS, (void *)8, NULL));
	printf("limited: %lu\n", room(MAP_PRIVATE) > 100000);
	if (pipe(go) < 0)
		return 1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		printf("child: %d\n", (int)read(go[0], &c, 1));
		show("child", RLIMIT_DATA);
		return 0;
	}
	printf("of a child: %d",
	       prlimit(pid, RLIMIT_DATA, &(struct rlimit){ 300 * MIB, 310 * MIB }, &old));
	printf(", before %lx %lx\n", (long)old.rlim_cur, (long)old.rlim_max);
	fflush(stdout);
	if (write(go[1], "", 1) != 1)
		return 1;
	waitpid(pid, NULL, 0);
	show("own", RLIMIT_DATA);
	return 0;
}

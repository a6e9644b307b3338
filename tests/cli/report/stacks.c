/* SPDX-License-Identifier: MIT */
/*
 * Work at known places, for recordings: deep stacks, threads, a library that is opened late by a
 * parent and a child, code written at run time. With LATE it is that library, with INLINE its leaf
 * calls a function that the compiler puts into it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone, visibility("default")))

volatile unsigned sink;

#ifdef LATE

KEEP unsigned late_work(unsigned n)
{
	unsigned x = 0;

	for (unsigned i = 0; i < n; i++)
		x += i * i % 7;
	sink += x;
	return x;
}

#else

#ifdef INLINE
static inline __attribute__((always_inline)) unsigned tiny(unsigned x)
{
	return x * x % 7; /* TINY */
}

static inline __attribute__((always_inline)) unsigned small(unsigned x, unsigned i)
{
	return x * 31 + tiny(i); /* SMALL */
}
#endif

KEEP void touch(unsigned x)
{
	sink += x;
}

/* It calls, so that the compiler gives it a frame. */
KEEP unsigned leaf(unsigned n)
{
	unsigned x = 0;

	for (unsigned i = 0; i < n; i++) /* LEAF */
#ifdef INLINE
		x = small(x, i);         /* CALLS SMALL */
#else
		x += i * i % 7; /* LEAF */
#endif
	touch(x);
	return x;
}

KEEP unsigned inner(unsigned n)
{
	return leaf(n) + 1;
}

KEEP unsigned outer(unsigned n)
{
	return inner(n) + leaf(n / 2) + 1;
}

KEEP unsigned recurse(unsigned depth, unsigned n)
{
	return depth ? recurse(depth - 1, n) + 1 : outer(n);
}

KEEP unsigned deep(unsigned rounds)
{
	unsigned x = 0;

	for (unsigned i = 0; i < rounds; i++)
		x += recurse(i % 10, 20000);
	return x;
}

static void *thread(void *name)
{
	pthread_setname_np(pthread_self(), name);
	deep(2500);
	return NULL;
}

static int threads(void)
{
	static char one[] = "one", two[] = "two";
	pthread_t t[2];

	pthread_create(&t[0], NULL, thread, one);
	pthread_create(&t[1], NULL, thread, two);
	deep(1000);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}

static int late(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	unsigned (*work)(unsigned) = lib ? (unsigned (*)(unsigned))dlsym(lib, "late_work") : NULL;
	pid_t child;

	if (!work)
		return 1;
	child = fork();
	if (child == 0)
		prctl(PR_SET_NAME, "child");
	for (int i = 0; i < 1500; i++)
		work(20000);
	if (child == 0)
		_exit(0);
	return waitpid(child, NULL, 0) == child ? 0 : 1;
}

static int jit(void)
{
	/* loop: dec edi; jnz loop; ret, and the same for arm64 with w0 */
#ifdef __x86_64__
	static const unsigned char code[] = { 0xff, 0xcf, 0x75, 0xfc, 0xc3 };
#else
	static const unsigned char code[] = { 0x00, 0x04, 0x00, 0x71, 0xe1, 0xff,
					      0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
#endif
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
	char path[64];
	FILE *map;

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, code, sizeof(code));
	mprotect(at, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "wx");
	if (map) {
		fprintf(map, "%lx %zx jit\x1b[31m hot;code\n", (unsigned long)at, sizeof(code));
		fclose(map);
	}
	((void (*)(unsigned))at)(300000000);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "deep";

	if (!strcmp(what, "threads"))
		return threads();
	if (!strcmp(what, "late") && argc > 2)
		return late(argv[2]);
	if (!strcmp(what, "jit"))
		return jit();
	deep(4000);
	return 0;
}

#endif

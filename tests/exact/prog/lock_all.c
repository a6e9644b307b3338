/* SPDX-License-Identifier: MIT */
/*
 * mlockall() and what follows it: how much memory is locked, and what is mapped later, the same as
 * natively. exact: build=static
 */
#include <emmintrin.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "say.h"

static char text[1025];

/*
 * In as many instructions whatever stands before it: numbers of processes, above all the tracer's,
 * are longer and shorter. And in few: the judge steps through them all, at every line.
 */
static long locked_kib(void)
{
	int fd = open("/proc/self/status", O_RDONLY);
	unsigned at = 0;

	memset(text, 0, sizeof text);
	read(fd, text, sizeof text - 2);
	close(fd);
	for (unsigned i = 0; i + 1 < sizeof text;
	     i += 16) { /* the L of VmLck, 16 places at a time */
		__m128i l = _mm_cmpeq_epi8(_mm_loadu_si128((__m128i *)(text + i)),
					   _mm_set1_epi8('L'));
		__m128i c = _mm_cmpeq_epi8(_mm_loadu_si128((__m128i *)(text + i + 1)),
					   _mm_set1_epi8('c'));
		unsigned found = (unsigned)_mm_movemask_epi8(_mm_and_si128(l, c));

		at |= -(unsigned)(found != 0) & (i + (unsigned)__builtin_ctz(found | 1u << 16));
	}
	return at ? atol(text + at + 4) : -1;
}

static void say(const char *what, long ret)
{
	int error = ret == -1 ? errno : 0;

	SAY_LINE(what, ret, error, locked_kib());
}

static void *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static long in_core(void *p, size_t pages)
{
	unsigned char which[64] = { 0 };
	long n = 0;

	mincore(p, pages * 4096, which);
	for (size_t i = 0; i < pages; i++)
		n += which[i] & 1;
	return n;
}

static void later(const char *how)
{
	char *p = map(16 * 4096);
	int id = shmget(IPC_PRIVATE, 8192, 0600);
	void *s = shmat(id, NULL, 0);

	shmctl(id, IPC_RMID, NULL);
	SAY_LINE(how, in_core(p, 16), in_core(s, 2)); /* pages of a mapping, of shared memory */
	say("later", 0);
	sbrk(5 * 4096 + 16);
	say("heap", 0);
	munmap(p, 16 * 4096);
	shmdt(s);
	sbrk(-(5 * 4096 + 16));
}

int main(void)
{
	int status;

	say("none", 0);
	say("nonsense", mlockall(8));
	say("nothing", mlockall(0));
	say("on fault alone", mlockall(MCL_ONFAULT));
	say("what is there", mlockall(MCL_CURRENT));
	later("what is there");
	say("all", mlockall(MCL_CURRENT | MCL_FUTURE));
	later("all");
	if (!fork()) {
		say("child", 0);
		later("child");
		_exit(0);
	}
	wait(&status);
	say("no more", munlockall());
	later("no more");
	say("what comes", mlockall(MCL_FUTURE));
	later("what comes");
	say("on fault", mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT));
	later("on fault");
	say("no more", munlockall());
	say("one",
	    mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0) ==
			    MAP_FAILED
		    ? -1
		    : 0);
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 8192, 4 << 20 });
	say("by right", mlockall(MCL_CURRENT));
	munlockall();
	/* Somebody else, with 4 MiB to lock: enough for what there is, not for a mapping more. */
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 4 << 20, 4 << 20 });
	if (geteuid() == 0 && syscall(SYS_setuid, 65534))
		return 1;
	say("much", mlockall(MCL_CURRENT | MCL_FUTURE));
	say("too much", map(32 << 20) == MAP_FAILED ? -1 : 0);
	say("too much heap", sbrk(32 << 20) == (void *)-1 ? -1 : 0);
	munlockall();
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 8192, 4 << 20 });
	say("no room", mlockall(MCL_CURRENT));
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 0, 4 << 20 });
	say("not allowed", mlockall(MCL_CURRENT));
	return 0;
}

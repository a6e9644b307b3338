/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * Executes itself many times. Each time it calls a function in a file that is mapped at a fixed
 * address. Later something else is there: another file, the same file with other contents and the
 * old time of modification, memory that may not be executed, nothing, or changed code. Code that
 * was translated at first must not be executed then. A copy of this program is also executed,
 * changed and executed again.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include "say.h"

enum { TIMES = 5, SIZE = 4096, OFTEN = 300, MARK = 0x51a7e0 };

#define PLACE ((unsigned char *)0x10000000)
#define ONE   "kept_code.one"
#define OTHER "kept_code.other"
#define COPY  "kept_code.copy"

static sigjmp_buf back;

static void on_fault(int sig)
{
	siglongjmp(back, sig);
}

static void check(int ok, int where)
{
	if (!ok)
		_exit(where);
}

/* A function of many blocks: mov eax, n; test eax, eax; jz +0; ...; ret */
static void fill(unsigned char *to, int n)
{
	static const unsigned char block[] = { 0x83, 0xc0, 1, 0x85, 0xc0, 0x74, 0 };

	*to++ = 0xb8;
	memcpy(to, &n, sizeof n);
	to += sizeof n;
	for (int i = 0; i < OFTEN; i++, to += sizeof block)
		memcpy(to, block, sizeof block);
	*to = 0xc3;
}

static void make(const char *name, int n)
{
	unsigned char page[SIZE] = { 0 };
	int fd = open(name, O_RDWR | O_CREAT, 0600);

	fill(page, n);
	check(fd >= 0 && write(fd, page, sizeof page) == sizeof page, 90);
	close(fd);
}

static unsigned char *map(const char *name, int prot)
{
	int fd = open(name, O_RDONLY);
	void *at = mmap(PLACE, SIZE, prot, MAP_PRIVATE | MAP_FIXED, fd, 0);

	check(fd >= 0 && at == PLACE, 91);
	close(fd);
	return at;
}

static int call(void)
{
	int sig = sigsetjmp(back, 1);

	return sig ? -sig : ((int (*)(void))PLACE)();
}

__attribute__((noinline)) static int marked(void)
{
	int n;

	__asm__ volatile("mov $0x51a7e0, %0" : "=r"(n));
	return n;
}

/* What one of the processes does. */
static int act(const char *what)
{
	signal(SIGSEGV, on_fault);
	switch (what[0]) {
	case '1':
	case '2':
		map(what[0] == '1' ? ONE : OTHER, PROT_READ | PROT_EXEC);
		SAY_LINE("file", call(), call());
		break;
	case 'n':
		SAY_LINE("nothing", call());
		break;
	case 'd':
		map(ONE, PROT_READ);
		SAY_LINE("data", call());
		mprotect(PLACE, SIZE, PROT_READ | PROT_EXEC);
		SAY_LINE("then code", call());
		break;
	case 'a':
		mmap(PLACE, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		fill(PLACE, 5000);
		SAY_LINE("anonymous", call());
		PLACE[1] = 1;
		SAY_LINE("changed", call());
		break;
	case 'c':
		map(ONE, PROT_READ | PROT_EXEC);
		SAY_LINE("file", call());
		mprotect(PLACE, SIZE, PROT_READ | PROT_WRITE);
		PLACE[2] = 1;
		mprotect(PLACE, SIZE, PROT_READ | PROT_EXEC);
		SAY_LINE("changed", call());
		break;
	case 'w':
		map(ONE, PROT_READ | PROT_WRITE | PROT_EXEC);
		SAY_LINE("file", call());
		PLACE[2] = 2;
		SAY_LINE("changed", call());
		break;
	case 'u':
		map(ONE, PROT_READ | PROT_EXEC);
		SAY_LINE("file", call());
		munmap(PLACE, SIZE);
		SAY_LINE("unmapped", call());
		map(OTHER, PROT_READ | PROT_EXEC);
		SAY_LINE("other", call());
		break;
	case 'f':
		map(ONE, PROT_READ | PROT_EXEC);
		if (fork() == 0) {
			SAY_LINE("child", call());
			_exit(0);
		}
		wait(NULL);
		SAY_LINE("parent", call());
		break;
	default:
		SAY_LINE("mark", marked());
	}
	return 0;
}

static void run(const char *program, const char *what, int times)
{
	char *argv[] = { (char *)program, (char *)what, NULL }, *envp[] = { NULL };
	int status;

	while (times--) {
		pid_t child = vfork();

		if (child == 0) {
			execve(program, argv, envp);
			_exit(99);
		}
		check(waitpid(child, &status, 0) == child && !status, 92);
	}
}

/* Until a change now has a later time than one before: see changed_just_now() in shared_state.h. */
static void wait_until_old(void)
{
	nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
}

/* Change a byte, and set the old time of modification. */
static void change(const char *name, off_t at, unsigned char to)
{
	int fd = open(name, O_RDWR);
	struct timespec times[2];
	struct stat st;

	check(fd >= 0 && fstat(fd, &st) == 0 && pwrite(fd, &to, 1, at) == 1, 93);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	check(futimens(fd, times) == 0, 94);
	close(fd);
	wait_until_old();
}

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_RDWR | O_CREAT | O_TRUNC, 0700);
	struct stat st;
	void *all;

	check(in >= 0 && out >= 0 && fstat(in, &st) == 0, 95);
	all = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, in, 0);
	check(all != MAP_FAILED && write(out, all, (size_t)st.st_size) == st.st_size, 96);
	munmap(all, (size_t)st.st_size);
	close(in);
	close(out);
}

/* Where the operand of marked() is in the file, which is mapped from its beginning without gaps. */
static off_t mark_at(void)
{
	extern const unsigned char __executable_start[];
	const unsigned char *p = (const unsigned char *)marked;
	uint32_t mark = MARK;

	while (memcmp(p, &mark, sizeof mark) != 0)
		p++;
	return p - __executable_start;
}

int main(int argc, char **argv)
{
	const char *self = argv[0];

	if (argc > 1)
		return act(argv[1]);
	make(ONE, 1000);
	make(OTHER, 2000);
	copy(self, COPY);
	wait_until_old();
	run(self, "1", TIMES);
	run(self, "2", 2);
	run(self, "nothing", 2);
	run(self, "data", 2);
	run(self, "anonymous", 2);
	run(self, "changed", 2);
	run(self, "1", 1);
	run(self, "written", 2);
	run(self, "unmapped", 2);
	run(self, "fork", 2);
	change(ONE, 1, 7);
	run(self, "1", TIMES);
	run(COPY, "mark", TIMES);
	change(COPY, mark_at(), 0xe9);
	run(COPY, "mark", TIMES);
	unlink(ONE);
	unlink(OTHER);
	unlink(COPY);
	return 0;
}

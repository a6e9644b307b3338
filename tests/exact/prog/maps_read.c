/* SPDX-License-Identifier: MIT */
/*
 * Reads its own maps by every call that can, in pieces of several sizes, and prints which bytes
 * came in which pieces: the engine does not show.
 * exact: build=dynamic
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "say.h"
#include "thread_end.h"

static char text[1 << 16];

static unsigned long hash_of(const char *s, long n)
{
	unsigned long h = 5381;

	for (long i = 0; i < n; i += 8) { /* every byte, eight at once */
		unsigned long word = 0;

		memcpy(&word, s + i, n - i < 8 ? (unsigned long)(n - i) : 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15;
	}
	return h >> 8 | 1ul << 55; /* always 17 digits */
}

/* All of it, by pieces of `size`; what a read gave. */
static long read_by(int fd, long size)
{
	long at = 0, n, pieces = 0, last = 0;

	while ((n = read(fd, text + at, (unsigned long)size)) > 0) {
		at += n;
		last = n;
		pieces++;
	}
	SAY_LINE("read", size, at, pieces, last, (long)lseek(fd, 0, SEEK_CUR));
	return at;
}

static void by_offsets(int fd, long size)
{
	char piece[300], more[200];
	struct iovec two[2] = { { piece, 100 }, { more, sizeof more } };
	static const long places[] = { 0, 1, 72, 100, 1000, 1500, 333 };
	long n;

	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		n = pread(fd, piece, sizeof piece, places[i]);
		SAY_LINE("pread", places[i], n, memcmp(piece, text + places[i], (unsigned long)n));
		n = preadv(fd, two, 2, places[i]);
		SAY_LINE("preadv", n, memcmp(piece, text + places[i], 100),
			 memcmp(more, text + places[i] + 100, 200));
	}
	n = pread(fd, piece, sizeof piece, size - 10);
	SAY_LINE("at its end", n, (long)pread(fd, piece, sizeof piece, size),
		 (long)pread(fd, piece, sizeof piece, size + 99999));
	n = syscall(SYS_pread64, fd, 8, sizeof piece, 0);
	SAY_LINE("to nowhere", n, errno);
	n = pread(fd, piece, sizeof piece, -1);
	SAY_LINE("from nowhere", n, errno);
	lseek(fd, 500, SEEK_SET);
	n = readv(fd, two, 2);
	SAY_LINE("readv", n, memcmp(piece, text + 500, 100), (long)lseek(fd, 0, SEEK_CUR));
	n = lseek(fd, 0, SEEK_END);
	SAY_LINE("seek to the end", n, errno);
	n = lseek(fd, -700, SEEK_CUR);
	SAY_LINE("seek back", n, (long)read(fd, piece, 50), memcmp(piece, text + 100, 50));
	n = (long)mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	SAY_LINE("mmap", n, errno);
}

/* What is mapped while the file is read, after the reader and before it. */
static void while_it_changes(void)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	long n = read(fd, text, 1000);
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	char *low = mmap((void *)0x10000000, 4096, PROT_READ, flags, -1, 0);
	char *high = mmap((void *)0x7fffe0000000, 4096, PROT_NONE, flags, -1, 0);

	for (long some; (some = read(fd, text + n, 1000)) > 0;)
		n += some;
	SAY_LINE("changed meanwhile", n, (long)hash_of(text, n), (long)low, (long)high);
	munmap(low, 4096);
	munmap(high, 4096);
	close(fd);
}

/* Pages that can be written and executed, of which one has been. */
static void with_code(void)
{
	static const unsigned char code[] = { 0xb8, 42, 0, 0, 0, 0xc3 };
	int fd = open("/proc/self/maps", O_RDONLY);
	unsigned char *jit = mmap(0, 8 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long n;

	for (int page = 2; page < 6; page += 3) {
		memcpy(jit + page * 4096, code, sizeof code);
		SAY_LINE("code", ((int (*)(void))(jit + page * 4096))());
	}
	n = read_by(fd, 4000);
	SAY_LINE("with code", n, (long)hash_of(text, n));
	mprotect(jit + 3 * 4096, 4096, PROT_READ | PROT_EXEC);
	lseek(fd, 0, SEEK_SET);
	n = read_by(fd, 4000);
	SAY_LINE("part is read-only", n, (long)hash_of(text, n));
	munmap(jit, 8 * 4096);
	close(fd);
}

static void read_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	long n = read_by(fd, 5000);

	SAY_LINE("file", n, (long)hash_of(text, n));
	close(fd);
}

static void *in_thread(void *path)
{
	read_file(path);
	tell_end();
	return NULL;
}

int main(void)
{
	static const long sizes[] = { 1024, 4096, 60000, 333 };
	int fd = open("/proc/self/maps", O_RDONLY), again = dup(fd), status = 0;
	pthread_t t;
	long n = 0;
	pid_t pid;

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		lseek(again, 0, SEEK_SET);
		n = read_by(i & 1 ? fd : again, sizes[i]);
		SAY_LINE("maps", n, (long)hash_of(text, n));
	}
	if (write(1, text, (unsigned long)n) != n)
		return 1;
	by_offsets(fd, n);
	while_it_changes();
	with_code();
	pthread_create(&t, NULL, in_thread, "/proc/thread-self/maps");
	wait_for_end();
	pid = fork();
	if (!pid) {
		read_file("/proc/self/maps");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	SAY_LINE("child", status);
	return 0;
}

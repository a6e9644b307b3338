/* SPDX-License-Identifier: MIT */
/*
 * exact: build=dynamic
 * What is mapped in another process: by a descriptor from before a fork or an exec, and by the
 * parent's path. And what the process itself reads of its size, and of its memory where the
 * engine's is. The engine does not show.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "say.h"

enum { ENGINES = 0x7ff00000, PIECE = 4096 };

static char text[PIECE];

static void count_lines(const char *what, int fd)
{
	long lines = 0, bytes = 0, n;

	while ((n = read(fd, text, sizeof text)) > 0) {
		bytes += n;
		for (const char *s = text; (s = memchr(s, '\n', (unsigned long)(text + n - s)));
		     s++)
			lines++;
	}
	SAY_LINE(what, lines, bytes, n);
}

static void wait_for(int pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	SAY_LINE("child", (long)status);
}

static long pages_of_memory(void)
{
	int fd = open("/proc/self/statm", O_RDONLY);
	long n = read(fd, text, sizeof text - 1);

	text[n > 0 ? n : 0] = 0;
	close(fd);
	return atol(text);
}

static void own_memory(void)
{
	int fd = open("/proc/self/mem", O_RDWR);
	char piece[16] = "written";
	long n = pread(fd, piece, sizeof piece, ENGINES);

	SAY_LINE("at the engine's", n, (long)errno);
	n = pwrite(fd, piece, sizeof piece, ENGINES);
	SAY_LINE("at the engine's", n, (long)errno);
	n = pread(fd, piece, 4, (long)"abc");
	SAY_LINE("at its own", n, (long)!memcmp(piece, "abc", 4));
	close(fd);
}

int main(int argc, char **argv)
{
	char *again[] = { argv[0], "again", NULL };
	int fd, parent, pid;

	if (argc > 1) {
		count_lines("by its parent, before the exec", 3);
		return 0;
	}
	SAY_LINE("pages", pages_of_memory());
	own_memory();
	fd = open("/proc/self/maps", O_RDONLY);
	parent = open("/proc/self", O_PATH);
	pid = fork();
	if (!pid) {
		count_lines("by its parent", fd);
		close(fd);
		fd = openat(parent, "maps", O_RDONLY);
		count_lines("of its parent", fd);
		_exit(0);
	}
	wait_for(pid);
	close(parent);
	close(fd);
	pid = vfork();
	if (!pid) { /* it has its parent's memory, and that is what it opens */
		dup2(open("/proc/self/maps", O_RDONLY), 3);
		execv(argv[0], again);
		_exit(9);
	}
	wait_for(pid);
	return 0;
}

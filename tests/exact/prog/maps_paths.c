/* SPDX-License-Identifier: MIT */
/*
 * The ways to the file that holds a process's own mappings: all give the same bytes, in none of
 * which the engine shows.
 * exact: build=dynamic compare=output reason=numbers-of-processes-have-digits
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char first[1 << 16], text[1 << 16], path[256];
static long n_first;

static long read_all(int fd, char *to)
{
	long n = 0;

	for (long some; (some = read(fd, to + n, 4000)) > 0;)
		n += some;
	return n;
}

static void same(const char *what, int fd)
{
	struct stat st;
	long n = read_all(fd, text);

	fstat(fd, &st);
	printf("%s: %d %o %ld\n", what, n == n_first && !memcmp(first, text, (unsigned long)n),
	       st.st_mode, (long)st.st_size);
	close(fd);
}

static const char *numbered(const char *format)
{
	snprintf(path, sizeof path, format, (int)getpid(), (int)gettid());
	return path;
}

/* By SCM_RIGHTS to itself. */
static int passed_on(int fd)
{
	char room[CMSG_SPACE(sizeof(int))], c = 0;
	struct iovec v = { &c, 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room
	};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int ends[2], got;

	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	*h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(h), &fd, sizeof fd);
	sendmsg(ends[0], &m, 0);
	recvmsg(ends[1], &m, 0);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof got);
	close(ends[0]);
	close(ends[1]);
	close(fd);
	return got;
}

/* Bytes of page entries of what the lists of this process do not have. */
static void entries_between(void)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	static const uint64_t places[] = { 0x7ff00000, 0x555500000000, 0x557ff0000000,
					   0x600000000000 };
	static uint64_t entries[512];
	long n = 0, set = 0;

	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		for (uint64_t k = 0; k < 64; k++) {
			n += pread(fd, entries, sizeof entries,
				   (long)(places[i] / 4096 + k * 512) * 8);
			for (unsigned e = 0; e < 512; e++)
				set += !!entries[e];
		}
	}
	pread(fd, entries, 8, (long)((uint64_t)entries / 4096) * 8);
	printf("pagemap: %ld bytes, %ld set; of its own: %d; of 7 bytes: %ld\n", n, set,
	       !!(entries[0] >> 63), (long)pread(fd, entries, 7, 0));
	close(fd);
}

int main(void)
{
	struct open_how how = { .flags = O_RDONLY };
	int dir, fd, status;

	setvbuf(stdout, NULL, _IONBF, 0);
	free(malloc(100000));
	closedir(opendir("/")); /* the heap grows no more */
	fd = open("/proc/self/maps", O_RDONLY);
	n_first = read_all(fd, first);
	close(fd);
	same("number", open(numbered("/proc/%d/maps"), O_RDONLY));
	same("task", open(numbered("/proc/%d/task/%d/maps"), O_RDONLY));
	same("self, task", open(numbered("/proc/self/task/%2$d/maps"), O_RDONLY));
	same("thread-self", open("/proc/thread-self/maps", O_RDONLY));
	same("dots", open("/proc/self/../self/./maps", O_RDONLY));
	dir = open("/proc/self", O_PATH | O_DIRECTORY);
	same("folder", openat(dir, "maps", O_RDONLY));
	same("openat2", (int)syscall(SYS_openat2, dir, "maps", &how, sizeof how));
	fd = openat(dir, "maps", O_PATH);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	same("opened again", open(path, O_RDONLY));
	fchdir(dir);
	same("working folder", open("maps", O_RDONLY | O_CLOEXEC));
	chdir("/tmp");
	snprintf(path, sizeof path, "/tmp/maps_paths.%d", (int)getpid());
	if (symlink("/proc/self/maps", path) == 0) {
		same("link", open(path, O_RDONLY));
		unlink(path);
	}
	same("dup3", dup3(open("/proc/self/maps", O_RDONLY), 77, 0));
	same("passed on", passed_on(open("/proc/self/maps", O_RDONLY)));
	fd = open("/proc/self/maps", O_RDONLY);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	text[readlink(path, text, sizeof text)] = 0;
	printf("%s\n", strcmp(text, numbered("/proc/%d/maps")) ? text : "its name");
	close(fd);
	entries_between();
	fflush(stdout);
	if (!fork()) {
		fd = open("/proc/self/maps", O_RDONLY);
		n_first = read_all(fd, first);
		same("child", open(numbered("/proc/%d/maps"), O_RDONLY));
		return write(1, first, (unsigned long)n_first) != n_first;
	}
	wait(&status);
	return 0;
}

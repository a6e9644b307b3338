/* SPDX-License-Identifier: MIT */
/*
 * Which threads the supervisor may touch. It may have more rights than the command, as root that
 * measures another user's program, and it reads on the board what it is to do, where the command
 * can write the number of any thread. So it traces, signals or looks into a thread only when the
 * kernel says that it is one of the command's:
 *
 * - Its memory has this run's board mapped at one of the places where inject() puts it, whole.
 * inject() did that, or the thread was forked from one where it did. An exec takes it away, so a
 * setuid program that the command has executed is none. Others may be given a descriptor of the
 * board, and may map it, but the kernel never chooses one of these places.
 * - It is still the same thread when it is traced: a number may be used again, so its directory in
 * /proc is held meanwhile.
 * - A program that it executes gets the engine only when that exec gave it no rights. The engine
 * looks at the file before, and another one may be there a moment later; a setuid program gets its
 * rights although it is traced, where the tracer is privileged.
 *
 * The processes of the command are one party: each can change what the engine does in another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "base/proc_maps.h"
#include "exact/supervise.h"

static struct stat board_file;

bool members_begin(int board_fd)
{
	return fstat(board_fd, &board_file) == 0;
}

bool is_board(const struct proc_map *m)
{
	if (m->inode != board_file.st_ino || makedev(m->major, m->minor) != board_file.st_dev ||
	    m->offset || m->rights[3] != 's' || m->end - m->start != BOARD_SIZE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(board_places); i++)
		if (m->start == board_places[i])
			return true;
	return false;
}

int member_open(struct member *m, pid_t pid, pid_t tid)
{
	struct proc_maps maps;
	struct proc_map map;
	char path[64];
	int ret;

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	*m = (struct member){ .dir = pid > 0 ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1 };
	if (m->dir < 0)
		return -ESRCH;
	snprintf(path, sizeof path, "task/%d/maps", (int)tid);
	ret = proc_maps_open_at(&maps, m->dir, path);
	if (ret == 0) {
		while (!m->place && proc_maps_next(&maps, &map))
			m->place = is_board(&map) ? map.start : 0;
		proc_maps_close(&maps);
		ret = m->place ? 0 : -EPERM;
	}
	if (ret < 0)
		member_close(m);
	return ret;
}

bool member_has(const struct member *m, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "task/%d", (int)tid);
	return faccessat(m->dir, path, F_OK, 0) == 0;
}

void member_close(struct member *m)
{
	if (m->dir >= 0)
		close(m->dir);
	m->dir = -1;
}

/* What follows `key` in the text of /proc/PID/status; "" when it is not there. */
static const char *field(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? at + strlen(key) : "";
}

bool rights_of(struct rights *r, pid_t tid)
{
	char path[64], text[1 << 14];
	unsigned long long permitted;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	/* real and effective. Source: proc_pid_status(5). In its first line, the name, an end of
	 * line is written "\\n". */
	if (sscanf(field(text, "\nUid:\t"), "%u %u", &r->uid, &r->euid) != 2 ||
	    sscanf(field(text, "\nGid:\t"), "%*u %u", &r->egid) != 1 ||
	    sscanf(field(text, "\nCapPrm:\t"), "%llx", &permitted) != 1)
		return false;
	r->permitted = permitted;
	return true;
}

/* An exec by root gives root's capabilities back, whatever the program. Source: capabilities(7),
 * "Capabilities and execution of programs by root". */
bool rights_gained(const struct rights *before, const struct rights *now)
{
	bool root = !before->uid || !before->euid;

	return now->uid != before->uid || now->euid != before->euid || now->egid != before->egid ||
	       (!root && (now->permitted & ~before->permitted));
}

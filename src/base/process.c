/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/process.h"

char process_state(const char *root, pid_t tid)
{
	char path[4200], text[2048];
	const char *after_name;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/proc/%d/stat", root ? root : "", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 'X';
	text[n] = '\0';
	after_name = strrchr(text, ')'); /* the name may contain any byte, including newlines */
	return after_name && after_name[1] == ' ' && after_name[2] ? after_name[2] : 'X';
}

bool process_ended(const char *root, pid_t tid)
{
	return strchr("ZXx", process_state(root, tid)) != NULL;
}

bool process_more_descriptors(void)
{
	struct rlimit now;

	if (getrlimit(RLIMIT_NOFILE, &now) < 0 || now.rlim_cur == now.rlim_max)
		return false;
	now.rlim_cur = now.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &now) == 0;
}

void process_limit_hint(struct tare_error *err, int code)
{
	if (code == EMFILE)
		tare_hint(err, "ulimit -n N allows more");
	else if (code == EAGAIN)
		tare_hint(err,
			  "ulimit -u N allows this user more processes and threads; a control "
			  "group's pids.max and ulimit -v also limit them");
}

uint64_t process_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/*
 * Source: proc(5), /proc/pid/stat: field 22, counted from the end of the name, which is the last
 * parenthesis.
 */
uint64_t process_start_ticks(const char *stat)
{
	char text[512];
	int fd = open(stat, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	char *p;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

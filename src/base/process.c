/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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
	after_name = strrchr(text, ')'); /* the name may contain any byte, newlines too */
	return after_name && after_name[1] == ' ' && after_name[2] ? after_name[2] : 'X';
}

bool process_ended(const char *root, pid_t tid)
{
	return strchr("ZXx", process_state(root, tid)) != NULL;
}

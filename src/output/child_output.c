/* SPDX-License-Identifier: MIT */
#include "output/child_output.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/file.h"
#include "base/program.h"

static int check(const struct child_output *k, const char *output, const char *command,
		 struct tare_error *err)
{
	char program[PATH_MAX];
	struct stat at, of;

	if (stat(k->place, &at) < 0)
		return 0;
	if (!S_ISREG(at.st_mode))
		return tare_fail(err, EINVAL, "%.250s: a recording must be a regular file", output);
	if (program_find(command, program, sizeof(program)) && stat(program, &of) == 0 &&
	    at.st_dev == of.st_dev && at.st_ino == of.st_ino) {
		tare_fail(err, EINVAL, "%.200s: the recording would replace the command itself",
			  output);
		tare_hint(err, "-o with another name");
		return -EINVAL;
	}
	return 0;
}

int child_output_begin(struct child_output *k, const char *output, const char *command,
		       struct tare_error *err)
{
	char place[PATH_MAX];
	int ret = file_place(output, place);

	*k = (struct child_output){ .fd = -1 };
	if (ret < 0)
		return file_part_failed(output, -ret, err);
	k->place = strdup(ret ? place : output);
	if (!k->place)
		return tare_fail_nomem(err);
	k->before = access(k->place, F_OK) == 0;
	ret = check(k, output, command, err);
	if (ret == 0) {
		ret = file_part_open(k->place, 0666, k->path);
		if (ret >= 0) {
			k->fd = ret;
			ret = 0;
		} else {
			k->path[0] = '\0';
			file_part_failed(k->place, -ret, err);
		}
	}
	if (ret < 0)
		child_output_end(k, false, NULL);
	return ret;
}

int child_output_hold(struct child_output *k, int fd)
{
	int same = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (same < 0)
		return -errno;
	close(k->fd);
	k->fd = same;
	return 0;
}

void child_output_leave(struct child_output *k)
{
	if (k->fd >= 0)
		close(k->fd);
	free(k->place);
	*k = (struct child_output){ .fd = -1 };
}

int child_output_end(struct child_output *k, bool worth, struct tare_error *err)
{
	int ret = worth && k->path[0] ? file_part_check(k->fd, k->path, err) : 0;
	bool own = ret == 0;

	if (ret == 0 && worth && k->path[0])
		ret = file_part_place(k->fd, k->path, k->place, NULL);
	if (ret < 0 && own) {
		tare_fail(err, -ret, "cannot rename to %.150s: %s", k->place, strerror(-ret));
		tare_hint(err, "the recording is %.100s", k->path);
	} else if (!worth && k->path[0] && file_part_check(k->fd, k->path, NULL) == 0) {
		unlink(k->path);
	}
	child_output_leave(k);
	return ret;
}

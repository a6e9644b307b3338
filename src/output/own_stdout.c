/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "output/own_stdout.h"
#include "output/whole_file.h"

static int results = STDOUT_FILENO;

int own_stdout(void)
{
	return results;
}

int own_stdout_printed(const char *command)
{
	bool failed = ferror(stdout); /* an earlier write, and errno is still of it */

	if (!fflush(stdout) && !failed)
		return 0;
	fprintf(stderr, "tare%s%s: cannot write to standard output: %s\n", command ? " " : "",
		command ? command : "", strerror(errno));
	return -1;
}

bool own_stdout_is(const char *path)
{
	return !strcmp(path, "-") || whole_file_descriptor(path) == results;
}

int own_stdout_take(struct tare_error *err)
{
	int kept, to = STDERR_FILENO;

	if (results != STDOUT_FILENO)
		return 0;
	kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (kept < 0)
		return tare_fail(err, errno, "cannot write results to standard output: %s",
				 strerror(errno));
	if (fcntl(to, F_GETFD) < 0)
		to = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (to < 0 || dup2(to, STDOUT_FILENO) < 0) {
		int code = errno;

		close(kept);
		return tare_fail(err, code, "cannot redirect the command's standard output: %s",
				 strerror(code));
	}
	if (to > STDERR_FILENO)
		close(to);
	results = kept;
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "cli/kept_output.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/program.h"

int kept_output_begin(struct kept_output *k, const char *output, const char *command, struct tare_error *err)
{
	char program[PATH_MAX];
	struct stat at, of;
	int ret;

	*k = (struct kept_output){ .path = realpath(output, NULL) };
	if (!k->path) {
		k->path = strdup(output);
		k->ours = lstat(output, &at) < 0; /* a link to nothing is not */
		return k->path ? 0 : tare_fail_nomem(err);
	}
	if (stat(k->path, &at) < 0 || !S_ISREG(at.st_mode))
		return 0;
	if (program_find(command, program, sizeof(program)) && stat(program, &of) == 0 && at.st_dev == of.st_dev && at.st_ino == of.st_ino) {
		ret = tare_fail(err, EINVAL, "%.200s: is the command itself, which the recording would replace", output);
		tare_hint(err, "-o with another name");
		free(k->path);
		*k = (struct kept_output){ 0 };
		return ret;
	}
	if (asprintf(&k->aside, "%s.before-%d", k->path, (int)getpid()) < 0) {
		k->aside = NULL;
		return tare_fail_nomem(err);
	}
	k->ours = rename(k->path, k->aside) == 0;
	if (!k->ours) { /* a folder that may not be changed: the file itself is written anew */
		free(k->aside);
		k->aside = NULL;
	}
	return 0;
}

bool kept_output_end(struct kept_output *k, bool worth)
{
	bool before = k->aside != NULL;

	if (worth && before)
		unlink(k->aside);
	else if (!worth && before)
		rename(k->aside, k->path);
	else if (!worth && k->ours)
		unlink(k->path);
	free(k->path);
	free(k->aside);
	*k = (struct kept_output){ 0 };
	return before;
}

/* SPDX-License-Identifier: MIT */
/*
 * Finds a command as execvp(3) does, and determines from its file whether it would run with other
 * rights.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "base/program.h"

/*
 * The id, in a user namespace, of users that do not exist there, and of files owned by "nobody".
 * Source: user_namespaces(7), "Unmapped user and group IDs".
 */
enum { OVERFLOW_ID = 65534 };

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Does execvp continue searching after this error? Source: glibc, posix/execvpe.c; exec(3). */
static bool looks_on(int code)
{
	return code == ENOENT || code == EACCES || code == ENOTDIR || code == ESTALE ||
		code == ENODEV || code == ETIMEDOUT;
}

bool program_find(const char *name, char *path, size_t room)
{
	/* Without PATH, execvp searches these. Source: exec(3), "Special semantics for execlp() and
	 * execvp()". */
	const char *dirs = getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin";
	int len;

	if (!*name)
		return false;
	if (strchr(name, '/')) {
		len = snprintf(path, room, "%s", name);
		return len > 0 && (size_t)len < room && is_program(path);
	}
	for (const char *p = dirs;; p++) {
		size_t n = strcspn(p, ":");

		errno = ENOENT;
		len = snprintf(path, room, "%.*s%s%s", (int)n, p, n ? "/" : "", name);
		if (len > 0 && (size_t)len < room && is_program(path))
			return true;
		p += n;
		if (!*p || !looks_on(errno))
			return false;
	}
}

const char *program_rights(const char *path)
{
	struct stat st;
	char capability[4];

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	if ((st.st_mode & S_ISUID) && (st.st_uid != geteuid() || st.st_uid == OVERFLOW_ID))
		return "setuid";
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
	    (st.st_gid != getegid() || st.st_gid == OVERFLOW_ID))
		return "setgid";
	/*
	 * Any value counts: also one that is too long for the buffer, or of a user who does not
	 * exist in this namespace.
	 */
	if (geteuid() != 0 &&
	    (getxattr(path, "security.capability", capability, sizeof(capability)) > 0 ||
	     errno == ERANGE || errno == EOVERFLOW))
		return "file capabilities";
	return NULL;
}

bool program_changes_rights(const char *path)
{
	return program_rights(path) != NULL;
}

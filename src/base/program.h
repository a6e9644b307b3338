/* SPDX-License-Identifier: MIT */
/* The file that a command name resolves to, and what the kernel does when it is executed. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Store the path that execvp(3) would execute in `path`; false if there is none, or no room. */
bool program_find(const char *name, char *path, size_t room);

/* Why this user would get other rights: "setuid", "setgid" or "file capabilities"; NULL: not. */
const char *program_rights(const char *path);
bool program_changes_rights(const char *path);

#endif

/* SPDX-License-Identifier: MIT */
/* The file that a command's name stands for, and what the kernel does when it is executed. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* The path that execvp(3) would execute, into `path`; false when there is none, or no room. */
bool program_find(const char *name, char *path, size_t room);

/* What would give this user other rights: "setuid", "setgid" or "file capabilities"; NULL: nothing. */
const char *program_rights(const char *path);
bool program_changes_rights(const char *path);

#endif

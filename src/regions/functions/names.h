/* SPDX-License-Identifier: MIT */
/* The name of a function of this program, by its address. */
#ifndef REGIONS_FUNCTIONS_NAMES_H
#define REGIONS_FUNCTIONS_NAMES_H

#include <stddef.h>

/* Exported ones by dladdr(3), others from the symbol table of their file; "file+0x1139" where there is none. Not from two
 * threads at once. */
void functions_name(const void *function, char *out, size_t room);
/* What was read of a library, which is closed: another file may have its path by now. */
void functions_forget(void);
/* The same in a child process, whose parent was in the midst of any of these: what was mapped stays. */
void functions_abandon(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Find the name of a function of this program by its address. */
#ifndef REGIONS_FUNCTIONS_NAMES_H
#define REGIONS_FUNCTIONS_NAMES_H

#include <stddef.h>

/*
 * Exported functions by dladdr(3), others from the symbol table of their file; "file+0x1139" if
 * there is no name. Not thread-safe.
 */
void functions_name(const void *function, char *out, size_t room);
/* Forget the symbols of a closed library, because its path may now be another file. */
void functions_forget(void);
/* The same in a child process that was forked during any of these calls. Mappings are kept. */
void functions_abandon(void);

#endif

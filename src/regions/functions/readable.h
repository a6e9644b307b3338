/* SPDX-License-Identifier: MIT */
/* Parse the demangled name of a C++ function. */
#ifndef REGIONS_FUNCTIONS_READABLE_H
#define REGIONS_FUNCTIONS_READABLE_H

/*
 * Find the start of the name, after a template's return type, and its end, where the arguments
 * begin: "int (*json::f<int>(int))(char)" contains json::f<int>. Without arguments, *to is the end
 * of s.
 */
void readable_parts(const char *s, const char **from, const char **to);

#endif

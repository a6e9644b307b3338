/* SPDX-License-Identifier: MIT */
/* The parts of a C++ function's readable name, as demanglers write it. */
#ifndef REGIONS_FUNCTIONS_READABLE_H
#define REGIONS_FUNCTIONS_READABLE_H

/*
 * Where the name itself begins, behind the return type that stands before a template's, and where its arguments begin:
 * "int (*json::f<int>(int))(char)" holds json::f<int>. Both within s; *to is its end where there are no arguments.
 */
void readable_parts(const char *s, const char **from, const char **to);

#endif

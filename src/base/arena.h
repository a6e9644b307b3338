/* SPDX-License-Identifier: MIT */
/* Strings and small arrays that are freed together. Pointers stay valid as more is added. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

/* *arena is NULL at first. Both return NULL when out of memory; the arena remains usable. */
void *arena_alloc(void **arena, size_t n);                     /* zeroed, aligned for any object */
char *arena_string(void **arena, const char *bytes, size_t n); /* a NUL-terminated copy */
void arena_free(void **arena);

#endif

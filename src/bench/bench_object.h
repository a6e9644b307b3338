/* SPDX-License-Identifier: MIT */
/* Determines the type of a file from its first bytes, without side effects. */
#ifndef BENCH_BENCH_OBJECT_H
#define BENCH_BENCH_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

enum bench_object {
	OBJECT_NONE /* not ELF, not 64-bit, truncated */,
	OBJECT_FOREIGN /* for another processor */,
	OBJECT_RELOCATABLE,
	OBJECT_SHARED,
	OBJECT_PROGRAM
};

/* `bytes` is the start of the file: all of it, or at least 64 KiB. */
enum bench_object bench_object_kind(const void *bytes, size_t n);

/* Position of the section .text in a complete file; false: it has none, or is damaged. */
bool bench_object_text(const void *bytes, size_t n, size_t *at, size_t *size);

#endif

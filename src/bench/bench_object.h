/* SPDX-License-Identifier: MIT */
/* What a file is, by its first bytes: pure. */
#ifndef BENCH_BENCH_OBJECT_H
#define BENCH_BENCH_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

enum bench_object { OBJECT_NONE /* not ELF, not of 64 bits, cut off */, OBJECT_FOREIGN /* of another processor */, OBJECT_RELOCATABLE, OBJECT_SHARED, OBJECT_PROGRAM };

/* `bytes` is how a file begins: all of it, or 64 KiB at least. */
enum bench_object bench_object_kind(const void *bytes, size_t n);

/* Where the section .text of a whole file is; false: it has none, or is damaged. */
bool bench_object_text(const void *bytes, size_t n, size_t *at, size_t *size);

#endif

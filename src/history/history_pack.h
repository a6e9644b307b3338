/* SPDX-License-Identifier: MIT */
/*
 * The functions of a measurement as they are stored: for each, its name, its module and its count
 * in digits, each ended by a NUL; compressed by zstd.
 *
 *	offset  size
 *	0       1     0: not compressed; 1: zstd
 *	1       n     the functions
 */
#ifndef HISTORY_HISTORY_PACK_H
#define HISTORY_HISTORY_PACK_H

#include "history/history.h"

enum {
	HISTORY_PACKED_MAX = 1000000,     /* bytes */
	HISTORY_UNPACKED_MAX = 100000000, /* likewise */
};

/*
 * *out is owned by the caller; *unpacked gets the size without compression. -E2BIG: the functions
 * are too many.
 */
int history_pack(unsigned char **out, size_t *n, size_t *unpacked, const struct history_finding *f,
		 struct tare_error *err);
/* Untrusted input. Adds the functions; their strings are owned by *strings. */
int history_unpack(struct history_finding *out, void **strings, const unsigned char *bytes,
		   size_t n, size_t unpacked, struct tare_error *err);

#endif

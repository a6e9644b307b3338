/* SPDX-License-Identifier: MIT */
/*
 * A buffered output before a file or another filter (gzip). The first error is kept and later
 * additions do nothing, so that a writer checks once, at the end or occasionally.
 */
#ifndef OUTPUT_OUT_H
#define OUTPUT_OUT_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum { OUT_ROOM = 1 << 16 };

struct out {
	int (*drain)(void *with, const void *bytes, size_t n); /* 0 or a negative errno */
	void *with;
	unsigned char *buf;
	size_t n;
	uint64_t total; /* total number of bytes so far */
	int error;      /* negative errno, or 0 */
};

void out_open(struct out *o, int (*drain)(void *, const void *, size_t), void *with);
/* `fd` must outlive the out; it is not closed. */
void out_open_fd(struct out *o, int *fd);
void out_put(struct out *o, const void *bytes, size_t n);
void out_text(struct out *o, const char *s);
void out_add(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_u64(struct out *o, uint64_t v);
/* v / 10^decimals with all digits: 1234567 with 3 is 1234.567. */
void out_fixed(struct out *o, uint64_t v, unsigned decimals);
/* A JSON string; invalid UTF-8 becomes U+FFFD. */
void out_json(struct out *o, const char *s);
/* A JSON number: digits up to 2^53, a string of digits above. */
void out_json_u64(struct out *o, uint64_t v);
/* Write the rest of the buffer; free it. Returns the first error. */
int out_close(struct out *o);

/*
 * A column that is written before its place in the file is reached: kept in memory while small,
 * then in an unnamed temporary file. spool_copy() writes all of it to `to`; spool_pour() also
 * empties the spool.
 */
struct spool {
	struct out out;
	int fd; /* of the temporary file; -1: none yet */
	uint64_t stored;
};

void spool_open(struct spool *s);
void spool_copy(struct spool *s, struct out *to);
void spool_clear(struct spool *s);
void spool_pour(struct spool *s, struct out *to);
void spool_close(struct spool *s);

#endif

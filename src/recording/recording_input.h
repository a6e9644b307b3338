/* SPDX-License-Identifier: MIT */
/* Bytes of a file or a pipe, in order, through a window of fixed size. */
#ifndef RECORDING_RECORDING_INPUT_H
#define RECORDING_RECORDING_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"

struct input {
	int fd; /* -1: none */
	char *path;
	bool seekable;
	uint64_t size; /* of a seekable file when it was opened */
	unsigned char *buf;
	size_t at, end;  /* what of buf is unread */
	uint64_t offset; /* of buf[at] in the file */
	uint64_t left;   /* bytes beyond buf[end] that may be read; UINT64_MAX: to the end */
};

/* Whether the open file is one that the writer here has begun and not come to the end of. Leaves its position alone. */
bool perfdata_unfinished(int fd);
/* The same of any recording that has its file's name only in the end: a perf.data, or one of regions in which something began. */
bool recording_unfinished(int fd);
/* What such a one is that file_part_left() found: whose recorder was killed, or that was begun when it had ended. */
const char *recording_left(const char *part);

/* "-" is standard input. */
int input_open(struct input *in, const char *path, struct tare_error *err);
/* Replace a pipe by a temporary file of the same bytes, read from its start. */
int input_spool(struct input *in, struct tare_error *err);
/* The unread rest of a seekable file once more, by itself. -ENOMEM, also for want of descriptors. */
int input_again(struct input *out, const struct input *in);
void input_close(struct input *in);

/* Go to `offset` of a seekable file; reading ends after `n` bytes. */
void input_seek(struct input *in, uint64_t offset, uint64_t n);

/* For input_peek(): read until n bytes are in the window. */
ssize_t input_peek_on(struct input *in, size_t n, const unsigned char **p, struct tare_error *err);

/*
 * See the next n bytes (at most 64 KiB) at *p without taking them. Returns how many there are,
 * fewer only where the input ends; a negative errno when reading fails.
 */
static inline ssize_t input_peek(struct input *in, size_t n, const unsigned char **p, struct tare_error *err)
{
	if (__builtin_expect(in->end - in->at < n, 0))
		return input_peek_on(in, n, p, err);
	*p = in->buf + in->at;
	return (ssize_t)n;
}
/* Take n bytes that were seen. */
static inline void input_take(struct input *in, size_t n)
{
	in->at += n;
	in->offset += n;
}
/* Take up to n bytes into buf. */
ssize_t input_read(struct input *in, void *buf, size_t n, struct tare_error *err);
/* Pass over n bytes; returns how many there were. */
int64_t input_skip(struct input *in, uint64_t n, struct tare_error *err);
/* What is left unread, reading no more than one window of a pipe. */
uint64_t input_rest(struct input *in);

/* Exactly n bytes at `offset` of a seekable file; -ENODATA when it ends before. */
int input_at(const struct input *in, uint64_t offset, void *buf, size_t n, struct tare_error *err);

#endif

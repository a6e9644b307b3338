/* SPDX-License-Identifier: MIT */
/* Read a file or a pipe sequentially, through a window of fixed size. */
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
	uint64_t size; /* size at open, for a seekable file */
	unsigned char *buf;
	size_t at, end;  /* the unread part of buf */
	uint64_t offset; /* file offset of buf[at] */
	uint64_t left;   /* bytes after buf[end] that may be read; UINT64_MAX: to the end */
};

/*
 * Is the open file a recording that this writer began and did not finish? Keeps the file position.
 */
bool perfdata_unfinished(int fd);
/*
 * The same for all recordings that get their file name only at the end: a perf.data, or one of
 * regions that was begun.
 */
bool recording_unfinished(int fd);
/*
 * A description of such a file found by file_part_left(): its recorder was killed, or it was begun
 * after the recorder had ended.
 */
const char *recording_left(const char *part);

/* "-" is standard input. */
int input_open(struct input *in, const char *path, struct tare_error *err);
/* Copy a pipe to a temporary file and read that from the start. */
int input_spool(struct input *in, struct tare_error *err);
/*
 * A second, independent reader of the unread rest of a seekable file. -ENOMEM, also if there are no
 * free descriptors.
 */
int input_again(struct input *out, const struct input *in);
void input_close(struct input *in);

/* Seek to `offset` of a seekable file; reading ends after `n` bytes. */
void input_seek(struct input *in, uint64_t offset, uint64_t n);

/* For input_peek(): read until n bytes are in the window. */
ssize_t input_peek_on(struct input *in, size_t n, const unsigned char **p, struct tare_error *err);

/*
 * Set *p to the next n bytes (at most 64 KiB) without consuming them. Returns their number, which
 * is lower only at the end of the input; a negative errno on a read error.
 */
static inline ssize_t input_peek(struct input *in, size_t n, const unsigned char **p,
				 struct tare_error *err)
{
	if (__builtin_expect(in->end - in->at < n, 0))
		return input_peek_on(in, n, p, err);
	*p = in->buf + in->at;
	return (ssize_t)n;
}
/* Consume n bytes returned by input_peek(). */
static inline void input_take(struct input *in, size_t n)
{
	in->at += n;
	in->offset += n;
}
/* Read up to n bytes into buf. */
ssize_t input_read(struct input *in, void *buf, size_t n, struct tare_error *err);
/* Skip n bytes; returns the number of bytes skipped. */
int64_t input_skip(struct input *in, uint64_t n, struct tare_error *err);
/* The number of unread bytes; reads at most one window of a pipe. */
uint64_t input_rest(struct input *in);

/* Read exactly n bytes at `offset` of a seekable file; -ENODATA if the file ends before. */
int input_at(const struct input *in, uint64_t offset, void *buf, size_t n, struct tare_error *err);

#endif

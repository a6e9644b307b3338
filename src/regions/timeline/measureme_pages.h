/* SPDX-License-Identifier: MIT */
/*
 * The three streams of a `.mm_profdata` and the place of their bytes in the file. measureme_pages.c
 * describes the format.
 */
#ifndef REGIONS_TIMELINE_MEASUREME_PAGES_H
#define REGIONS_TIMELINE_MEASUREME_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "base/text.h"

enum mm_which { MM_EVENTS, MM_STRINGS, MM_INDEX, MM_STREAMS };

struct mm_page {
	uint64_t at;    /* offset of its first byte in the file */
	uint64_t begin; /* offset of its first byte in the stream */
};

struct mm_stream {
	struct mm_page *page; /* without empty pages */
	size_t n, room;
	uint64_t size;
};

struct mm_pages {
	int fd;
	uint32_t version;                    /* 8 or 9 */
	struct mm_stream stream[MM_STREAMS]; /* the last record of a stream may be cut */
	struct text damage;                  /* sentences; empty: none */
	size_t damages;
};

enum { MM_STREAM_HEADER = 8 };

bool mm_is(const unsigned char *head, size_t n);
int mm_pages_open(struct mm_pages *p, int fd, struct tare_error *err);
void mm_pages_free(struct mm_pages *p);

/* Read bytes of a stream from `at` on. Returns fewer than n only at the end of the stream. */
ssize_t mm_read(const struct mm_pages *p, enum mm_which which, uint64_t at, void *buf, size_t n,
		struct tare_error *err);
/* The page that contains byte `at` of a stream. There must be one. */
size_t mm_page_at(const struct mm_stream *s, uint64_t at);
/* The file offset of byte `at` of a stream. */
uint64_t mm_offset(const struct mm_pages *p, enum mm_which which, uint64_t at);

/* Add a sentence about unreadable parts. After a few of them, they are only counted. */
void mm_damage(struct mm_pages *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline uint32_t mm_u32(const unsigned char *b)
{
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t mm_u64(const unsigned char *b)
{
	return (uint64_t)mm_u32(b) | (uint64_t)mm_u32(b + 4) << 32;
}

#endif

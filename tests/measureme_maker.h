/* SPDX-License-Identifier: MIT */
/*
 * Writes `.mm_profdata` files for tests, as measureme would and as it would not. The format:
 * src/regions/timeline/measureme_pages.c.
 */
#ifndef TESTS_MEASUREME_MAKER_H
#define TESTS_MEASUREME_MAKER_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"

#define MAKER_INSTANT  UINT64_C(0xffffffffffff)
#define MAKER_INTEGER  UINT64_C(0xfffffffffffe)
#define MAKER_METADATA UINT64_C(100000001)
#define MAKER_REGULAR  UINT64_C(100000003)
#define MAKER_WALL_TIME                                                                            \
	"{ \"start_time\": 1700000000000000000, \"process_id\": 42, \"cmd\": \"made \", "          \
	"\"counter\": { \"name\": \"wall-time\", \"units\": [[\"ns\", 1]] } }"

struct maker {
	uint32_t version;
	size_t page;                 /* bytes of events in one; 0: 256 KiB as measureme has */
	struct text stream[3], file; /* events, strings, index; what is written so far */
};

static inline void maker_number(struct text *t, uint64_t v, size_t n)
{
	char b[8];

	for (size_t i = 0; i < n; i++)
		b[i] = (char)(v >> 8 * i);
	text_put(t, b, n);
}

static inline size_t maker_id(const struct maker *m)
{
	return m->version >= 9 ? 8 : 4;
}

static inline void maker_begin(struct maker *m, uint32_t version)
{
	static const char *const magic[] = { "MMES", "MMSD", "MMSI" };

	*m = (struct maker){ .version = version, .page = 256 << 10 };
	text_put(&m->file, "MMPD", 4);
	maker_number(&m->file, version, 4);
	for (int i = 0; i < 3; i++) {
		text_put(&m->stream[i], magic[i], 4);
		maker_number(&m->stream[i], version, 4);
	}
}

static inline void maker_page(struct maker *m, int which)
{
	maker_number(&m->file, (uint64_t)which, 1);
	maker_number(&m->file, m->stream[which].len, 4);
	text_put(&m->file, m->stream[which].s, m->stream[which].len);
	m->stream[which].len = 0;
}

/* The id of a string of bytes; references are written into it by maker_reference(). */
static inline uint64_t maker_string_of(struct maker *m, const char *bytes, size_t n)
{
	uint64_t id = MAKER_REGULAR + m->stream[1].len;

	text_put(&m->stream[1], bytes, n);
	text_put(&m->stream[1], "\xff", 1);
	return id;
}

static inline uint64_t maker_string(struct maker *m, const char *s)
{
	return maker_string_of(m, s, strlen(s));
}

static inline void maker_reference(struct maker *m, struct text *to, uint64_t id)
{
	text_put(to, "\xfe", 1);
	maker_number(to, id, maker_id(m));
}

static inline void maker_map(struct maker *m, uint64_t virtual_id, uint64_t id)
{
	maker_number(&m->stream[2], virtual_id, maker_id(m));
	maker_number(&m->stream[2], id - MAKER_REGULAR, maker_id(m));
}

static inline void maker_event(struct maker *m, uint64_t kind, uint64_t id, uint32_t thread,
			       uint64_t first, uint64_t second)
{
	struct text *t = &m->stream[0];

	maker_number(t, kind, maker_id(m));
	maker_number(t, id, maker_id(m));
	maker_number(t, thread, 4);
	maker_number(t, first, 4);
	maker_number(t, second, 4);
	maker_number(t, (first >> 32) << 16 | second >> 32, 4);
	if (t->len >= m->page)
		maker_page(m, 0);
}

/* What measureme writes when it ends. */
static inline void maker_end(struct maker *m, const char *metadata)
{
	if (metadata)
		maker_map(m, MAKER_METADATA, maker_string(m, metadata));
	for (int i = 0; i < 3; i++)
		if (m->stream[i].len)
			maker_page(m, i);
}

static inline void maker_free(struct maker *m)
{
	for (int i = 0; i < 3; i++)
		text_free(&m->stream[i]);
	text_free(&m->file);
}

/*
 * The first n bytes into a new file under TMPDIR, whose name is put in `path`; its reader unlinks
 * it.
 */
static inline bool maker_write(const struct maker *m, size_t n, char path[64])
{
	const char *dir = getenv("TMPDIR");
	int fd;
	bool ok;

	if (snprintf(path, 64, "%s/tare-made-XXXXXX", dir && strlen(dir) < 40 ? dir : "/tmp") >= 64)
		return false;
	fd = mkstemp(path);
	if (fd < 0)
		return false;
	ok = write(fd, m->file.s, n) == (ssize_t)n;
	close(fd);
	return ok;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * measureme's `.mm_profdata`, versions 8 and 9; little-endian.
 *
 *	file	0  "MMPD"
 *		4  u32 version
 *		8  pages, to the end
 *
 *	page	0  u8 stream: 0 events, 1 string data, 2 string index
 *		1  u32 n
 *		5  n bytes
 *
 * The bytes of all pages of one kind, in order, are a stream. Each begins with a header of its own:
 * "MMES", "MMSD" or "MMSI" and u32 version. No page has a checksum. Source: measureme 12.0.3,
 * serialization.rs and file_header.rs. The contents of the streams are drawn in measureme_strings.c
 * and timeline_measureme.c.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "regions/timeline/measureme_pages.h"

enum {
	FILE_HEADER = 8,
	PAGE_HEADER = 5,
	VERSION_LEAST = 8,
	VERSION_MOST = 9,
	PAGES_MAX = 1 << 21, /* of 256 KiB, as they are: 512 GiB */
	DAMAGES_SHOWN = 4,
	EMPTY_MAX = 4096,      /* pages without contents, one after the other */
	PAGE_USUAL = 512 << 10 /* a larger page is read up to its first hole */
};

static const char *const stream_magic[MM_STREAMS] = { "MMES", "MMSD", "MMSI" };
static const char *const stream_name[MM_STREAMS] = { "events", "strings", "string index" };

bool mm_is(const unsigned char *head, size_t n)
{
	return n >= 4 && !memcmp(head, "MMPD", 4);
}

void mm_damage(struct mm_pages *p, const char *fmt, ...)
{
	char line[400];
	va_list ap;

	if (p->damages++ >= DAMAGES_SHOWN)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	text_add(&p->damage, "%s%s", p->damage.len ? "; " : "", line);
}

/* Like pread(2), but short only at the end of the file. */
static ssize_t read_at(int fd, void *buf, size_t n, uint64_t at)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = pread(fd, (char *)buf + got, n - got, (off_t)(at + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

static int add_page(struct mm_stream *s, uint64_t at, uint64_t n)
{
	if (!array_reserve(&s->page, &s->room, s->n + 1, sizeof(*s->page)))
		return -ENOMEM;
	s->page[s->n++] = (struct mm_page){ at, s->size };
	s->size += n;
	return 0;
}

/*
 * The end of the data, if a page has a hole: anyone who may write the file can enlarge it without
 * using disk space.
 */
static uint64_t end_of_data(struct mm_pages *p, uint64_t at, uint64_t n, uint64_t size)
{
	off_t hole = n > PAGE_USUAL ? lseek(p->fd, (off_t)at, SEEK_HOLE) : -1;

	if (hole < 0 || (uint64_t)hole >= size || (uint64_t)hole - at >= n)
		return size;
	mm_damage(p,
		  "the file has a hole at byte %" PRIu64 ": the %" PRIu64
		  " bytes from there on were not read",
		  (uint64_t)hole, size - (uint64_t)hole);
	return (uint64_t)hole;
}

static int find_pages(struct mm_pages *p, uint64_t size, struct tare_error *err)
{
	size_t n_pages = 0, empty = 0;

	for (uint64_t at = FILE_HEADER; at < size;) {
		unsigned char head[PAGE_HEADER];
		ssize_t got = read_at(p->fd, head, sizeof(head), at);
		size_t damages = p->damages;
		uint64_t n, there;

		if (got < 0)
			return tare_fail(err, (int)-got, "cannot read at byte %" PRIu64 ": %s", at,
					 strerror((int)-got));
		if (got < PAGE_HEADER) {
			mm_damage(p,
				  "the file ends at byte %" PRIu64 " within the header of a page",
				  size);
			break;
		}
		if (head[0] >= MM_STREAMS) {
			mm_damage(p,
				  "the page at byte %" PRIu64
				  " has an unknown kind (%u): the %" PRIu64
				  " bytes from there on were not read",
				  at, head[0], size - at);
			break;
		}
		n = mm_u32(head + 1);
		at += PAGE_HEADER;
		empty = n ? 0 : empty + 1;
		if (empty > EMPTY_MAX) {
			mm_damage(p,
				  "%d pages without contents: the %" PRIu64
				  " bytes from byte %" PRIu64 " on were not read",
				  EMPTY_MAX, size - at, at);
			break;
		}
		there = n < size - at ? n : size - at;
		size = end_of_data(p, at, there, size);
		there = there < size - at ? there : size - at;
		if (there < n && p->damages == damages)
			mm_damage(p,
				  "the file ends at byte %" PRIu64 ", %" PRIu64
				  " bytes before the end of its last page, of %s",
				  size, n - there, stream_name[head[0]]);
		if (n_pages == PAGES_MAX) {
			mm_damage(p,
				  "more than %d pages: the file was not read from byte %" PRIu64
				  " on",
				  PAGES_MAX, at);
			break;
		}
		if (there) {
			n_pages++;
			if (add_page(&p->stream[head[0]], at, there) < 0)
				return tare_fail_nomem(err);
		}
		at += there;
	}
	return 0;
}

/* If a stream exists, its header must be valid, because otherwise its contents are unknown. */
static int check_stream(struct mm_pages *p, enum mm_which which, struct tare_error *err)
{
	unsigned char head[MM_STREAM_HEADER];
	struct mm_stream *s = &p->stream[which];
	ssize_t got;

	if (s->n == 0)
		return 0;
	got = mm_read(p, which, 0, head, sizeof(head), err);
	if (got < 0)
		return (int)got;
	if (got == MM_STREAM_HEADER && !memcmp(head, stream_magic[which], 4) &&
	    mm_u32(head + 4) == p->version)
		return 0;
	if (which == MM_EVENTS && got == MM_STREAM_HEADER) {
		tare_fail(err, EINVAL,
			  "byte %" PRIu64
			  ": the stream of events does not begin with \"%s\" and version %u",
			  s->page[0].at, stream_magic[which], p->version);
		tare_hint(
			err,
			"the file is damaged at its beginning, or is not a recording of measureme");
		return -EINVAL;
	}
	mm_damage(p, "byte %" PRIu64 ": the stream of %s has no proper header; it was not read",
		  s->page[0].at, stream_name[which]);
	s->n = 0;
	s->size = 0;
	return 0;
}

int mm_pages_open(struct mm_pages *p, int fd, struct tare_error *err)
{
	unsigned char head[FILE_HEADER];
	struct stat st;
	int ret;

	*p = (struct mm_pages){ .fd = fd };
	if (fstat(fd, &st) < 0)
		return tare_fail(err, errno, "cannot get the size of the file: %s",
				 strerror(errno));
	if (read_at(fd, head, sizeof(head), 0) != FILE_HEADER)
		return tare_fail(err, EINVAL,
				 "a recording of measureme that ends after %" PRIu64
				 " bytes, within its header",
				 (uint64_t)st.st_size);
	p->version = mm_u32(head + 4);
	if (p->version < VERSION_LEAST || p->version > VERSION_MOST) {
		tare_fail(
			err, EINVAL,
			"byte 4: a recording of measureme in format version %u; %d and %d are read",
			p->version, VERSION_LEAST, VERSION_MOST);
		tare_hint(err, "rustc 1.57 (2021) and later write these versions");
		return -EINVAL;
	}
	ret = find_pages(p, (uint64_t)st.st_size, err);
	for (int w = 0; ret == 0 && w < MM_STREAMS; w++)
		ret = check_stream(p, (enum mm_which)w, err);
	if (ret < 0)
		mm_pages_free(p);
	return ret;
}

void mm_pages_free(struct mm_pages *p)
{
	for (int w = 0; w < MM_STREAMS; w++)
		free(p->stream[w].page);
	text_free(&p->damage);
	*p = (struct mm_pages){ .fd = -1 };
}

size_t mm_page_at(const struct mm_stream *s, uint64_t at)
{
	size_t low = 0, high = s->n;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (s->page[mid].begin <= at)
			low = mid;
		else
			high = mid;
	}
	return low;
}

uint64_t mm_offset(const struct mm_pages *p, enum mm_which which, uint64_t at)
{
	const struct mm_stream *s = &p->stream[which];
	const struct mm_page *page = &s->page[mm_page_at(s, at)];

	return page->at + (at - page->begin);
}

ssize_t mm_read(const struct mm_pages *p, enum mm_which which, uint64_t at, void *buf, size_t n,
		struct tare_error *err)
{
	const struct mm_stream *s = &p->stream[which];
	size_t got = 0, i;

	if (at >= s->size)
		return 0;
	if (n > s->size - at)
		n = (size_t)(s->size - at);
	for (i = mm_page_at(s, at); got < n; i++) {
		uint64_t end = i + 1 < s->n ? s->page[i + 1].begin : s->size;
		size_t want = (size_t)(end - at < n - got ? end - at : n - got);
		uint64_t where = s->page[i].at + (at - s->page[i].begin);
		ssize_t r = read_at(p->fd, (char *)buf + got, want, where);

		if (r >= 0 && (size_t)r < want)
			r = -ENODATA;
		if (r < 0)
			return tare_fail(
				err, (int)-r, "cannot read %zu bytes at byte %" PRIu64 ": %s", want,
				where,
				r == -ENODATA ? "the file became shorter" : strerror((int)-r));
		got += want;
		at += want;
	}
	return (ssize_t)n;
}

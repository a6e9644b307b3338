/* SPDX-License-Identifier: MIT */
/*
 * Opens a perf.data and reads it in file order. The layout of the head is in perfdata_header.c, of
 * samples in perfdata_sample.c, of all other records in perfdata_record.c, of features in
 * perfdata_features.c.
 *
 * The directory layout is a folder with `data`, a perf.data of the file layout, and `data.0`,
 * `data.1`, ...: records only, of the same events. Source: perf.data-file-format.txt, "DIR_FORMAT".
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "perfdata/perfdata_private.h"

#define INFLATE_MAX (256ull << 20) /* if the file has no limit for a record */

/*
 * perf compresses one of its buffers (mmap_len bytes) at a time, but output that its compressor
 * held back, a block or two of 128 KiB, comes with the next.
 */
#define INFLATE_SLACK (512u << 10)

enum { PARTS_MAX = 65536, TRACING_MAX = 64 << 20 };

void note(struct perfdata *r, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (r->n_notes == NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	r->notes[r->n_notes] = strdup(line);
	r->n_notes += r->notes[r->n_notes] != NULL;
}

const char *perfdata_note(const struct perfdata *r, size_t i)
{
	return i < r->n_notes ? r->notes[i] : NULL;
}

const struct perfdata_file *perfdata_file(const struct perfdata *r)
{
	return &r->file;
}

const struct perfdata_loss *perfdata_loss(const struct perfdata *r)
{
	return &r->loss;
}

/* Record boundaries are lost: earlier records remain valid, the rest cannot be read. */
static int broken(struct perfdata *r, struct stream *s, int code, struct tare_error *err)
{
	if (!s->broken) {
		s->broken = code;
		s->why = *err;
		r->loss.unread += input_rest(&s->in) + (s->inflate ? inflate_rest(s->inflate) : 0);
	}
	return code;
}

/* Skips the part of a payload that the caller did not read. */
static int skip_payload(struct stream *s, struct tare_error *err)
{
	uint64_t n = s->payload;
	int64_t got;

	s->payload = 0;
	got = input_skip(&s->in, n, err);
	if (got < 0)
		return (int)got;
	if ((uint64_t)got < n)
		return tare_fail(err, EBADMSG,
				 "%s: byte %llu: the file ends %llu bytes before the end of this "
				 "record's data",
				 s->in.path, (unsigned long long)s->payload_at,
				 (unsigned long long)(n - (uint64_t)got));
	return 0;
}

/* In a pipe the tracepoints' formats follow their record. */
static int read_tracing(struct perfdata *r, struct stream *s, struct tare_error *err)
{
	struct tare_error why = TARE_ERROR_INIT;
	unsigned char *bytes = s->payload <= TRACING_MAX && !r->tracing.n ? malloc(s->payload + 1)
									  : NULL;
	uint64_t n = 0, all = s->payload;
	ssize_t got = 1;

	s->tracing = false;
	while (bytes && n < all && (got = input_read(&s->in, bytes + n, all - n, err)) > 0)
		n += (uint64_t)got;
	s->payload -= n;
	if (bytes && n == all && tracing_decode(r, bytes, n, &why) < 0) {
		r->features.damaged[0] |= 1ull << PD_FEAT_TRACING_DATA;
		note(r, "%s: byte %llu: TRACING_DATA: %s", s->in.path,
		     (unsigned long long)s->payload_at, why.what);
	}
	free(bytes);
	return got < 0 ? (int)got : 0;
}

static void frame(struct perfdata *r, struct stream *s, const unsigned char *p,
		  struct perfdata_record *out)
{
	out->type = load32(p, r->swap);
	out->misc = load16(p + 4, r->swap);
	out->size = load16(p + 6, r->swap);
	out->bytes = p;
	out->file = s->file;
	out->payload = 0;
	out->bad = NULL;
}

/* The next record of the current compressed one: 1; 0 if it has no more complete ones. */
static int next_inflated(struct perfdata *r, struct stream *s, struct perfdata_record *out,
			 struct tare_error *err)
{
	const unsigned char *p;
	ssize_t n = inflate_peek(s->inflate, RECORD_HEADER, &p, err);

	if (n == RECORD_HEADER) {
		uint16_t size = load16(p + 6, r->swap);

		if (size < RECORD_HEADER)
			return tare_fail(
				err, EBADMSG,
				"%s: byte %llu: the compressed record contains a record of size %u",
				s->in.path, (unsigned long long)s->compressed_at, size);
		n = inflate_peek(s->inflate, size, &p, err);
		if (n == size) {
			inflate_take(s->inflate, size);
			frame(r, s, p, out);
			out->offset = s->compressed_at;
			out->inflated = true;
			if (out->type != PD_RECORD_COMPRESSED && out->type != PD_RECORD_COMPRESSED2)
				return 1;
			return tare_fail(
				err, EBADMSG,
				"%s: byte %llu: a compressed record inside a compressed record",
				s->in.path, (unsigned long long)s->compressed_at);
		}
	}
	if (n < 0) {
		tare_prefix(err, "%s: byte %llu: the compressed record ", s->in.path,
			    (unsigned long long)s->compressed_at);
		return (int)n;
	}
	s->inflating = false;
	return 0;
}

static int feed(struct perfdata *r, struct stream *s, const struct perfdata_record *rec,
		struct tare_error *err)
{
	struct bytes b = { rec->bytes + RECORD_HEADER, rec->bytes + rec->size, r->swap, false };
	uint64_t n = rec->type == PD_RECORD_COMPRESSED2 ? bytes_u64(&b) : bytes_left(&b);
	uint64_t max = r->opts.inflate_max;
	const unsigned char *p = bytes_take(&b, n);

	if (!p)
		return tare_fail(err, EBADMSG,
				 "%s: byte %llu: the compressed record claims %llu bytes of its %u",
				 s->in.path, (unsigned long long)rec->offset, (unsigned long long)n,
				 rec->size);
	if (r->features.compression_type > 1)
		return tare_fail(
			err, ENOTSUP, "%s: byte %llu: compressed by method %u; tare knows 1 (zstd)",
			s->in.path, (unsigned long long)rec->offset, r->features.compression_type);
	if (!s->inflate && !(s->inflate = inflate_new(err))) {
		tare_prefix(err, "%s: byte %llu: the record ", s->in.path,
			    (unsigned long long)rec->offset);
		return err ? -err->code : -ENOTSUP;
	}
	if (!max)
		max = r->features.compression_mmap_len
			? (uint64_t)r->features.compression_mmap_len + INFLATE_SLACK
			: INFLATE_MAX;
	s->compressed_at = rec->offset;
	s->inflating = true;
	inflate_feed(s->inflate, p, (size_t)n, max);
	return 0;
}

/* Record types with data after the record. Vendors use these numbers for other types. */
uint64_t record_payload(struct perfdata *r, const struct perfdata_record *rec)
{
	if (rec->type == PD_RECORD_AUXTRACE && rec->size >= 48)
		return load64(rec->bytes + 8, r->swap);
	if (rec->type == PD_RECORD_TRACING_DATA && (rec->size == 12 || rec->size == 16))
		return ((uint64_t)load32(rec->bytes + 8, r->swap) + 7) & ~7ull;
	return 0;
}

static int at_end(struct stream *s, size_t n, struct tare_error *err)
{
	size_t rest = s->inflate ? inflate_rest(s->inflate) : 0;

	if (n)
		return tare_fail(err, EBADMSG,
				 "%s: byte %llu: the remaining %zu %s too few for a record",
				 s->in.path, (unsigned long long)s->in.offset, n,
				 n == 1 ? "byte is" : "bytes are");
	if (s->in.left && s->in.left != UINT64_MAX)
		return tare_fail(
			err, EBADMSG,
			"%s: byte %llu: the file ends here, %llu bytes before the end of its records",
			s->in.path, (unsigned long long)s->in.offset,
			(unsigned long long)s->in.left);
	if (rest)
		return tare_fail(err, EBADMSG,
				 "%s: byte %llu: the last compressed record ends within a record",
				 s->in.path, (unsigned long long)s->compressed_at);
	return 0;
}

static int next_plain(struct perfdata *r, struct stream *s, struct perfdata_record *out,
		      struct tare_error *err)
{
	const unsigned char *p;
	uint64_t at = s->in.offset;
	ssize_t n = input_peek(&s->in, RECORD_HEADER, &p, err);
	uint16_t size;

	if (n < 0)
		return (int)n;
	if (n < RECORD_HEADER)
		return at_end(s, (size_t)n, err);
	size = load16(p + 6, r->swap);
	if (size < RECORD_HEADER)
		return tare_fail(err, EBADMSG,
				 "%s: byte %llu: a record of size %u, smaller than its header",
				 s->in.path, (unsigned long long)at, size);
	n = input_peek(&s->in, size, &p, err);
	if (n < 0)
		return (int)n;
	if (n < size)
		return tare_fail(
			err, EBADMSG,
			"%s: byte %llu: a record of size %u, but only %zd bytes are present",
			s->in.path, (unsigned long long)at, size, n);
	frame(r, s, p, out);
	out->offset = at;
	out->inflated = false;
	if (__builtin_expect(out->type >= PD_RECORD_USER, 0)) {
		if (out->type == PD_RECORD_COMPRESSED || out->type == PD_RECORD_COMPRESSED2) {
			int ret = feed(r, s, out, err);

			if (ret < 0)
				return ret;
		}
		s->payload = out->payload = record_payload(r, out);
		s->payload_at = at;
		s->tracing = out->type == PD_RECORD_TRACING_DATA;
	}
	input_take(&s->in, size);
	return 1;
}

static int stream_next(struct perfdata *r, struct stream *s, struct perfdata_record *out,
		       struct tare_error *err)
{
	int ret;

	if (s->broken) {
		if (err)
			*err = s->why;
		return s->broken;
	}
	err = err ? err : &r->unasked; /* a fresh one would be cleared for every record */
	ret = s->payload && s->tracing ? read_tracing(r, s, err) : 0;
	if (ret == 0 && s->payload)
		ret = skip_payload(s, err);
	if (ret == 0 && s->inflating)
		ret = next_inflated(r, s, out, err);
	if (ret == 0 && !s->inflating)
		ret = next_plain(r, s, out, err);
	if (ret < 0)
		return broken(r, s, ret, err);
	return ret;
}

/* The parts of a directory are opened when they are reached. */
static int begin_part(struct perfdata *r, size_t i, struct tare_error *err)
{
	struct stream *s = &r->streams[i];
	char path[4096];
	int ret;

	if (snprintf(path, sizeof(path), "%s/data.%zu", r->file.path, i - 1) >= (int)sizeof(path))
		return tare_fail(err, ENAMETOOLONG, "%.64s...: the path is too long", r->file.path);
	s->file = (unsigned)i;
	ret = input_open(&s->in, path, err);
	if (ret < 0) {
		s->broken = ret;
		if (err)
			s->why = *err;
	}
	return ret;
}

int streams_next(struct perfdata *r, struct perfdata_record *out, struct tare_error *err)
{
	r->lent = NULL;
	for (; r->current < r->n_streams; r->current++) {
		struct stream *s = &r->streams[r->current];
		int ret = s->in.buf ? 0 : begin_part(r, r->current, err);

		if (ret == 0)
			ret = stream_next(r, s, out, err);
		if (ret == 1) {
			r->lent = s;
			return 1;
		}
		if (r->n_streams > 1)
			input_close(&s->in);
	}
	/* The other parts were read; now report the damaged one. */
	for (size_t i = 0; i < r->n_streams; i++)
		if (r->streams[i].broken) {
			if (err)
				*err = r->streams[i].why;
			return r->streams[i].broken;
		}
	return 0;
}

int perfdata_next(struct perfdata *r, struct perfdata_record *out, struct tare_error *err)
{
	int ret = streams_next(r, out, err);

	if (ret != 1)
		return ret;
	record_decode(r, out);
	ret = record_apply(r, out, err);
	return ret < 0 ? ret : 1;
}

ssize_t perfdata_payload(struct perfdata *r, void *buf, size_t n, struct tare_error *err)
{
	struct stream *s = r->lent;
	ssize_t got;

	if (!s)
		return 0;
	if (n > s->payload)
		n = (size_t)s->payload;
	if (n == 0)
		return 0;
	got = input_read(&s->in, buf, n, err);
	if (got < 0)
		return got;
	s->payload -= (uint64_t)got;
	if (got == 0)
		return tare_fail(
			err, EBADMSG,
			"%s: byte %llu: the file ends %llu bytes before the end of this record's data",
			s->in.path, (unsigned long long)s->payload_at,
			(unsigned long long)s->payload);
	return got;
}

/* A directory: opens its `data` and counts its parts. */
static int find_parts(struct perfdata *r, const char *path, char *main_path, size_t room,
		      struct tare_error *err)
{
	struct stat st;
	char part[4096];
	size_t n = 1;

	snprintf(main_path, room, "%s", path);
	if (!strcmp(path, "-") || stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return 1;
	if (snprintf(main_path, room, "%s/data", path) >= (int)room)
		return tare_fail(err, ENAMETOOLONG, "%.64s...: the path is too long", path);
	if (stat(main_path, &st) < 0) {
		tare_fail(err, ENOENT, "%s is a directory without a file named data", path);
		tare_hint(err, "name the file, or a directory made by perf record --threads");
		return -ENOENT;
	}
	r->file.directory = true;
	while (n < PARTS_MAX &&
	       snprintf(part, sizeof(part), "%s/data.%zu", path, n - 1) < (int)sizeof(part) &&
	       stat(part, &st) == 0)
		n++;
	return (int)n;
}

static int open_all(struct perfdata *r, const char *path, struct tare_error *err)
{
	char main_path[4096];
	int n;

	if (strlen(path) >= sizeof(main_path))
		return tare_fail(err, ENAMETOOLONG, "%.64s...: the path is too long", path);
	n = find_parts(r, path, main_path, sizeof(main_path), err);
	if (n < 0)
		return n;
	r->file.path = strdup(strcmp(path, "-") ? path : "standard input");
	r->scratch = malloc(RECORD_MAX + 9);
	r->streams = calloc((size_t)n, sizeof(*r->streams));
	if (!r->file.path || !r->scratch || !r->streams)
		return tare_fail_nomem(err);
	r->n_streams = r->file.n_files = (size_t)n;
	for (int i = 0; i < n; i++)
		r->streams[i].in.fd = -1;
	n = input_open(&r->streams[0].in, main_path, err);
	return n < 0 ? n : header_read(r, err);
}

struct perfdata *perfdata_open(const char *path, const struct perfdata_opts *opts,
			       struct tare_error *err)
{
	struct perfdata *r = calloc(1, sizeof(*r));

	if (!r) {
		tare_fail_nomem(err);
		return NULL;
	}
	if (opts)
		r->opts = *opts;
	if (open_all(r, path, err) < 0) {
		perfdata_close(r);
		return NULL;
	}
	return r;
}

void perfdata_close(struct perfdata *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_streams; i++) {
		input_close(&r->streams[i].in);
		inflate_free(r->streams[i].inflate);
	}
	for (size_t i = 0; i < r->n_notes; i++)
		free(r->notes[i]);
	events_free(r);
	features_free(r);
	tracing_fields_free(&r->tracing);
	queue_free(r->queue);
	free((char *)r->file.path);
	free(r->streams);
	free(r->scratch);
	free(r->text);
	free(r);
}

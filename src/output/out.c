/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "output/json.h"
#include "output/out.h"

/* Doubles represent every whole number up to here. */
#define WHOLE_MAX (UINT64_C(1) << 53)

void out_open(struct out *o, int (*drain)(void *, const void *, size_t), void *with)
{
	*o = (struct out){ .drain = drain, .with = with, .buf = malloc(OUT_ROOM) };
	if (!o->buf)
		o->error = -ENOMEM;
}

static int drain_fd(void *with, const void *bytes, size_t n)
{
	return file_write_all(*(int *)with, bytes, n);
}

void out_open_fd(struct out *o, int *fd)
{
	out_open(o, drain_fd, fd);
}

static void flush(struct out *o)
{
	if (o->error == 0 && o->n)
		o->error = o->drain(o->with, o->buf, o->n);
	o->n = 0;
}

void out_put(struct out *o, const void *bytes, size_t n)
{
	if (o->error)
		return;
	o->total += n;
	if (n > OUT_ROOM - o->n)
		flush(o);
	if (n > OUT_ROOM) {
		if (o->error == 0)
			o->error = o->drain(o->with, bytes, n);
		return;
	}
	if (o->error == 0 && n) {
		memcpy(o->buf + o->n, bytes, n);
		o->n += n;
	}
}

void out_text(struct out *o, const char *s)
{
	out_put(o, s, strlen(s));
}

void out_add(struct out *o, const char *fmt, ...)
{
	char small[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(small)) {
		out_put(o, small, (size_t)n);
		return;
	}

	char *s = NULL;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n >= 0) {
		out_put(o, s, (size_t)n);
		free(s);
	} else if (o->error == 0) {
		o->error = -ENOMEM;
	}
}

void out_fixed(struct out *o, uint64_t v, unsigned decimals)
{
	char digits[32];
	size_t at = sizeof(digits);

	for (unsigned k = 0; v || k <= decimals; k++) {
		if (k == decimals && k)
			digits[--at] = '.';
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	}
	out_put(o, digits + at, sizeof(digits) - at);
}

void out_u64(struct out *o, uint64_t v)
{
	out_fixed(o, v, 0);
}

void out_json(struct out *o, const char *s)
{
	struct text t = { 0 };

	json_quote(&t, s);
	if (t.failed && o->error == 0)
		o->error = -ENOMEM;
	out_put(o, t.s, t.failed ? 0 : t.len);
	text_free(&t);
}

void out_json_u64(struct out *o, uint64_t v)
{
	if (v > WHOLE_MAX)
		out_text(o, "\"");
	out_u64(o, v);
	if (v > WHOLE_MAX)
		out_text(o, "\"");
}

int out_close(struct out *o)
{
	flush(o);
	free(o->buf);
	o->buf = NULL;
	return o->error;
}

/* ---- spools ---- */

static int drain_spool(void *with, const void *bytes, size_t n)
{
	struct spool *s = with;

	if (s->fd < 0) {
		s->fd = file_scratch(NULL);
		if (s->fd < 0)
			return s->fd;
	}
	s->stored += n;
	return file_write_all(s->fd, bytes, n);
}

void spool_open(struct spool *s)
{
	*s = (struct spool){ .fd = -1 };
	out_open(&s->out, drain_spool, s);
}

void spool_copy(struct spool *s, struct out *to)
{
	char bytes[1 << 14];
	ssize_t n;

	for (uint64_t at = 0; at < s->stored && s->out.error == 0; at += (uint64_t)n) {
		n = pread(s->fd, bytes, sizeof(bytes), (off_t)at);
		if (n <= 0) {
			s->out.error = n < 0 ? -errno : -EIO;
			break;
		}
		out_put(to, bytes, (size_t)n);
	}
	out_put(to, s->out.buf, s->out.n);
	if (to->error == 0)
		to->error = s->out.error;
}

void spool_clear(struct spool *s)
{
	s->out.n = 0;
	s->stored = 0;
	if (s->fd >= 0 && (ftruncate(s->fd, 0) < 0 || lseek(s->fd, 0, SEEK_SET) < 0) &&
	    s->out.error == 0)
		s->out.error = -errno;
}

void spool_pour(struct spool *s, struct out *to)
{
	spool_copy(s, to);
	spool_clear(s);
}

void spool_close(struct spool *s)
{
	free(s->out.buf);
	s->out.buf = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

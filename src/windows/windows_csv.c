/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "windows/windows_csv.h"
#include "base/file.h"

enum { EVENTS_MOST = 64, COLUMNS_MOST = 160, FIELD_MOST = 256 };

static const size_t file_most = (size_t)1 << 32;

static const char *const fixed[] = { "thread",  "pid",     "tid", "comm",  "window", "begin",
				     "time_ns", "wall_ns", "cpu", "ended", "phase",  "quality" };

enum column {
	THREAD,
	PID,
	TID,
	COMM,
	WINDOW,
	BEGIN,
	TIME,
	WALL,
	CPU,
	ENDED,
	PHASE,
	QUALITY,
	FIXED
};

struct csv {
	const char *p, *end, *path;
	size_t line;
	struct tare_error *err;
	char field[FIELD_MOST];
};

static int fail(const struct csv *c, const char *what)
{
	tare_fail(c->err, EINVAL, "%.200s: line %zu: %s", c->path, c->line, what);
	tare_hint(c->err, "tare windows --format csv writes such files");
	return -EINVAL;
}

/*
 * Read the next field of the line into c->field. Returns 1 if it ends the line, 0 if others follow,
 * or an error.
 */
static int next_field(struct csv *c)
{
	bool quoted = c->p < c->end && *c->p == '"';
	size_t n = 0;

	if (quoted)
		c->p++;
	for (;; c->p++) {
		if (c->p == c->end) {
			if (quoted)
				return fail(c, "a quote is not closed");
			break;
		}
		if (quoted && *c->p == '"') {
			if (c->p + 1 < c->end && c->p[1] == '"') {
				c->p++;
			} else {
				c->p++;
				break;
			}
		} else if (!quoted && (*c->p == ',' || *c->p == '\n' || *c->p == '\r')) {
			break;
		}
		if (n + 1 == sizeof(c->field))
			return fail(c, "a field is longer than 255 bytes");
		if (!*c->p)
			return fail(c, "a byte is 0");
		c->field[n++] = *c->p;
	}
	c->field[n] = '\0';
	if (c->p < c->end && *c->p == '\r')
		c->p++;
	if (c->p == c->end || *c->p == '\n') {
		c->p += c->p < c->end;
		return 1;
	}
	if (*c->p != ',')
		return fail(c, "expected a comma after a quoted field");
	c->p++;
	return 0;
}

static int read_number(struct csv *c, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)c->field[0]))
		return fail(c, "a number is wanted");
	errno = 0;
	*out = strtoull(c->field, &end, 10);
	return *end || errno ? fail(c, "expected an integer below 2^64") : 0;
}

/* The names of the events: the columns after the fixed ones, up to the first metric. */
static int read_header(struct csv *c, struct encoding *enc, size_t *events, size_t *columns)
{
	int last = 0;

	*events = *columns = 0;
	while (!last) {
		last = next_field(c);
		if (last < 0)
			return last;
		if (*columns == COLUMNS_MOST)
			return fail(c, "too many columns");
		if (*columns < FIXED && strcmp(c->field, fixed[*columns]))
			return fail(c, "not a file of windows: the columns differ");
		if (*columns >= FIXED && strncmp(c->field, "metric.", 7)) {
			if (*events == EVENTS_MOST || *events + FIXED != *columns)
				return fail(c, "too many events");
			snprintf(enc[*events].name, sizeof(enc[*events].name), "%.150s", c->field);
			enc[*events].attr.type = PERF_TYPE_MAX; /* only its name is known */
			if (!strncmp(c->field, "task-clock", 10) ||
			    !strncmp(c->field, "cpu-clock", 9))
				snprintf(enc[*events].unit, sizeof(enc[*events].unit), "ns");
			enc[(*events)++].scale = 1;
		}
		(*columns)++;
	}
	return *events ? 0 : fail(c, "there is no event");
}

struct line {
	uint64_t word[FIXED];
	char comm[64];
	uint64_t value[EVENTS_MOST];
	bool rest, moved, exact;
};

static int take_field(struct csv *c, struct line *l, size_t column, size_t events)
{
	switch (column) {
	case COMM:
		snprintf(l->comm, sizeof(l->comm), "%.60s", c->field);
		return 0;
	case ENDED:
		l->rest = !strcmp(c->field, "rest");
		l->moved = !strcmp(c->field, "moved");
		return l->rest || l->moved || !strcmp(c->field, "whole")
			? 0
			: fail(c, "expected whole, moved or rest");
	case QUALITY:
		l->exact = !strcmp(c->field, "exact");
		return l->exact || !strcmp(c->field, "counted")
			? 0
			: fail(c, "expected exact or counted");
	case WALL:
	case CPU:
	case PHASE:
		l->word[column] = 0;
		return c->field[0] ? read_number(c, &l->word[column]) : 0;
	}
	if (column < FIXED)
		return read_number(c, &l->word[column]);
	return column < FIXED + events ? read_number(c, &l->value[column - FIXED]) : 0;
}

static int read_line(struct csv *c, struct line *l, size_t events, size_t columns)
{
	int last = 0, ret;

	for (size_t column = 0; column < columns; column++) {
		if (last)
			return fail(c, "fields are missing");
		last = next_field(c);
		if (last < 0)
			return last;
		ret = take_field(c, l, column, events);
		if (ret < 0)
			return ret;
	}
	return last ? 0 : fail(c, "there are more fields than names of columns");
}

int windows_csv_parse(struct windows **out, const char *text, size_t n, const char *path,
		      bool *exact, struct tare_error *err)
{
	struct csv c = { .p = text, .end = text + n, .path = path, .line = 1, .err = err };
	struct encoding *enc = calloc(EVENTS_MOST, sizeof(*enc));
	size_t events = 0, columns = 0;
	struct windows *w = NULL;
	int ret = enc ? 0 : tare_fail_nomem(err);
	struct line l;

	*exact = true;
	if (ret == 0)
		ret = read_header(&c, enc, &events, &columns);
	if (ret == 0)
		ret = windows_new(&w, &(struct encoding_list){ enc, events, 1 }, NULL, err);
	while (ret == 0 && c.p < c.end) {
		c.line++;
		ret = read_line(&c, &l, events, columns);
		if (ret < 0)
			break;

		const struct window_thread t = { l.word[THREAD], (uint32_t)l.word[PID],
						 (uint32_t)l.word[TID], l.comm };
		const struct window win = { .thread = l.word[THREAD],
					    .begin = l.word[BEGIN],
					    .time_ns = l.word[TIME],
					    .wall_ns = l.word[WALL],
					    .cpu = (int)l.word[CPU],
					    .rest = l.rest,
					    .moved = l.moved,
					    .value = l.value };

		*exact &= l.exact;
		ret = windows_sink(w)->thread(windows_sink(w), &t, err);
		if (ret == 0)
			ret = windows_sink(w)->window(windows_sink(w), &win, err);
	}
	free(enc);
	if (ret < 0) {
		windows_free(w);
		return ret;
	}
	*out = w;
	return 0;
}

int windows_csv_read(struct windows **out, const char *path, bool *exact, struct tare_error *err)
{
	char *text;
	size_t n;
	int ret = file_read(NULL, path, file_most, &text, &n, err);

	if (ret == 0 && n && text[n - 1] != '\n') { /* a count may lack its last digits */
		ret = tare_fail(
			err, EINVAL,
			"%.200s: byte %zu: the file is truncated: its last line has no newline",
			path, n);
		tare_hint(err, "tare windows --format csv writes such files");
		free(text);
	}
	if (ret < 0)
		return ret;
	ret = windows_csv_parse(out, text, n, path, exact, err);
	free(text);
	return ret;
}

/* SPDX-License-Identifier: MIT */
/* Source of the format lines: Linux, Documentation/trace/events.rst, "Event formats". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "perfdata/perfdata_bytes.h"
#include "perfdata/tracing_fields.h"

enum { NAME_MOST = 128 };

static int cut_off(struct tare_error *err, const char *what)
{
	return tare_fail(err, EBADMSG, "the tracepoints' formats are truncated or damaged: %s",
			 what);
}

/* A NUL-terminated string; NULL if it is not terminated. */
static const char *text_of(struct bytes *b)
{
	const unsigned char *end = bytes_left(b) ? memchr(b->p, 0, bytes_left(b)) : NULL;

	return end ? (const char *)bytes_take(b, (uint64_t)(end - b->p) + 1) : NULL;
}

/* Skips a size and that many bytes. */
static bool pass(struct bytes *b, bool wide)
{
	uint64_t n = wide ? bytes_u64(b) : bytes_u32(b);

	return !b->bad && bytes_take(b, n) != NULL;
}

/* "	field:DECLARATION;	offset:N;	size:N;	signed:N;" - false for any other line. */
static bool read_field(const char *line, size_t n, struct tracing_field *out)
{
	char text[512], *declaration, *end, *name;
	const char *rest;
	unsigned offset, size;
	int is_signed = 0;
	bool array;

	if (n >= sizeof(text))
		return false;
	memcpy(text, line, n);
	text[n] = '\0';
	declaration = strstr(text, "field:");
	end = declaration ? strchr(declaration, ';') : NULL;
	rest = end ? strstr(end, "offset:") : NULL;
	if (!rest || sscanf(rest, "offset:%u; size:%u; signed:%d", &offset, &size, &is_signed) < 2)
		return false;
	*end = '\0';
	declaration += strlen("field:");
	*out = (struct tracing_field){ .offset = offset, .size = size };
	out->relative = !strncmp(declaration, "__rel_loc ", 10) ||
		!strncmp(declaration, "__rel_data_loc ", 15);
	out->located = out->relative || !strncmp(declaration, "__data_loc ", 11);
	array = strchr(declaration, '[') != NULL;
	if (array && !out->located)
		*strrchr(declaration, '[') = '\0'; /* char comm[16] */
	name = declaration + strlen(declaration);
	while (name > declaration && name[-1] != ' ' && name[-1] != '*' && name[-1] != ']')
		name--;
	if (!*name || strlen(name) > NAME_MOST)
		return false;
	if (array)
		out->kind = strstr(declaration, "char") && !strstr(declaration, "unsigned char") &&
				!strstr(declaration, "*")
			? TRACING_STRING
			: TRACING_BYTES;
	else if (size == 1 || size == 2 || size == 4 || size == 8)
		out->kind = is_signed ? TRACING_SIGNED : TRACING_UNSIGNED;
	else
		out->kind = TRACING_BYTES;
	out->name = strdup(name);
	return out->name != NULL;
}

static int add_field(struct tracing_event *ev, const struct tracing_field *f,
		     struct tare_error *err)
{

	if (ev->n == TRACING_FIELDS_MOST) {
		free(f->name);
		return cut_off(err, "a format with more than 1024 fields");
	}
	if (!array_one_more(&ev->field, ev->n, sizeof(*ev->field))) {
		free(f->name);
		return tare_fail_nomem(err);
	}
	ev->field[ev->n++] = *f;
	return 0;
}

/* A format's text: its name, its id, and a line for each field. */
static int read_format(struct tracing_fields *out, const char *system, const char *text, size_t n,
		       struct tare_error *err)
{
	struct tracing_event *ev;
	char name[NAME_MOST] = "";
	int ret = 0;

	if (!array_one_more(&out->event, out->n, sizeof(*out->event)))
		return tare_fail_nomem(err);
	ev = &out->event[out->n++];
	*ev = (struct tracing_event){ .id = UINT64_MAX };
	for (const char *at = text, *end = text + n, *next; ret == 0 && at < end; at = next) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((line_end ? line_end : end) - at);
		struct tracing_field f;

		next = at + len + 1;
		if (len > 6 && len < 6 + sizeof(name) && !memcmp(at, "name: ", 6)) {
			memcpy(name, at + 6, len - 6);
			name[len - 6] = '\0';
		} else if (len > 4 && !memcmp(at, "ID: ", 4)) {
			char digits[24] = "";

			memcpy(digits, at + 4,
			       len - 4 < sizeof(digits) - 1 ? len - 4 : sizeof(digits) - 1);
			ev->id = strtoull(digits, NULL, 10);
		} else if (len > 10 && !memcmp(at, "print fmt:", 10)) {
			break;
		} else if (read_field(at, len, &f)) {
			if (!strncmp(f.name, "common_", 7))
				free(f.name);
			else
				ret = add_field(ev, &f, err);
		}
	}
	if (ret == 0 && (!name[0] || ev->id == UINT64_MAX))
		return cut_off(err, "a format without a name or an id");
	return ret == 0 && asprintf(&ev->name, "%.127s:%s", system, name) < 0 ? tare_fail_nomem(err)
									      : ret;
}

static int read_systems(struct tracing_fields *out, struct bytes *b, struct tare_error *err)
{
	uint32_t systems = bytes_u32(b);
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < systems && !b->bad; i++) {
		const char *system = text_of(b);
		uint32_t n = system ? bytes_u32(b) : 0;

		if (!system)
			return cut_off(err, "a system without a name");
		for (uint32_t k = 0; ret == 0 && k < n; k++) {
			uint64_t size = bytes_u64(b);
			const unsigned char *text = b->bad ? NULL : bytes_take(b, size);

			ret = text ? read_format(out, system, (const char *)text, (size_t)size, err)
				   : cut_off(err, system);
		}
	}
	return ret == 0 && b->bad ? cut_off(err, "fewer systems than announced") : ret;
}

static int by_id(const void *a, const void *b)
{
	const struct tracing_event *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

int tracing_fields_read(struct tracing_fields *out, const unsigned char *bytes, size_t n,
			struct tare_error *err)
{
	static const unsigned char magic[] = {
		0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'
	};
	struct bytes b = { bytes, bytes + n, false, false };
	const unsigned char *begin = bytes_take(&b, sizeof(magic));
	const char *version = begin && !memcmp(begin, magic, sizeof(magic)) ? text_of(&b) : NULL;
	const unsigned char *order = version ? bytes_take(&b, 2) : NULL;
	uint32_t formats;
	int ret;

	*out = (struct tracing_fields){ 0 };
	if (!order)
		return cut_off(err, "its begin");
	b.swap = *order != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	bytes_u32(&b); /* the size of a page */
	if (!text_of(&b) || !pass(&b, true) || !text_of(&b) || !pass(&b, true))
		return cut_off(err, "its headers");
	formats = bytes_u32(&b);
	for (uint32_t i = 0; i < formats && !b.bad; i++)
		if (!pass(&b, true))
			return cut_off(err, "formats of ftrace");
	ret = read_systems(out, &b, err);
	if (out->n)
		qsort(out->event, out->n, sizeof(*out->event), by_id);
	return ret;
}

void tracing_fields_free(struct tracing_fields *f)
{
	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; k < f->event[i].n; k++)
			free(f->event[i].field[k].name);
		free(f->event[i].field);
		free(f->event[i].name);
	}
	free(f->event);
	*f = (struct tracing_fields){ 0 };
}

const struct tracing_event *tracing_event_of(const struct tracing_fields *f, uint64_t id)
{
	const struct tracing_event key = { .id = id };

	return f->n ? bsearch(&key, f->event, f->n, sizeof(key), by_id) : NULL;
}

const unsigned char *tracing_field_bytes(const struct tracing_field *f, const void *raw, size_t n,
					 bool swap, size_t *size)
{
	uint64_t offset = f->offset;
	uint32_t where;

	*size = f->size;
	if (f->located) {
		if (offset + 4 > n)
			return NULL;
		where = load32((const unsigned char *)raw + offset, swap);
		*size = where >> 16;
		offset = (f->relative ? offset + 4 : 0) + (where & 0xffff);
	}
	return offset + *size <= n ? (const unsigned char *)raw + offset : NULL;
}

static enum tracing_value absent(struct text *out, const char *why)
{
	text_add(out, "(%s)", why);
	return TRACING_ABSENT;
}

enum tracing_value tracing_field_value(struct text *out, const struct tracing_field *f,
				       const void *raw, size_t n, bool swap, size_t *left)
{
	size_t size;
	const unsigned char *p = tracing_field_bytes(f, raw, n, swap, &size);
	uint64_t v;

	if (!p)
		return absent(out, "outside the raw data");
	if (size > *left)
		return absent(out, "overlaps other fields");
	*left -= size;
	if (f->kind == TRACING_STRING) {
		text_put(out, (const char *)p, strnlen((const char *)p, size));
		return TRACING_TEXT;
	}
	if (f->kind == TRACING_BYTES || f->located) {
		for (size_t i = 0; i < size; i++)
			text_add(out, "%02x", p[i]);
		return TRACING_HEX;
	}
	v = size == 1       ? *p
		: size == 2 ? load16(p, swap)
		: size == 4 ? load32(p, swap)
			    : load64(p, swap);
	if (f->kind == TRACING_UNSIGNED)
		text_add(out, "%" PRIu64, v);
	else
		text_add(out, "%" PRId64,
			 size == 8           ? (int64_t)v
				 : size == 4 ? (int32_t)v
				 : size == 2 ? (int16_t)v
					     : (int8_t)v);
	return TRACING_NUMBER;
}

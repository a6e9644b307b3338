/* SPDX-License-Identifier: MIT */
/* The tracepoints of a TRACING_DATA section: their names and the fields of their raw data. */
#ifndef PERFDATA_TRACING_FIELDS_H
#define PERFDATA_TRACING_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "base/text.h"

enum tracing_kind {
	TRACING_UNSIGNED,
	TRACING_SIGNED,
	TRACING_STRING, /* bytes up to a NUL */
	TRACING_BYTES,
};

struct tracing_field {
	char *name;
	enum tracing_kind kind;
	/*
	 * a u32: length << 16 | offset, from the start of the data or (relative) from its own end
	 */
	bool located, relative;
	uint32_t offset, size;
};

struct tracing_event {
	uint64_t id;                 /* perf_event_attr.config */
	char *name;                  /* "sched:sched_switch" */
	struct tracing_field *field; /* without the common ones */
	size_t n;
};

struct tracing_fields {
	struct tracing_event *event;
	size_t n;
};

enum { TRACING_FIELDS_MOST = 1024 }; /* of one tracepoint; more are damage */

/*
 * Free with tracing_fields_free(), also after failure. -EBADMSG: no such section, or it is
 * truncated.
 */
int tracing_fields_read(struct tracing_fields *out, const unsigned char *bytes, size_t n,
			struct tare_error *err);
void tracing_fields_free(struct tracing_fields *f);
const struct tracing_event *tracing_event_of(const struct tracing_fields *f, uint64_t id);
/*
 * The field's bytes in a sample's raw data; NULL if they are outside it. `swap`: the sample has the
 * other byte order.
 */
const unsigned char *tracing_field_bytes(const struct tracing_field *f, const void *raw, size_t n,
					 bool swap, size_t *size);

enum tracing_value {
	TRACING_NUMBER, /* decimal */
	TRACING_TEXT,   /* the string's own bytes */
	/* two hexadecimal digits per byte: arrays, and fields of a size that is not an integer's */
	TRACING_HEX,
	TRACING_ABSENT, /* why it is missing, in brackets */
};

/*
 * Appends the field's value as text. `left`, initially tracing_room(n), limits the bytes of all
 * fields of one sample, because overlapping fields could show its data many times over.
 */
enum tracing_value tracing_field_value(struct text *out, const struct tracing_field *f,
				       const void *raw, size_t n, bool swap, size_t *left);

static inline size_t tracing_room(size_t n)
{
	return 2 * n + 64;
}

#endif

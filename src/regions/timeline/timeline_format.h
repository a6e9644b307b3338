/* SPDX-License-Identifier: MIT */
/*
 * What a format of recordings gives (timeline.h says to whom): one file src/record/timeline_NAME.c that ends in a
 * `const struct timeline_format`, and a row in timeline.c.
 */
#ifndef REGIONS_TIMELINE_TIMELINE_FORMAT_H
#define REGIONS_TIMELINE_TIMELINE_FORMAT_H

#include "regions/timeline/timeline.h"

enum { TIMELINE_HEAD = 16 };

/* Each format's own structs begin with these. */
struct timeline {
	const struct timeline_format *format;
	struct timeline_info info;
};

struct cursor {
	struct timeline *of;
	const struct timeline_point *left; /* that were read, and not given one by one yet */
	size_t n_left;
};

struct timeline_format {
	/* By the first n bytes of the file, at most TIMELINE_HEAD. */
	bool (*is)(const unsigned char *head, size_t n);
	/* fd is a regular file, read by pread(2); it stays the caller's until this returned 0. `path` lives as long as *out. */
	int (*open)(struct timeline **out, int fd, const char *path, struct tare_error *err);
	const struct timeline_label *(*label)(struct timeline *t, uint32_t index);
	void *(*take_texts)(struct timeline *t); /* NULL: it has none to give */
	void (*close)(struct timeline *t); /* and fd */
	int (*thread)(struct timeline *t, size_t thread, struct cursor **out, struct tare_error *err);
	int (*read)(struct cursor *c, size_t most, const struct timeline_point **points, struct tare_error *err); /* cursor_read() */
	void (*cursor_close)(struct cursor *c);
};

#endif

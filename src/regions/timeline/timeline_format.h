/* SPDX-License-Identifier: MIT */
/*
 * The interface that a recording format implements (timeline.h has the callers' side). Each format
 * is one file timeline_NAME.c that ends in a `const struct timeline_format`, and a row in
 * timeline.c.
 */
#ifndef REGIONS_TIMELINE_TIMELINE_FORMAT_H
#define REGIONS_TIMELINE_TIMELINE_FORMAT_H

#include "regions/timeline/timeline.h"

enum { TIMELINE_HEAD = 16 };

/* The first member of each format's own structs. */
struct timeline {
	const struct timeline_format *format;
	struct timeline_info info;
};

struct cursor {
	struct timeline *of;
	/* points that were read and not yet returned one by one */
	const struct timeline_point *left;
	size_t n_left;
};

struct timeline_format {
	/* Decides from the first n bytes of the file, at most TIMELINE_HEAD. */
	bool (*is)(const unsigned char *head, size_t n);
	/*
	 * fd is a regular file, read with pread(2). The caller owns it unless this returns 0.
	 * `path` must live as long as *out.
	 */
	int (*open)(struct timeline **out, int fd, const char *path, struct tare_error *err);
	const struct timeline_label *(*label)(struct timeline *t, uint32_t index);
	void *(*take_texts)(struct timeline *t); /* NULL: not available */
	void (*close)(struct timeline *t);       /* closes fd, too */
	int (*thread)(struct timeline *t, size_t thread, struct cursor **out,
		      struct tare_error *err);
	int (*read)(struct cursor *c, size_t most, const struct timeline_point **points,
		    struct tare_error *err); /* cursor_read() */
	void (*cursor_close)(struct cursor *c);
};

#endif

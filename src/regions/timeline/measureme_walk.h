/* SPDX-License-Identifier: MIT */
/*
 * Converts the events of one thread, from last to first, to its points, from last to first.
 * measureme writes an interval when it ends, so the enclosing intervals are only known when reading
 * backwards (timeline_measureme.c).
 */
#ifndef REGIONS_TIMELINE_MEASUREME_WALK_H
#define REGIONS_TIMELINE_MEASUREME_WALK_H

#include "regions/timeline/measureme_pages.h"
#include "regions/timeline/timeline.h"

struct mm_event {
	uint64_t kind, id, first, second;
	uint32_t thread;
};

enum { MM_EVENT_MAX = 32 };
#define MM_INSTANT UINT64_C(0xffffffffffff)
#define MM_INTEGER UINT64_C(0xfffffffffffe)

static inline size_t mm_event_size(uint32_t version)
{
	return version >= 9 ? 32 : 24;
}

/* The format is described in timeline_measureme.c. */
static inline struct mm_event mm_event_of(const unsigned char *b, size_t size)
{
	bool wide = size == 32;
	const unsigned char *rest = b + (wide ? 16 : 8);
	uint32_t high = mm_u32(rest + 12);

	return (struct mm_event){ .kind = wide ? mm_u64(b) : mm_u32(b),
				  .id = wide ? mm_u64(b + 8) : mm_u32(b + 4),
				  .thread = mm_u32(rest),
				  .first = mm_u32(rest + 4) | (uint64_t)(high >> 16) << 32,
				  .second = mm_u32(rest + 8) | (uint64_t)(high & 0xffff) << 32 };
}

/* An open interval at the current position. */
struct mm_open {
	uint64_t start, end, offset;
	uint32_t label, node; /* node: its saved copy, for the caller */
};

struct mm_point {
	uint64_t value;  /* the counter's value; of an integer event, its number */
	uint64_t offset; /* of the record; also the number that joins start and finish */
	uint32_t label;
	uint8_t kind; /* enum timeline_kind */
};

struct mm_points {
	struct mm_point *point;
	size_t n, room;
};

struct mm_walk {
	struct mm_open *open;
	size_t depth, room;
	size_t saved;   /* this many at the bottom are saved as nodes */
	uint64_t limit; /* the value of the last point: the next ones should not be greater */
};

enum mm_order {
	MM_NESTED,
	/* overlaps another one, or is not in order of ends: converted to start and finish */
	MM_ASYNC,
	MM_WRONG, /* ends before it starts: left out */
};

/*
 * Process one more event and append its points (NULL: not wanted). Returns -ENOMEM, or how it
 * relates to the other events.
 */
int mm_walk(struct mm_walk *w, const struct mm_event *e, uint32_t label, uint64_t offset,
	    struct mm_points *out);
/* Append the begins of all intervals that are still open. */
int mm_walk_end(struct mm_walk *w, struct mm_points *out);
bool mm_walk_push(struct mm_walk *w, const struct mm_open *o);

#endif

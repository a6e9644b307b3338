/* SPDX-License-Identifier: MIT */
/*
 * Events of one thread, from the last to the first -> its points, from the last to the first. measureme writes an interval
 * when it ends, so only backwards is it known what is open (timeline_measureme.c).
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

/* The drawing is in timeline_measureme.c. */
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

/* An interval that is open where the walk stands. */
struct mm_open {
	uint64_t start, end, offset;
	uint32_t label, node; /* node: where it was saved, for whoever keeps the walk */
};

struct mm_point {
	uint64_t value;	 /* of the counter; of an integer event its number */
	uint64_t offset; /* of the record; for start and finish it is their number too */
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
	size_t saved;	 /* so many at the bottom have a node */
	uint64_t limit;	 /* the value of the last point: none that follows should be greater */
};

enum mm_order {
	MM_NESTED,
	MM_DETACHED, /* it overlaps another one, or is not in order of ends: made into start and finish */
	MM_WRONG,    /* it ends before it starts: left out */
};

/* One event further; its points (NULL: not wanted) are added. -ENOMEM, or how it lies to the others. */
int mm_walk(struct mm_walk *w, const struct mm_event *e, uint32_t label, uint64_t offset, struct mm_points *out);
/* The beginnings of all that is still open. */
int mm_walk_end(struct mm_walk *w, struct mm_points *out);
bool mm_walk_push(struct mm_walk *w, const struct mm_open *o);

#endif

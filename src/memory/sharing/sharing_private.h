/* SPDX-License-Identifier: MIT */
/* Shared by the files that implement sharing.h. */
#ifndef MEMORY_SHARING_SHARING_PRIVATE_H
#define MEMORY_SHARING_SHARING_PRIVATE_H

#include "memory/sharing/sharing.h"
#include "base/set.h"

enum {
	HIT_LOAD = 1,
	HIT_STORE = 2,
	HIT_HITM = 4,
	HIT_KERNEL = 8,
	HIT_TIMED = 16,
	HIT_MORE = 32 /* set for all but the first line of an access */
};

struct line_key {
	uint64_t address;
	uint32_t pid,
		/* pid: of LINE_VIRTUAL; where: LINE_..., or LINE_SHARED + the number of a file */
		where;
};

enum { LINE_VIRTUAL, LINE_PHYSICAL, LINE_SHARED };

struct line {
	struct line_key key;
	uint32_t thread, seen_by;
	uint64_t seen_at;
	uint32_t samples;
	bool many, stored; /* used by several threads; stored to */
};

struct thread_key {
	uint32_t pid, tid;
};

/* One access to one line: there may be tens of millions. */
struct __attribute__((packed, aligned(4))) hit {
	uint64_t time; /* UINT64_MAX: not known */
	uint32_t line, thread, ip, latency;
	uint16_t size; /* bytes in the line; 0: not known */
	uint8_t offset, flags;
};

/* The interval between two hits of one thread. */
struct stretch {
	size_t meanwhile,
		/*
		 * accesses while another thread had the line; the longest of the neighbouring
		 * stretches
		 */
		longest;
};

/* How one thread uses the current line. */
struct use {
	uint64_t first, last; /* times */
	size_t n, at, end;    /* hits; indices in all that the thread did */
	size_t idle, longest; /* of those, without the line; up to this size there is no gap */
	bool hit;
	size_t place, length[2];     /* the last look-up; the last two stretches */
	struct stretch now, past[2]; /* the open stretch; the two before */
};

/*
 * What a thread did to a range of bytes in one turn. A turn ends when another thread gets the line.
 */
struct seen {
	uint32_t hit; /* the first */
	uint32_t turn : 31, stored : 1;
};

/*
 * The memory that sharing.h documents for an access: its hit, its time among those of its thread,
 * and its entry for the turn.
 */
_Static_assert(sizeof(struct hit) + sizeof(uint64_t) + sizeof(struct seen) == SHARING_MEMORY_EACH,
	       "memory of an access");
/*
 * ... and for a line: itself, its number's new slot in the set while the old one exists, and its
 * identity.
 */
_Static_assert(sizeof(struct line) + 3 * sizeof(uint32_t) + 3 * sizeof(uint32_t) / 2 +
			       sizeof(uint32_t) <=
		       SHARING_MEMORY_LINE,
	       "memory of a line");

struct sharing {
	struct sharing_options opt;
	struct set lines, threads, ips, aliases;
	uint32_t thread; /* of the last access */
	uint32_t *same;  /* per line: its identity */
	struct hit *hit;
	size_t n, room;
	uint64_t more_lines; /* hits with HIT_MORE */
	struct sharing_line *out;
	size_t n_out, out_room;
	struct sharing_cell *cell;
	size_t n_cells, cell_room;
	uint32_t *weight;  /* two per thread, for the current line */
	struct use *use;   /* likewise */
	struct seen *seen; /* room for the accesses of one line */
	uint64_t *ran;     /* times of all accesses that have one, in order, thread by thread */
	size_t *ran_at;    /* per thread, index into `ran`; one more for the end */
	struct sharing_totals totals;
};

/*
 * The verdict on one line from its hits, which are in order of time and all have one. If most have
 * none, the verdict comes only from the owners of the bytes; the hits are then left in another
 * order.
 */
void sharing_judge(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l);
void sharing_judge_untimed(struct sharing *s, struct hit *h, size_t n, struct sharing_line *l);

enum sharing_order { BY_LINE_AND_TIME, BY_BYTES /* and thread, code address, size */ };

void sharing_sort(struct hit *h, size_t n, enum sharing_order order);

/*
 * How often the line had to move: neighbouring accesses of different threads, at least one a store.
 */
uint64_t sharing_moves(const struct hit *h, size_t n);
/* Counts the switches in one line's hits, which are in order of time. */
void sharing_switches(const struct hit *h, size_t n, struct sharing_line *l);
/*
 * FALSE, TRUE or BOTH with its confidence, from the bytes that were seen in several turns. Returns
 * false if those are too few; the verdict is then UNCLEAR. Needs l->threads and the line's
 * switches.
 */
bool sharing_kind(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l);
/*
 * The fraction of all pairs of hits (or of those in `seen`) that are of different threads with at
 * least one store.
 */
double sharing_chance(struct sharing *s, const struct hit *h, const struct seen *seen, size_t n);
/* The expected number of switches by chance, for n - 1 pairs of neighbours. */
double sharing_expected(struct sharing *s, const struct hit *h, size_t n);

/* When each thread was active: from all hits, before any is dropped. */
int sharing_note_running(struct sharing *s, struct tare_error *err);
/*
 * A line that moves less often than by chance is handed over, or its threads seldom run at the same
 * time. In the second case they use it the whole time that they run, and in many turns.
 */
void sharing_turns(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l);
/*
 * Is a line with few moves, which its threads do not use all the time, handed over? Only if it
 * changed hands often enough, or if its users ran and did not access it while another thread had
 * it. Threads that merely ran one after the other look the same on any line. `sure`: the confidence
 * in this, 0 to 1.
 */
bool sharing_handed_over(struct sharing *s, const struct hit *h, size_t n,
			 const struct sharing_line *l, double *confidence);

/* With less confidence in the owners of the bytes there is no verdict. */
#define KIND_CONFIDENCE 0.9
/* The highest confidence if an access may be wider than it looks. */
#define SIZES_OPEN_CONFIDENCE 0.9
#define TURNS_CONFIDENCE                                                                           \
	0.8 /* the highest confidence if threads that took turns may never run at the same time */

#endif

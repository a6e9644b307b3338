/* SPDX-License-Identifier: MIT */
/* What the files of sharing.h share. */
#ifndef MEMORY_SHARING_SHARING_PRIVATE_H
#define MEMORY_SHARING_SHARING_PRIVATE_H

#include "memory/sharing/sharing.h"
#include "base/set.h"

enum { HIT_LOAD = 1, HIT_STORE = 2, HIT_MODIFIED = 4, HIT_KERNEL = 8, HIT_TIMED = 16, HIT_MORE = 32 /* of an access to several lines: not the first */ };

struct line_key {
	uint64_t address;
	uint32_t pid, where; /* pid: of LINE_VIRTUAL; where: LINE_..., or LINE_SHARED + the number of a file */
};

enum { LINE_VIRTUAL, LINE_PHYSICAL, LINE_SHARED };

struct line {
	struct line_key key;
	uint32_t thread, seen_by;
	uint64_t seen_at;
	uint32_t samples;
	bool many, stored; /* more than one thread; anybody stores */
};

struct thread_key {
	uint32_t pid, tid;
};

/* One access: there may be tens of millions. */
struct __attribute__((packed, aligned(4))) hit {
	uint64_t time; /* UINT64_MAX: not told */
	uint32_t line, thread, ip, latency;
	uint16_t size; /* bytes in the line; 0: not told */
	uint8_t offset, flags;
};

/* Between two hits of one thread. */
struct stretch {
	size_t meanwhile, longest; /* accesses while another had the line; of the stretches next to this one */
};

/* How one thread uses the line at hand. */
struct use {
	uint64_t first, last; /* times */
	size_t n, at, end;    /* hits; places among all that the thread did */
	size_t idle, longest; /* of those, without the line; a gap up to this is none */
	bool hit;
	size_t place, length[2];      /* looked up last; of the last two stretches */
	struct stretch now, past[2];  /* that which is open; the two before */
};

/* What a thread did to some bytes in one turn, which ends when another thread has the line. */
struct seen {
	uint32_t hit; /* the first */
	uint32_t turn : 31, stored : 1;
};

/* What sharing.h promises of an access: its hit, its time among those of its thread, and what it did in a turn. */
_Static_assert(sizeof(struct hit) + sizeof(uint64_t) + sizeof(struct seen) == SHARING_MEMORY_EACH, "memory of an access");
/* ... and of a line: itself, its number's new place in the set beside the old one, and which it is. */
_Static_assert(sizeof(struct line) + 3 * sizeof(uint32_t) + 3 * sizeof(uint32_t) / 2 + sizeof(uint32_t) <= SHARING_MEMORY_LINE, "memory of a line");

struct sharing {
	struct sharing_options opt;
	struct set lines, threads, ips, aliases;
	uint32_t thread; /* of the last access */
	uint32_t *same; /* per line: which it is */
	struct hit *hit;
	size_t n, room;
	uint64_t more_lines; /* hits that are HIT_MORE */
	struct sharing_line *out;
	size_t n_out, out_room;
	struct sharing_cell *cell;
	size_t n_cells, cell_room;
	uint32_t *weight; /* two per thread, of the line at hand */
	struct use *use;  /* likewise */
	struct seen *seen; /* room for the accesses of one line */
	uint64_t *ran;	  /* when: thread by thread, all that has a time, in order */
	size_t *ran_at;	  /* per thread, into `ran`; one more for the end */
	struct sharing_totals totals;
};

/*
 * The verdict on one line by its hits, which are in order of time and all have one. Where most have none: by whose bytes are whose
 * alone; the hits are left in another order.
 */
void sharing_judge(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l);
void sharing_judge_untimed(struct sharing *s, struct hit *h, size_t n, struct sharing_line *l);

enum sharing_order { BY_LINE_AND_TIME, BY_BYTES /* and thread, place in the code, size */ };

void sharing_sort(struct hit *h, size_t n, enum sharing_order order);

/* How often the line had to move: one of neighbours by different threads stores. */
uint64_t sharing_moves(const struct hit *h, size_t n);
/* Count the switches of one line's hits, which are in order of time. */
void sharing_switches(const struct hit *h, size_t n, struct sharing_line *l);
/*
 * FALSE, TRUE or BOTH, and how sure that is, by the bytes that were seen in several turns; false: those are too few to tell, and the verdict is UNCLEAR.
 * l->threads and its switches are needed.
 */
bool sharing_kind(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l);
/* Of all pairs of hits (or of those of `seen`), the part that is of different threads with a store in the pair. */
double sharing_chance(struct sharing *s, const struct hit *h, const struct seen *seen, size_t n);
/* How many switches chance would give, in n - 1 places between neighbours. */
double sharing_expected(struct sharing *s, const struct hit *h, size_t n);

/* When each thread did anything: of all hits, before any is dropped. */
int sharing_note_running(struct sharing *s, struct tare_error *err);
/*
 * A line that moves less often than by chance is handed on, or its threads seldom run at once: then they
 * use it all the while that they run, and in many turns.
 */
void sharing_turns(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l);
/*
 * Is a line with few moves, which its threads do not use all the while, handed on? Only where it changed hands often enough, or where those
 * who use it ran and left it alone while another had it: threads that merely ran one after the other look the same on any line. `sure`: how far
 * that bears, 0 to 1.
 */
bool sharing_handed_over(struct sharing *s, const struct hit *h, size_t n, const struct sharing_line *l, double *sure);

/* Less sure than that of whose bytes are whose is no verdict. */
#define KIND_SURE 0.9
/* The most that is said where an access may be wider than it looks. */
#define SIZES_OPEN_SURE 0.9
#define TURNS_SURE 0.8 /* the most that is said where threads that took turns may never run at once */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Cache lines that threads take from each other, and whether they have to: from sampled accesses of any vendor,
 * with or without word of other caches' modified lines.
 *
 * The accesses of a line are put in order of time. Wherever one thread follows another and one of the two stores, the line had to
 * move: a switch, for the same bytes where the two accesses meet in some. Bytes that one thread alone uses, or that nobody writes, would not make
 * the line move: where they lie beside others that threads write, that is false sharing; of bytes that one writes and another uses, true sharing. How many switches there are beside how many there would be if the threads' accesses were shuffled
 * tells sharing at one time from a line that is handed on.
 *
 * Threads that seldom ran at once, as on a busy machine, show few switches on any line. So a line with few is looked at beside all
 * that its threads did: one that each uses all the while that it runs, turn after turn, is fought over as soon as they run
 * at once; one that is handed on is used by each for a part of its time. After a few turns that is only told where threads ran, and left the line
 * alone, while another had it: else there is no verdict.
 *
 * Programs have phases: where all of the time shows no fight, parts of it are judged by themselves. Whose bytes are whose is told only where
 * the same bytes were seen often enough, and in enough turns.
 */
#ifndef MEMORY_SHARING_SHARING_H
#define MEMORY_SHARING_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "tare/access.h"

/* Bytes that an access may have whose size is not known: as many as one of memcpy's with AVX, or a pair of arm64's vectors. */
enum { SHARING_WIDE = 32 };

/* Bytes of memory until all is judged: of each access (of one to several lines: in each), and of each line (a third more with physical addresses). Results
 * come after: some 300 for each cell. */
enum { SHARING_MEMORY_EACH = 44, SHARING_MEMORY_LINE = 72 };

enum sharing_verdict {
	SHARING_NONE,	    /* one thread only, or nobody stores */
	SHARING_FALSE,	    /* threads use bytes of their own, or that nobody writes, beside those that another writes */
	SHARING_TRUE,	    /* threads use the same bytes */
	SHARING_BOTH,
	SHARING_HANDED_OVER, /* by one thread after another, not at one time */
	SHARING_UNCLEAR,    /* too few samples to tell */
	SHARING_UNTIMED,    /* shared, in the way that `kind` says; without times it is not known whether at one time */
};

/* One thread's accesses to some bytes from one place in the code. */
struct sharing_cell {
	uint8_t offset;
	uint16_t size; /* bytes in the line; 0: not known */
	uint32_t pid, tid;
	uint64_t ip;
	uint64_t time_ns; /* of one of them; UINT64_MAX: not told */
	bool kernel;
	uint64_t loads, stores; /* samples; an update is both */
	uint64_t modified;	/* found the line changed in another core's cache */
	uint64_t latency_sum, latency_n; /* cycles, of those that were measured */
};

struct sharing_line {
	uint64_t address; /* of its first byte: virtual, or physical where `physical` */
	uint32_t pid;	  /* whose virtual address; 0 in the kernel, and where physical */
	bool physical;
	uint64_t seen_at; /* its first byte's virtual address as process `seen_by` has it; 0 where no access told one */
	uint32_t seen_by;
	uint64_t time_ns; /* of its last access; UINT64_MAX: not told */
	enum sharing_verdict verdict;
	double sure;	  /* 0 to 1: chance that the verdict is not the work of sampling */
	double bytes_sure; /* ... and that whose bytes are whose is not; of FALSE, TRUE, BOTH and UNTIMED */
	enum sharing_verdict kind; /* of UNTIMED: FALSE, TRUE or BOTH */
	bool sizes_open;  /* ... for which an access of SHARING_WIDE bytes would make it another kind */
	bool in_turns;	  /* its threads use it all the while that they run, but seldom run at once: the verdict is of when they do */
	bool few_turns;	  /* its threads took turns, too few to tell that from one that is handed on, or whose bytes are whose: no verdict */
	bool few_bytes;	  /* too few samples of the same bytes to tell whose they are: no verdict */
	bool seldom;	  /* it moved a few times only: no verdict */
	uint64_t part;	  /* the verdict is of a part of the time, in which there were so many samples; 0: of all */
	double steady;	  /* 0 to 1: share of what the threads did that was done while using it, less what few turns leave open */
	uint64_t samples, loads, stores, modified;
	uint64_t switches_true, switches_false; /* to the same bytes; to others; 0 where UNTIMED */
	uint64_t switches_open; /* of the false: a size that is not known decides */
	double expected;  /* switches, if the accesses were shuffled; 0 where there are no times */
	uint32_t threads; /* that accessed it */
	size_t cell, n_cells; /* sharing_cells() from here on: by offset, then thread */
};

struct sharing_options {
	uint32_t line_size; /* bytes, a power of two up to 256; 0: 64 */
	uint32_t least;	    /* samples of a line below which it is counted only; 0: 4 */
};

struct sharing;

struct sharing *sharing_new(const struct sharing_options *opt, struct tare_error *err);
/* Where an access goes in a file whose mappings are shared: by that, processes meet that have it at different addresses. */
struct sharing_file {
	uint32_t number;
	uint64_t offset;
};

/*
 * Loads, stores and updates with an address are used, in every line that they touch; others are passed over. `file` may be NULL; a physical
 * address goes before it. Of one of more than 1 MiB that much is looked at, and of all together 4194304 lines beyond the first of each: totals say where it was less.
 */
int sharing_add(struct sharing *s, const struct tare_access *a, const struct sharing_file *file, struct tare_error *err);
/* Judge. After it the results below; nothing may be added. */
int sharing_finish(struct sharing *s, struct tare_error *err);
/* Lines of more than one thread with a store among their accesses, those that move most first. */
const struct sharing_line *sharing_lines(const struct sharing *s, size_t *n);
const struct sharing_cell *sharing_cells(const struct sharing *s);
/* How many accesses were used; how many of them had no time; whether any hardware spoke of modified lines. */
struct sharing_totals {
	uint64_t used, passed_over, without_time, lines;
	uint64_t cut_short; /* of `used`: too large for all its lines to be looked at */
	uint64_t too_few; /* lines of several threads with a store, of which there are fewer samples than `least` */
	uint32_t processes; /* of the accesses used */
	bool knows_modified, knows_physical, knows_shared; /* of some; shared: a file */
};
struct sharing_totals sharing_totals(const struct sharing *s);
void sharing_free(struct sharing *s);

/*
 * Of so many accesses to some bytes, of which one thread made `his` and so many stored: is it so but for a tenth (as initialisation, summing up, or seldom
 * writing leave) that one thread makes all, or nobody writes? Then nobody takes these bytes from another.
 */
bool sharing_apart(uint64_t hits, uint64_t his, uint64_t stores);
const char *sharing_verdict_name(enum sharing_verdict v);

#endif

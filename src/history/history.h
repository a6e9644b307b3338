/* SPDX-License-Identifier: MIT */
/*
 * Measurements of many commits: what a store (history/history_store.h) keeps, and which values of a
 * series may be compared. Strings are never NULL; their owner is `strings`, an arena.
 */
#ifndef HISTORY_HISTORY_H
#define HISTORY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "base/text.h"

struct history_number {
	bool whole;
	uint64_t count; /* whole */
	double real;    /* not whole, or negative; finite */
};

struct history_series {
	const char *benchmark, *event;
	const char *unit;   /* "": a count */
	const char *region; /* "": the whole run */
};

/* Values are comparable if all of these are equal. "": not known, or does not matter. */
struct history_conditions {
	const char *tare; /* version */
	const char *engine, *quality;
	const char *isa;   /* the CPU model that the command saw */
	const char *fixed; /* items that were fixed */
	const char *command;
	const char *machine;
};

struct history_commit {
	const char *name; /* its hash, or any name outside of a repository */
	const char *parent, *subject;
	int64_t time;   /* when it was committed: seconds since 1970 */
	uint64_t depth; /* first-parent ancestors; orders commits of one second. 0: not known */
	bool dirty;     /* with uncommitted changes */
};

struct history_result {
	struct history_series series;
	struct history_conditions conditions;
	struct history_number value, least, most; /* median, minimum and maximum of the runs */
	uint64_t runs;
};

/* FNV-1a with 128 bits: tells whether a measurement was added before. */
enum { HISTORY_DIGEST_BYTES = 16 };

struct history_digest {
	unsigned char byte[HISTORY_DIGEST_BYTES];
};

void history_digest_begin(struct history_digest *d);
void history_digest_add(struct history_digest *d, const void *bytes, size_t n);

struct history_function {
	const char *name, *module; /* the name is "": all code without a row of its own */
	uint64_t count;            /* instructions */
};

/* What the gate found out about a measurement. */
struct history_finding {
	const char *verdict, *why;         /* NULL: none */
	struct history_function *function; /* owned; the whole run, or nothing */
	size_t n, room;
};

/* One measurement of a commit. */
struct history_run {
	struct history_commit commit;
	struct history_digest digest;
	struct history_result *result; /* owned */
	size_t n, room;
	struct history_finding finding;
};

struct history_batch {
	struct history_run *run; /* owned */
	size_t n, room;
	void *strings;
};

/* Both return NULL when out of memory. */
struct history_run *history_add_run(struct history_batch *b);
struct history_result *history_add_result(struct history_run *r);
struct history_function *history_add_function(struct history_finding *f);
void history_batch_free(struct history_batch *b);

/* ---- a series, as it was stored ---- */

/* The values with equal conditions. */
struct history_group {
	struct history_conditions conditions;
	bool exact;   /* the counts are exact, and repeated in the runs of each value */
	ssize_t last; /* index of the last point */
};

struct history_point {
	struct history_commit commit;
	size_t group; /* index */
	struct history_number value, least, most;
	uint64_t runs;
	struct history_digest digest; /* of the measurement */
	/* The results of history_judge(). */
	ssize_t before; /* index of the value before it in its group; -1: none */
	bool change;    /* a change point: the values from here on differ from those before */
	/* Of a change point: the two values if they are exact; or the means of the values up to
	   the neighbouring change points, and the p of a t test. */
	struct history_number from, to;
	double p;
	bool unlike; /* not compared with the value before it: other conditions */
};

struct history_values {
	struct history_series series;
	struct history_group *group; /* owned */
	size_t groups, group_room;
	struct history_point *point; /* owned; in the order of the commits */
	size_t n, room;
	void *strings;
};

void history_values_free(struct history_values *v);

/*
 * Sets the results of points and groups: in a group that is exact, each difference is a change
 * point; in others, those of change_points_find() (statistics/change_points.h).
 */
int history_judge(struct history_values *v, struct tare_error *err);
/* What differs, for people: "the version of tare (0.1.0, 0.2.0) and the CPU model (a, b)". */
void history_put_difference(struct text *out, const struct history_conditions *a,
			    const struct history_conditions *b);

/* ---- numbers ---- */

bool history_equal(const struct history_number *a, const struct history_number *b);
double history_real(const struct history_number *n);
/* after - before; *negative tells its sign if it is whole. */
struct history_number history_change(const struct history_number *before,
				     const struct history_number *after, bool *negative);
/* The change of a change point in percent; NAN: from 0. */
double history_percent(const struct history_point *p);
/* All digits, as in JSON: 12, 0.1, 1e-07. */
void history_put_number(struct text *out, const struct history_number *n);
/* "1a2b3c4d5e6f": short for a hash, all of another name. */
int history_short(const char *commit);
/* "2026-11-28T12:00:00Z" */
void history_put_time(struct text *out, int64_t time);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A recording of regions, whatever its format, as it is read: threads, and for each thread its points in
 * order. Between two neighbouring points lies an interval. One file per format gives a `struct
 * timeline_format`; analyses and exports know only this.
 *
 *	timeline_open(&t, path, &err);
 *	for (size_t i = 0; i < timeline_info(t)->n_threads; i++) {
 *		timeline_thread(t, i, &cursor, &err);
 *		while ((n = cursor_next(cursor, &point, &err)) == 1) ...
 *	}
 *
 * A recording that is being written is shown as it was at a moment since it was opened, of each thread: not a point that was there
 * then is missing, and what comes later is not shown.
 *
 * Memory is bounded by the number of labels and threads and by the depth of nesting, not by the number of points.
 */
#ifndef REGIONS_TIMELINE_TIMELINE_H
#define REGIONS_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "tare/reading.h"

enum {
	TIMELINE_COUNTERS_MAX = 8,
	TIMELINE_AT_ONCE = 128, /* points that cursor_read() gives, at most */
	TIMELINE_WAYS = 16,
	TIMELINE_WAY_UNKNOWN = TIMELINE_WAYS - 2, /* what it cost, nobody knows */
	TIMELINE_WAY_NONE = TIMELINE_WAYS - 1, /* of what nobody recorded: it cost nothing */
};

/* The kind of a label that stands for all whose names are not in the file. */
#define TIMELINE_NAMELESS "lost"

enum timeline_kind {
	TIMELINE_BEGIN,
	TIMELINE_END,
	TIMELINE_INSTANT,
	TIMELINE_INTEGER,  /* `number` on the timeline */
	/*
	 * Of a detached timing: `number` joins start and finish, on any thread. What begins and ends on one thread
	 * without nesting (A begins, B begins, A ends) is one of these too: begin and end always nest. Where a file knows
	 * only of ends (measureme), such a start stands just before its finish, with the value of its own time.
	 */
	TIMELINE_START,
	TIMELINE_FINISH,
	/*
	 * `number` points are missing here; 0: nobody knows how many. It lies alone between the begin and the end of a region whose label
	 * is a `gap`: what the counters went on by meanwhile is that region's, and no other is open in it. A counter of which that is not
	 * known is missing at its begin or end.
	 */
	TIMELINE_LOST,
};

/* What of a begin or end is not in the file. All but the first have the second's bit. */
enum timeline_repair {
	TIMELINE_AS_RECORDED,
	TIMELINE_REPAIRED = 1, /* closes what was left open, or opens what was closed without: not in the file, or it says so */
	TIMELINE_AT_GAP = 3,   /* the same, and points are missing there, or before it */
	TIMELINE_AT_END = 5,   /* the same, and it is an end behind the thread's last point */
};

struct timeline_point {
	enum timeline_kind kind;
	uint32_t label;		/* index for timeline_label() */
	uint64_t number;
	const uint64_t *value;	/* n_counters of them, cumulative on this thread */
	uint8_t missing;	/* bit i: counter i was not read here; its value is the last one that was */
	uint8_t repaired;	/* enum timeline_repair */
	bool put_in;		/* a begin or end that is not in the file */
	uint64_t offset;	/* of its record in the file, for messages */
};

struct timeline_label {
	const char *name;	  /* without the arguments; any bytes but 0 */
	const char *kind;	  /* measureme's event kind ("Query"); TIMELINE_NAMELESS; "" where there is none */
	const char *const *arg;   /* arguments; NULL-terminated */
	const char *file;	  /* where it stands in the source, or NULL */
	uint32_t group;		  /* index of the label that has the same name and kind, and no arguments */
	uint32_t line : 24;
	uint32_t way : 6;	  /* how its points are recorded, below TIMELINE_WAYS: timeline_counter.own */
	uint32_t handlers : 1;	  /* timeline_info.lost_handlers may be of it */
	uint32_t gap : 1;	  /* stands for points that were lost: TIMELINE_LOST */
};

/*
 * What an empty region costs, as measured when the recording began: what it shows itself, from its begin to its end, and what
 * beside that is around it sees. How far either can be off goes with every region alike: it does not average out.
 */
struct timeline_own {
	bool known;
	double inside, outside, inside_off, outside_off;
};

struct timeline_counter {
	const char *name;	/* "wall-time", "instructions:u" */
	const char *unit;	/* "ns"; "" for a count */
	enum tare_quality quality;
	const char *note;	/* what its quality rests on, in words, or NULL */
	struct timeline_own own[TIMELINE_WAYS]; /* by timeline_label.way */
};

/* In words: "C", "Python", ... */
const char *timeline_way(uint8_t way);

struct timeline_thread {
	uint64_t pid, tid;
	const char *name;
	bool complete;	  /* it ended, or the recording did, in order */
	bool goes_on;	  /* not, for its process runs still, or did when it was looked at, and goes on with the recording */
	bool end_unknown; /* not, and whether it goes on cannot be known here */
	uint64_t lost;	  /* points known to be missing */
	uint64_t points;  /* that are there, where the format says so without reading them (tare's own); else 0 */
};

/* Where it was recorded. */
struct timeline_machine {
	const char *kind; /* of CPU: "x86-64", for ever; NULL: the format does not say */
	char cpu[64];	  /* its model, in its own words; "": not known */
};

enum timeline_machines { MACHINES_ALIKE, MACHINES_OTHER_CPU, MACHINES_OTHER_KIND };

/* What is not known is alike. */
enum timeline_machines timeline_machines(const struct timeline_machine *a, const struct timeline_machine *b);

struct timeline_info {
	const char *path, *format; /* "tare 1", "measureme 9" */
	const char *command;
	uint64_t start_ns;	/* of the recording, since 1970 */
	struct timeline_machine machine;
	bool one_cpu;		/* its threads took turns on one; not: so far as is known */
	int time;		/* index of the counter that is a clock all threads share; -1: none */
	const struct timeline_counter *counter;
	size_t n_counters;
	const struct timeline_thread *thread;
	size_t n_threads;
	size_t n_labels;
	uint64_t lost;		/* points known to be missing that are of none of the threads */
	uint64_t lost_handlers; /* of those: of signal handlers that interrupted the recording, whose other points are all there */
	bool handlers_any; /* and they may be of labels that are not in the file */
	bool lost_unknown;	/* others may be, and nobody knows how many */
	bool counters_unknown;	/* what says which there are is not in what is left of the file */
	bool broke_off;		/* of samples: the recorder did not come to its end */
	const char *damage;	/* what of the file could not be read, with its offset; NULL: nothing */
	const char *remark;	/* what one should know of a file that is whole all the same; NULL: nothing */
	const char *live;	/* in words, that it is being written, by whom; NULL: as far as is known it is not */
};

struct timeline;
struct cursor;

/* The format is found by content. -EINVAL with the offset for what is no recording; what is damaged further on opens, and says so. */
int timeline_open(struct timeline **out, const char *path, struct tare_error *err);
const struct timeline_info *timeline_info(const struct timeline *t);
/* Valid until timeline_close(). */
const struct timeline_label *timeline_label(struct timeline *t, uint32_t index);
/* The caller's from now on, for arena_free(): names, kinds and arguments of all labels, for which the timeline goes on to use it. NULL: it
 * was taken already, or the format has none. */
void *timeline_take_texts(struct timeline *t);
void timeline_close(struct timeline *t);

/* A thread's points, from its first. Any number of cursors at once; one cursor in one thread. */
int timeline_thread(struct timeline *t, size_t thread, struct cursor **out, struct tare_error *err);
/*
 * The next points, `most` at most, as many as are at hand: how many, 0 at the end, or a negative errno. They and their values are the
 * cursor's, until the next call. Begin and end are balanced: `repaired` says where they were made so. most: 1 to TIMELINE_AT_ONCE.
 */
int cursor_read(struct cursor *c, size_t most, const struct timeline_point **points, struct tare_error *err);
/* One of them: 1, 0 at the end, or a negative errno. */
int cursor_next(struct cursor *c, struct timeline_point *p, struct tare_error *err);
void cursor_close(struct cursor *c);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Read a recording of regions in any format: its threads, and for each thread its points in order.
 * Two consecutive points delimit an interval. One file per format implements `struct
 * timeline_format`; analyses and exports use only this interface.
 *
 *	timeline_open(&t, path, &err);
 *	for (size_t i = 0; i < timeline_info(t)->n_threads; i++) {
 *		timeline_thread(t, i, &cursor, &err);
 *		while ((n = cursor_next(cursor, &point, &err)) == 1) ...
 *	}
 *
 * A recording that is being written is shown as a snapshot taken when it was opened, thread by
 * thread. No earlier point is missing, and later points are not shown.
 *
 * Memory is bounded by the number of labels and threads and by the depth of nesting, not by the
 * number of points.
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
	TIMELINE_AT_ONCE = 128, /* maximum number of points that cursor_read() returns */
	TIMELINE_PATHS = 16,
	TIMELINE_PATH_UNKNOWN = TIMELINE_PATHS - 2, /* its overhead is not known */
	/* for points that were not recorded: no overhead */
	TIMELINE_PATH_NONE = TIMELINE_PATHS - 1,
};

/* The kind of the label for all labels with lost names. */
#define TIMELINE_NAMELESS "lost"

enum timeline_kind {
	TIMELINE_BEGIN,
	TIMELINE_END,
	TIMELINE_INSTANT,
	TIMELINE_INTEGER, /* `number` on the timeline */
	/*
	 * An async span: `number` joins start and finish, on any thread. Intervals on one
	 * thread that do not nest (A begins, B begins, A ends) are async spans, too, because
	 * begin and end always nest. If a format has only ends (measureme), the start directly
	 * precedes its finish and has the value of its own time.
	 */
	TIMELINE_START,
	TIMELINE_FINISH,
	/*
	 * `number` points are missing here; 0: an unknown number. It is the only point between the
	 * begin and the end of a region with a `gap` label. The counts during the gap belong to
	 * that region, and no other region is open. A counter with unknown counts there is missing
	 * at its begin or end.
	 */
	TIMELINE_LOST,
};

/*
 * The parts of a begin or end that are not in the file. All values except the first include the bit
 * of the second.
 */
enum timeline_repair {
	TIMELINE_AS_RECORDED,
	/*
	 * closes an open region, or opens one for an end without a begin: not in the file, or
	 * marked there
	 */
	TIMELINE_REPAIRED = 1,
	TIMELINE_AT_GAP = 3, /* the same, and points are missing there or before */
	TIMELINE_AT_END = 5, /* the same, for an end after the thread's last point */
};

struct timeline_point {
	enum timeline_kind kind;
	uint32_t label; /* index for timeline_label() */
	uint64_t number;
	const uint64_t *value; /* n_counters cumulative values of this thread */
	uint8_t missing;  /* bit i: counter i was not read here; its value is the last one read */
	uint8_t repaired; /* enum timeline_repair */
	bool put_in;      /* a begin or end that is not in the file */
	uint64_t offset;  /* file offset of its record, for messages */
};

struct timeline_label {
	const char *name; /* without the arguments; any bytes except 0 */
	const char *kind; /* measureme's event kind ("Query"); TIMELINE_NAMELESS; "" if none */
	const char *const *arg; /* arguments; NULL-terminated */
	const char *file;       /* source file, or NULL */
	uint32_t group; /* index of the label with the same name and kind and without arguments */
	uint32_t line : 24;
	/* the way its points are recorded, below TIMELINE_PATHS: index of timeline_counter.own */
	uint32_t record_path : 6;
	uint32_t handlers : 1; /* some of timeline_info.lost_handlers may have this label */
	uint32_t gap : 1;      /* represents lost points: TIMELINE_LOST */
};

/*
 * The overhead of a region, as measured when the recording began: `inside` is the cost between
 * begin and end of an empty region, `outside` the cost that its surroundings see. The errors have
 * the same sign for all regions, so they do not average out.
 */
struct timeline_own {
	bool known;
	double inside, outside, inside_off, outside_off;
};

struct timeline_counter {
	const char *name; /* "wall-time", "instructions:u" */
	const char *unit; /* "ns"; "" for a count */
	enum tare_quality quality;
	const char *note;                        /* the reason for its quality, in words, or NULL */
	struct timeline_own own[TIMELINE_PATHS]; /* by timeline_label.way */
};

/* In words: "C", "Python", ... */
const char *timeline_record_path(uint8_t record_path);

struct timeline_thread {
	uint64_t pid, tid;
	const char *name;
	bool complete; /* it ended, or the recording did, properly */
	/*
	 * not complete, because its process still runs, or did when checked, and continues the
	 * recording
	 */
	bool goes_on;
	bool end_unknown; /* not complete, and it is not known whether it continues */
	uint64_t lost;    /* points known to be missing */
	/* number of points, if the format has it without reading them (tare's own); else 0 */
	uint64_t points;
};

/* The machine of the recording. */
struct timeline_machine {
	const char *kind; /* kind of CPU, a stable name: "x86-64"; NULL: not in the format */
	char cpu[64];     /* its model name; "": not known */
};

enum timeline_machines { MACHINES_ALIKE, MACHINES_OTHER_CPU, MACHINES_OTHER_KIND };

/* Unknown values compare as equal. */
enum timeline_machines timeline_machines(const struct timeline_machine *a,
					 const struct timeline_machine *b);

struct timeline_info {
	const char *path, *format; /* "tare 1", "measureme 9" */
	const char *command;
	uint64_t start_ns; /* of the recording, since 1970 */
	struct timeline_machine machine;
	bool one_cpu; /* its threads shared one CPU; false: no, or not known */
	int time;     /* index of the counter that is a clock common to all threads; -1: none */
	const struct timeline_counter *counter;
	size_t n_counters;
	const struct timeline_thread *thread;
	size_t n_threads;
	size_t n_labels;
	uint64_t lost; /* points known to be missing, of no known thread */
	/*
	 * of those: of signal handlers that interrupted the recording; all other points are there
	 */
	uint64_t lost_handlers;
	bool handlers_any;     /* and they may have labels that are not in the file */
	bool lost_unknown;     /* an unknown number of others may be missing */
	bool counters_unknown; /* the list of counters is missing in a damaged file */
	bool broke_off;        /* for samples: the recorder did not finish */
	const char *damage;    /* unreadable parts of the file, with their offset; NULL: none */
	const char *remark;    /* a note about an intact file; NULL: none */
	/* in words: it is being written, and by which processes; NULL: not, as far as known */
	const char *live;
};

struct timeline;
struct cursor;

/*
 * The format is detected from the contents. -EINVAL with the offset if it is not a recording. A
 * file that is damaged later on can be opened, and info->damage describes the damage.
 */
int timeline_open(struct timeline **out, const char *path, struct tare_error *err);
const struct timeline_info *timeline_info(const struct timeline *t);
/* Valid until timeline_close(). */
const struct timeline_label *timeline_label(struct timeline *t, uint32_t index);
/*
 * Moves ownership to the caller, who frees it with arena_free(): names, kinds and arguments of all
 * labels, which the timeline continues to use. NULL: already taken, or not available in this
 * format.
 */
void *timeline_take_texts(struct timeline *t);
void timeline_close(struct timeline *t);

/*
 * Read a thread's points from the first one. Any number of cursors may exist; each is used by one
 * thread at a time.
 */
int timeline_thread(struct timeline *t, size_t thread, struct cursor **out, struct tare_error *err);
/*
 * Read the next available points, at most `most`. Returns their number, 0 at the end, or a negative
 * errno. The points and their values belong to the cursor and are valid until the next call. Begin
 * and end are balanced; `repaired` marks inserted ones. most: 1 to TIMELINE_AT_ONCE.
 */
int cursor_read(struct cursor *c, size_t most, const struct timeline_point **points,
		struct tare_error *err);
/* Read one point. Returns 1, 0 at the end, or a negative errno. */
int cursor_next(struct cursor *c, struct timeline_point *p, struct tare_error *err);
void cursor_close(struct cursor *c);

#endif

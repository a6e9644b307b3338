/* SPDX-License-Identifier: MIT */
/*
 * Export a recording to the format of another tool. One file per format, each ending in a `const
 * struct exporter`. The input is the same for regions and samples:
 *
 *	points	begins, ends and events of a thread, in order (traces)
 *	stacks	each distinct stack once, with its sums (flame graphs)
 *
 * An exporter implements one or both, writes as it is called, and keeps nothing that grows with the
 * number of points. Errors are sticky in `out`.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "profile/call_tree.h"
#include "regions/timeline/timeline.h"
#include "output/out.h"

/* The exported data: heads and names, for any type of recording. */
struct export_source {
	/* a profile may have more than TIMELINE_COUNTERS_MAX counters */
	const struct timeline_info *info;
	/*
	 * The label of a region or a function: its name, `kind` (for a function: its module),
	 * source line.
	 */
	const struct timeline_label *(*label)(void *with, uint32_t index);
	void *with;
	/* of samples: labels are its frames, threads its tasks; NULL: regions */
	const struct call_tree *call_tree;
	/* its counters have a quality: regions do; amounts of samples are estimates, or exact */
	bool has_quality;
	const char *program;      /* at the root of every stack */
	struct timeline *regions; /* the recording; NULL: of samples */
	/* the counter of the time axis, or the one that is summed if the format has only one */
	size_t counter;
};

/*
 * A region; at its begin, the end fields are not set. `from` and `to` are n_counters cumulative
 * values.
 */
struct export_span {
	uint32_t label;
	unsigned depth;      /* number of enclosing regions */
	uint64_t begin, end; /* on the axis: ns since the recording began, or the axis counter */
	/* not read, or decreased: the position of the previous point is used */
	bool begin_unknown, end_unknown;
	const uint64_t *from, *to;
	uint8_t missing;    /* bit i: from[i] or to[i] could not be read */
	uint8_t to_missing; /* bit i: to[i] */
	bool repaired;
	/*
	 * points were lost at its "begin", "end", "begin and end": it may be a part of a region
	 * that was open there; else NULL
	 */
	const char *at_gap;
};

/* TIMELINE_INSTANT, INTEGER, START, FINISH or LOST. */
struct export_mark {
	enum timeline_kind kind;
	uint32_t label;
	unsigned depth;
	uint64_t number, at;
	bool at_unknown;
	const uint64_t *value;
	uint8_t missing;
};

/* One sample of a profile; its stack is a node of of->call_tree. */
struct export_sample {
	uint64_t at; /* ns since the first sample of the recording */
	uint64_t amount;
	uint32_t counter, node, cpu; /* cpu UINT32_MAX: not recorded */
	/* the fields of its tracepoint (profile/call_tree.h); 0: none */
	uint32_t trace;
	const char *command; /* the name of its thread at that time; exec changes it */
};

struct export_stack {
	const uint32_t *label; /* outermost first, without the program */
	size_t n;
	uint32_t trace;
	/* n_counters: number of samples or ends of regions, and the amounts */
	const uint64_t *samples, *self;
};

struct export
{
	const struct exporter *how;
	const struct export_source *of;
	struct out *out;
	size_t thread; /* the thread of the current points */
	void *own;     /* own_size bytes, zeroed before begin() */
};

struct exporter {
	const char *name, *about;
	const char *ending; /* file extension, which selects the format */
	bool binary;
	bool fields;     /* of samples: the format supports tracepoint fields */
	bool by_address; /* of samples: frames differ by address, if addresses were read */
	size_t own_size;
	int (*begin)(struct export *x, struct tare_error *err);
	void (*thread)(struct export *x); /* its points follow; once per thread, in order */
	/* NULL if the complete span is sufficient */
	void (*open)(struct export *x, const struct export_span *s);
	void (*close)(struct export *x, const struct export_span *s);
	void (*mark)(struct export *x, const struct export_mark *m);
	/* between thread() and end(), like the points of regions */
	void (*sample)(struct export *x, const struct export_sample *s);
	void (*stack)(struct export *x, const struct export_stack *s);
	/* the whole profile, instead of `stack` */
	int (*profile)(struct export *x, const struct call_tree *s, struct tare_error *err);
	void (*end)(struct export *x);
	void (*free)(struct export *x); /* also after a failed begin() */
};

extern const struct exporter *const exporters[]; /* ends with NULL */

enum { EXPORT_REPAIRED_NAMED = 3 };

/* Notes for users of the export; counts of places. */
struct export_told {
	uint64_t lost;     /* points missing in the recording, as far as known */
	uint64_t unplaced; /* points whose position on the axis was not read, or decreased */
	uint64_t missing;  /* regions with a counter that was not read, or decreased */
	uint64_t too_deep; /* regions added to an enclosing one */
	uint64_t repaired; /* begins or ends that are not in the recording */
	/* the first labels of those, by group (timeline_label()), each once */
	uint32_t repaired_of[EXPORT_REPAIRED_NAMED];
	size_t n_repaired_of;
	bool repaired_of_more; /* labels */
};

struct export_options {
	const char *counter;      /* by name; NULL: the clock, or else the first one */
	bool by_thread;           /* stacks of different threads are separate */
	uint64_t first_ns;        /* of samples: the origin of their times */
	const char *program;      /* at the root; NULL: the first word of the command */
	struct timeline *regions; /* private: of export_timeline() */
};

/* Export a recording of regions, in any format. */
int export_timeline(struct out *out, const struct exporter *how, struct timeline *t,
		    const struct export_options *opt, struct export_told *told,
		    struct tare_error *err);
/*
 * Export a profile. `head` describes it; its counters and threads are the profile's. A format with
 * `sample` gets the profile's samples, thread by thread (they are sorted in place); other formats
 * get its stacks.
 */
int export_stacks(struct out *out, const struct exporter *how, struct call_tree *s,
		  const struct timeline_info *head, const struct export_options *opt,
		  struct tare_error *err);

/*
 * The label, or "?" if there is none. After the recording's labels come its threads, then the
 * program.
 */
const struct timeline_label *export_label(const struct export *x, uint32_t index);
uint32_t export_program(const struct export *x);
enum { EXPORT_THREAD_ROOM = 32 };
/* The thread's name, or "thread 12" in `room` if it has none. */
const char *export_thread_name(const struct timeline_thread *t, char room[EXPORT_THREAD_ROOM]);
/* The base name of a command line's first word, in `room`. */
const char *export_program_of(const char *command, char *room, size_t size);
/* Is the axis time in ns? */
bool export_is_time(const struct export_source *of);

/*
 * Maps labels to small numbers in order of first use. export_ids_clear() resets it in constant
 * time.
 */
struct export_ids {
	uint32_t *id, *round; /* by label */
	size_t room;
	uint32_t now, n;
	bool failed;
};
/* The number, from 0; sets *fresh if it is new. */
uint32_t export_id(struct export_ids *ids, uint32_t label, bool *fresh);
bool export_ids_has(const struct export_ids *ids, uint32_t label);
void export_ids_clear(struct export_ids *ids);
void export_ids_free(struct export_ids *ids);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A recording in the format of another tool. One file per format, each ending in a `const struct exporter`; what
 * they are given is the same for regions and for samples:
 *
 *	points	what began, ended or happened on a thread, in its order (traces)
 *	stacks	each different stack once, with its sums (flame graphs)
 *
 * An exporter has functions for one or both, writes as it is called, and holds nothing that grows with the
 * number of points. Errors stick in `out`.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "profile/stacks.h"
#include "regions/timeline/timeline.h"
#include "output/out.h"

/* What is exported: heads and names, whichever recording they are of. */
struct export_source {
	const struct timeline_info *info; /* its counters may be more than TIMELINE_COUNTERS_MAX in a profile */
	/* The label of a region, or a function: its name, `kind` (of a function: its module), source line. */
	const struct timeline_label *(*label)(void *with, uint32_t index);
	void *with;
	const struct stacks *stacks; /* of samples: labels are its frames, threads its tasks; NULL: regions */
	const char *program; /* at the root of every stack */
	size_t counter;	     /* along the axis of time, or the one that is added up where there is room for one */
};

/* A region; at its beginning only the beginning is known. `from` and `to` are n_counters cumulative values. */
struct export_span {
	uint32_t label;
	unsigned depth; /* regions around it */
	uint64_t begin, end; /* on the axis: ns since the recording began, or the counter it goes by */
	bool begin_unknown, end_unknown; /* not read, or ran backwards: it stands where the point before stood */
	const uint64_t *from, *to;
	uint8_t missing;    /* bit i: from[i] or to[i] could not be read */
	uint8_t to_missing; /* bit i: to[i] */
	bool repaired;
	const char *at_gap; /* points were lost at its "begin", "end", "begin and end": it may be a piece of a region that was open there; else NULL */
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

/* One sample of a profile; its stack is a node of of->stacks. */
struct export_sample {
	uint64_t at; /* ns since the recording's first */
	uint64_t amount;
	uint32_t counter, node, cpu; /* cpu UINT32_MAX: not recorded */
	uint32_t trace; /* the fields of its tracepoint (profile/stacks.h); 0: none */
	const char *command; /* the name that its thread had then: exec gives another */
};

struct export_stack {
	const uint32_t *label; /* outermost first, the program excluded */
	size_t n;
	uint32_t trace;
	const uint64_t *samples, *self; /* n_counters: how many samples or ends of regions, and what they stand for */
};

struct export {
	const struct exporter *how;
	const struct export_source *of;
	struct out *out;
	size_t thread; /* the one whose points come */
	void *own;     /* own_size bytes, zeroed before begin() */
};

struct exporter {
	const char *name, *about;
	const char *ending; /* of a file's name, which chooses the format */
	bool binary;
	bool fields;	 /* of samples: it has a place for the fields of tracepoints */
	bool by_address; /* of samples: frames differ by address, where they are read for it */
	size_t own_size;
	int (*begin)(struct export *x, struct tare_error *err);
	void (*thread)(struct export *x); /* its points follow; once for each thread, in order */
	void (*open)(struct export *x, const struct export_span *s); /* NULL where the whole span is enough */
	void (*close)(struct export *x, const struct export_span *s);
	void (*mark)(struct export *x, const struct export_mark *m);
	void (*sample)(struct export *x, const struct export_sample *s); /* between thread() and end(), as the points of regions */
	void (*stack)(struct export *x, const struct export_stack *s);
	int (*profile)(struct export *x, const struct stacks *s, struct tare_error *err); /* all of it, instead of `stack` */
	void (*end)(struct export *x);
	void (*free)(struct export *x); /* after a begin() that failed, too */
};

extern const struct exporter *const exporters[]; /* ends with NULL */

enum { EXPORT_REPAIRED_NAMED = 3 };

/* What whoever reads the export should know; counts of places. */
struct export_told {
	uint64_t lost;	   /* points missing in the recording, as far as it says */
	uint64_t unplaced; /* points whose place on the axis could not be read, or went backwards */
	uint64_t missing;  /* regions with a counter that could not be read, or ran backwards */
	uint64_t too_deep; /* regions added to one above them */
	uint64_t repaired; /* begins or ends that are not in the recording */
	uint32_t repaired_of[EXPORT_REPAIRED_NAMED]; /* the first labels of those, by group (timeline_label()), each once */
	size_t n_repaired_of;
	bool repaired_of_more; /* labels */
};

struct export_options {
	const char *counter; /* by name; NULL: the clock, or else the first */
	bool by_thread;	     /* stacks of different threads are kept apart */
	uint64_t first_ns;   /* of samples: what their times count from */
	const char *program; /* at the root; NULL: the command's first word */
};

/* A recording of regions, in any format. */
int export_timeline(struct out *out, const struct exporter *how, struct timeline *t, const struct export_options *opt,
		    struct export_told *told, struct tare_error *err);
/*
 * A profile. The head says of what; its counters and threads are the profile's. A format with a `sample` is given the profile's
 * moments, thread by thread (they are sorted for it, where they lie); the others its stacks.
 */
int export_stacks(struct out *out, const struct exporter *how, struct stacks *s, const struct timeline_info *head,
		  const struct export_options *opt, struct tare_error *err);

/* The label, or "?" for one that is not there. Behind the recording's own come its threads, then the program. */
const struct timeline_label *export_label(const struct export *x, uint32_t index);
uint32_t export_program(const struct export *x);
enum { EXPORT_THREAD_ROOM = 32 };
/* Its name, or "thread 12" in `room` where it has none. */
const char *export_thread_name(const struct timeline_thread *t, char room[EXPORT_THREAD_ROOM]);
/* The last part of a command line's first word, in `room`. */
const char *export_program_of(const char *command, char *room, size_t size);
/* True when the axis is time in ns. */
bool export_is_time(const struct export_source *of);

/* A map from labels to small numbers in order of first use, forgotten at once by export_ids_clear(). */
struct export_ids {
	uint32_t *id, *round; /* by label */
	size_t room;
	uint32_t now, n;
	bool failed;
};
/* The number, from 0; *fresh says that it is new. */
uint32_t export_id(struct export_ids *ids, uint32_t label, bool *fresh);
bool export_ids_has(const struct export_ids *ids, uint32_t label);
void export_ids_clear(struct export_ids *ids);
void export_ids_free(struct export_ids *ids);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A profile: the amounts of each event, by call stack and thread. It is the result of reading a
 * recording (profile/samples.h) and the input of reports, flame graphs and exports.
 *
 * Each item is stored once and referred to by its number:
 *
 *	names	 strings
 *	frames	 a function, with its file and line or its address if requested
 *	nodes	 a frame under a parent node: the tree of stacks. Node 0 is the root and has no frame.
 *		 A parent's number is less than its children's, so one backward pass adds up totals.
 *	modules	 a module's name, and its build if recorded
 *	tasks	 a thread under a command name
 *	columns	 an event
 *	traces	 the values of a tracepoint's fields, linked like nodes; 0: none
 *	rows	 node, task, column, trace: the samples that ended there, and their amount
 *	moments	 the samples one by one, if requested
 *
 * To read a profile, walk the arrays. To build one, call call_tree_new() and add.
 */
#ifndef PROFILE_CALL_TREE_H
#define PROFILE_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include "profile/sample_log.h"
#include "base/error.h"
#include "base/words.h"
#include "base/set.h"

enum call_tree_flags {
	CALL_TREE_KERNEL = 1,  /* else user code */
	CALL_TREE_INLINED = 2, /* inlined into the frame of its parent node */
	CALL_TREE_UNKNOWN = 4, /* function unknown: the name, in brackets, says so */
	CALL_TREE_MARK = 8,    /* no code: a placeholder, in brackets, for something missing */
	CALL_TREE_GUEST = 16,  /* of a guest (virtual machine) */
	/* without a symbol: named by the function's start address, from call frame information */
	CALL_TREE_NAMELESS = 32
};

struct call_tree_frame {
	/* as in the module's file (ELF virtual address), of a JIT in memory; 0: not by address */
	uint64_t address;
	uint32_t function, module, file; /* names; file 0 if no line is known or requested */
	uint32_t line;
	uint32_t flags;
	uint32_t code; /* by address: index of the recording's module (struct samples) */
};

struct call_tree_node {
	uint32_t parent, frame; /* both SET_NONE for the root */
};

struct call_tree_module {
	/* build_id: in hexadecimal; 0: not recorded, or several builds of that name */
	uint32_t name, build_id;
	/*
	 * The executable segment of its ELF file, in addresses of that file; size 0: not known, or
	 * several builds.
	 */
	uint64_t address, size, offset;
	uint64_t base;         /* start of its first segment, in the same addresses as frames */
	uint32_t placed, zero; /* private */
};

struct call_tree_task {
	uint32_t pid, tid, comm;
	uint32_t again; /* how many earlier threads had this pid and tid */
};

enum call_tree_trace_kind {
	CALL_TREE_TRACE_NUMBER, /* decimal */
	CALL_TREE_TRACE_TEXT,
	CALL_TREE_TRACE_HEX,    /* bytes as two hexadecimal digits each */
	CALL_TREE_TRACE_ABSENT, /* the value is missing: the text, in brackets, says why */
};

struct call_tree_trace {
	/* name: of the field; SET_NONE: the parent of the root */
	uint32_t parent, name, value, kind;
};

enum { CALL_TREE_TRACE_MOST = 1100 }; /* most values of one trace */

struct call_tree_row {
	uint32_t node, task, column, trace;
	uint64_t samples;
	/* events that the samples represent; equal to `samples` if that is not known */
	uint64_t amount;
};

/* The requested sampling period or rate. */
struct call_tree_asked {
	/* events between samples, samples per second; a clock has both; 0: not known */
	uint64_t period, rate_hz;
	bool costs; /* taking a sample adds to the event's own count */
	/* a sample for each event that the kernel, or the exact engine, saw */
	bool every;
	/* by the exact engine: a repeatable program has the same samples in each run */
	bool repeats;
	/* by the exact engine: each sample adds the counts of the code at its address */
	bool by_code;
	/* by the exact engine: one of every `period` events, chosen at random */
	bool random;
};

struct call_tree_column {
	uint32_t name, unit; /* unit "" for plain counts, "ns" for clocks */
	/* no samples of its own: its counter was read with another event's samples */
	bool read;
	/* the address may be some instructions after the one that caused the event */
	bool skids;
	uint64_t samples, amount;
	bool has_total;
	uint64_t total; /* the exact total; `amount` is estimated from samples */
	struct call_tree_asked asked;
	double squares; /* sum of the squares of the samples' amounts */
	/*
	 * by the exact engine, per instruction: `amount` is the total, and each frame's own amount
	 * is exact unless `by_samples`
	 */
	bool counted;
	uint64_t sampled; /* if so: the estimate from samples */
	/* share of the recording's samples that was lost in it; which ones is not known */
	double lost;
};

/* Each event is a sample and none is lost: shares have no sampling error. */
static inline bool call_tree_census(const struct call_tree_column *c)
{
	return c->asked.every && c->samples && c->samples == c->amount && c->lost <= 0;
}

/*
 * The exact engine's samples at a fixed period: a loop in step with it can make shares arbitrarily
 * wrong.
 */
static inline bool call_tree_in_step(const struct call_tree_column *c)
{
	return c->asked.repeats && !c->asked.random && c->asked.period > 1;
}

/* The amount by samples, to which `squares` belongs. */
static inline uint64_t call_tree_sampled(const struct call_tree_column *c)
{
	return c->counted ? c->sampled : c->amount;
}

struct call_tree {
	struct words names;
	struct set frame_set, module_set, node_set, task_set, row_set,
		trace_set; /* private: the macros below */
	struct call_tree_column *column;
	uint32_t columns;
	struct sample_log sample_log;
	/*
	 * if columns are counted: per frame, whether its own amounts are by samples after all; else
	 * NULL
	 */
	bool *by_samples;
	uint32_t main; /* name: the module of the program with the most samples; 0: not known */
};

static inline const struct call_tree_frame *call_tree_frames(const struct call_tree *s, size_t *n)
{
	*n = s->frame_set.n;
	return s->frame_set.item;
}

static inline const struct call_tree_node *call_tree_nodes(const struct call_tree *s, size_t *n)
{
	*n = s->node_set.n;
	return s->node_set.item;
}

static inline const struct call_tree_task *call_tree_tasks(const struct call_tree *s, size_t *n)
{
	*n = s->task_set.n;
	return s->task_set.item;
}

static inline const struct call_tree_row *call_tree_rows(const struct call_tree *s, size_t *n)
{
	*n = s->row_set.n;
	return s->row_set.item;
}

static inline const char *call_tree_name(const struct call_tree *s, uint32_t number)
{
	return words_at(&s->names, number);
}

/* The build of a module by its name, if it is the only one; else "". */
const char *call_tree_build_id(const struct call_tree *s, uint32_t module);
/* The module by its name, or NULL. Valid until a module is added. */
const struct call_tree_module *call_tree_module(const struct call_tree *s, uint32_t name);

/* Has the root but no columns. NULL when out of memory. */
struct call_tree *call_tree_new(struct tare_error *err);
void call_tree_free(struct call_tree *s);

/*
 * Each adds the item unless it is there already and returns its number, or SET_NONE when out of
 * memory. Columns are always new.
 */
uint32_t call_tree_add_name(struct call_tree *s, const char *name);
uint32_t call_tree_add_frame(struct call_tree *s, const struct call_tree_frame *frame);
/* Sets the build of a module that ran, "" if not known; call it for each build. */
uint32_t call_tree_add_module(struct call_tree *s, uint32_t name, const char *build_id);
/*
 * Sets the load addresses of a module that call_tree_add_module() returned; call it for each build.
 */
void call_tree_place_module(struct call_tree *s, uint32_t number, uint64_t address, uint64_t size,
			    uint64_t offset, uint64_t base);
uint32_t call_tree_add_node(struct call_tree *s, uint32_t parent, uint32_t frame);
uint32_t call_tree_add_task(struct call_tree *s, uint32_t pid, uint32_t tid, uint32_t comm);
uint32_t call_tree_add_task_of(struct call_tree *s, const struct call_tree_task *task);
uint32_t call_tree_add_trace(struct call_tree *s, const struct call_tree_trace *trace);
uint32_t call_tree_add_column(struct call_tree *s, const char *name, const char *unit);

/*
 * The values of a trace in the order they were added; returns their number, CALL_TREE_TRACE_MOST at
 * most.
 */
size_t call_tree_trace_values(const struct call_tree *s, uint32_t trace,
			      const struct call_tree_trace *value[CALL_TREE_TRACE_MOST]);

/*
 * A thread that changed its name, as exec does, has several tasks. Stores per task the number of
 * its thread, in the order of the first tasks, into `of` (as long as the tasks). Returns the number
 * of threads; SIZE_MAX when out of memory.
 */
size_t call_tree_threads(const struct call_tree *s, uint32_t *of);

/* Adds samples at a stack. `squares`: the sum of the squares of their amounts. */
int call_tree_count(struct call_tree *s, const struct call_tree_row *row, double squares,
		    struct tare_error *err);

/*
 * Per node the column's amounts that ended there, and those that ended there or below it (either
 * may be NULL): arrays as long as the nodes, owned by the caller. task SET_NONE: all tasks.
 */
void call_tree_sums(const struct call_tree *s, uint32_t column, uint32_t task, uint64_t *self,
		    uint64_t *total);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A profile: how much of what was counted, at which stack of calls, in which thread. It is what
 * reading a recording gives (profile/samples.h) and what reports, flame graphs and exports take.
 *
 * Everything is kept once and known by its number:
 *
 *	names	 strings
 *	frames	 a function, with its file and line or its address where they were asked for
 *	nodes	 a frame under a parent node: the tree of stacks. Node 0 is the root and has no frame.
 *		 A parent's number is less than its children's, so one walk backwards adds up totals.
 *	modules	 a module's name, and which build of it ran where the recording tells
 *	tasks	 a thread under a command name
 *	columns	 what was counted
 *	traces	 the values of a tracepoint's fields, one under the other as nodes are; 0: none
 *	rows	 node, task, column, trace: how many samples ended there, and how much they stand for
 *	moments	 the samples one by one, where they were asked for
 *
 * To read one, walk the arrays. To make one, begin with stacks_new() and add.
 */
#ifndef PROFILE_STACKS_H
#define PROFILE_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include "profile/moments.h"
#include "base/error.h"
#include "base/words.h"
#include "base/set.h"

enum stacks_flags {
	STACKS_KERNEL = 1,   /* else user code */
	STACKS_INLINED = 2,  /* into the frame of its parent node */
	STACKS_UNKNOWN = 4,  /* its function is not known: the name says so in brackets */
	STACKS_MARK = 8,     /* no code: says that something is missing here, in brackets */
	STACKS_GUEST = 16,   /* of a virtual machine */
	STACKS_NAMELESS = 32 /* no symbol is there: the name is the function's address, by call frame information */
};

struct stacks_frame {
	uint64_t address; /* as the module's file has it (ELF virtual address), of a JIT in memory; 0:
			     not by address */
	uint32_t function, module, file; /* names; file 0 where no line is known or asked for */
	uint32_t line;
	uint32_t flags;
	uint32_t code; /* by address: which of the recording's pieces of code (struct samples) */
};

struct stacks_node {
	uint32_t parent, frame; /* of the root both are SET_NONE */
};

struct stacks_module {
	uint32_t name, build_id; /* build_id: in hexadecimal; 0: not recorded, or several builds under that name */
	/* The executable segment of its ELF file, in addresses of that file; size 0: not known, or several builds. */
	uint64_t address, size, offset;
	uint64_t base; /* where its first segment begins; frames have addresses in the same space */
	uint32_t placed, zero; /* private */
};

struct stacks_task {
	uint32_t pid, tid, comm;
	uint32_t again; /* how many threads had this pid and tid before */
};

enum stacks_trace_kind {
	STACKS_TRACE_NUMBER, /* in decimal */
	STACKS_TRACE_TEXT,
	STACKS_TRACE_HEX,    /* bytes, two digits each */
	STACKS_TRACE_ABSENT, /* the value says why, in brackets */
};

struct stacks_trace {
	uint32_t parent, name, value, kind; /* name: of the field; the parent of the root is SET_NONE */
};

enum { STACKS_TRACE_MOST = 1100 }; /* values of one trace */

struct stacks_row {
	uint32_t node, task, column, trace;
	uint64_t samples;
	uint64_t amount; /* events that they stand for; equal to `samples` where that is not known */
};

/* How often samples were asked for. */
struct stacks_asked {
	uint64_t period, rate_hz; /* events between samples, samples a second; of a clock both; 0: not known */
	bool costs;		  /* taking a sample adds to what is counted */
	bool every;		  /* one of each event that the kernel, or the exact engine, saw */
	bool repeats;		  /* by the exact engine: a program that repeats has the same samples */
	bool by_code;		  /* by the exact engine: each sample adds the counts of the code at its address */
	bool random;		  /* by the exact engine: one of every `period` events, at random */
};

struct stacks_column {
	uint32_t name, unit; /* unit "" for plain counts, "ns" for clocks */
	bool read;	     /* no samples of its own: its counter was read when another event's sample was taken */
	bool skids;	     /* the address may lie some instructions behind the event */
	uint64_t samples, amount;
	bool has_total;
	uint64_t total; /* all that was counted, to the event; `amount` is what the samples stand for */
	struct stacks_asked asked;
	double squares; /* sum of the squares of the samples' amounts */
	bool counted;	/* by the exact engine, at each instruction: `amount` is the total, and of each frame but those `by_samples` its own */
	uint64_t sampled; /* with it: what the samples stand for */
	double lost;	/* share of the recording's samples that is missing in it: which ones, nobody knows */
};

/* Each event is a sample, and none is lost: no share is by chance. */
static inline bool stacks_census(const struct stacks_column *c)
{
	return c->asked.every && c->samples && c->samples == c->amount && c->lost <= 0;
}

/* The exact engine's at a fixed distance, each the same: a loop that is in step with them makes shares wrong by any amount. */
static inline bool stacks_in_step(const struct stacks_column *c)
{
	return c->asked.repeats && !c->asked.random && c->asked.period > 1;
}

/* What its samples stand for, where `squares` belongs to it. */
static inline uint64_t stacks_sampled(const struct stacks_column *c)
{
	return c->counted ? c->sampled : c->amount;
}

struct stacks {
	struct words names;
	struct set frame_set, module_set, node_set, task_set, row_set, trace_set; /* private: the macros below */
	struct stacks_column *column;
	uint32_t columns;
	struct moments moments;
	bool *by_samples; /* where columns are counted: per frame, whether its own amounts are by samples all the same; else NULL */
	uint32_t main; /* name: the module of the program with the most samples; 0: not known */
};

static inline const struct stacks_frame *stacks_frames(const struct stacks *s, size_t *n)
{
	*n = s->frame_set.n;
	return s->frame_set.item;
}

static inline const struct stacks_node *stacks_nodes(const struct stacks *s, size_t *n)
{
	*n = s->node_set.n;
	return s->node_set.item;
}

static inline const struct stacks_task *stacks_tasks(const struct stacks *s, size_t *n)
{
	*n = s->task_set.n;
	return s->task_set.item;
}

static inline const struct stacks_row *stacks_rows(const struct stacks *s, size_t *n)
{
	*n = s->row_set.n;
	return s->row_set.item;
}

static inline const char *stacks_name(const struct stacks *s, uint32_t number)
{
	return words_at(&s->names, number);
}

/* The build of a module by its name, where it is the only one; else "". */
const char *stacks_build_id(const struct stacks *s, uint32_t module);
/* The module by its name; NULL: there is none. Valid until one is added. */
const struct stacks_module *stacks_module(const struct stacks *s, uint32_t name);

/* With the root, and without columns. NULL when out of memory. */
struct stacks *stacks_new(struct tare_error *err);
void stacks_free(struct stacks *s);

/*
 * Each adds what is not there yet and returns its number, or SET_NONE when out of memory. Columns
 * are always new.
 */
uint32_t stacks_add_name(struct stacks *s, const char *name);
uint32_t stacks_add_frame(struct stacks *s, const struct stacks_frame *frame);
/* Which build of a module ran, "" where that is not known; to be called for each build of it. */
uint32_t stacks_add_module(struct stacks *s, uint32_t name, const char *build_id);
/* Where the file of the module that stacks_add_module() returned is loaded; to be called for each build of it. */
void stacks_place_module(struct stacks *s, uint32_t number, uint64_t address, uint64_t size, uint64_t offset, uint64_t base);
uint32_t stacks_add_node(struct stacks *s, uint32_t parent, uint32_t frame);
uint32_t stacks_add_task(struct stacks *s, uint32_t pid, uint32_t tid, uint32_t comm);
uint32_t stacks_add_task_of(struct stacks *s, const struct stacks_task *task);
uint32_t stacks_add_trace(struct stacks *s, const struct stacks_trace *trace);
uint32_t stacks_add_column(struct stacks *s, const char *name, const char *unit);

/* The values of a trace in the order in which they were added; how many, STACKS_TRACE_MOST at most. */
size_t stacks_trace_values(const struct stacks *s, uint32_t trace, const struct stacks_trace *value[STACKS_TRACE_MOST]);

/*
 * Tasks of one thread are several where its name changed, as exec does: per task the number of its thread, in the order of their
 * first tasks, into `of` (as many as there are tasks). How many threads; SIZE_MAX when out of memory.
 */
size_t stacks_threads(const struct stacks *s, uint32_t *of);

/* Count samples at a stack. `squares`: the sum of the squares of their amounts. */
int stacks_count(struct stacks *s, const struct stacks_row *row, double squares,
		 struct tare_error *err);

/*
 * Per node the column's amounts that ended there, and those that ended there or below it (either
 * may be NULL): arrays of as many as there are nodes, the caller's to fill. task SET_NONE: of all.
 */
void stacks_sums(const struct stacks *s, uint32_t column, uint32_t task, uint64_t *self,
		 uint64_t *total);

#endif

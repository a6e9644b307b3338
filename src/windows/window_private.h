/* SPDX-License-Identifier: MIT */
/*
 * The two halves of window_sample: records are kept while older ones may come (window_records.c),
 * then windows are made of them (window_build.c) and they are dropped. Memory depends on the number
 * of records in HELD_NS, and on the number of threads.
 */
#ifndef WINDOWS_WINDOW_PRIVATE_H
#define WINDOWS_WINDOW_PRIVATE_H

#include "windows/window.h"

enum { NAME_SIZE = 16 };

/* round() guarantees the order of all records before the previous round; this is a margin. */
#define HELD_NS UINT64_C(1000000000)

/* Ordered at equal times: a thread is there before it counts. */
enum kind { IS_FORK, IS_COMM, IS_WINDOW };

struct entry {
	uint64_t time, order;
	uint32_t pid, tid, cpu;
	uint32_t parent; /* IS_FORK: the thread with the name that it begins with */
	enum kind kind;
	unsigned strand;      /* IS_WINDOW: in which place its group was opened */
	char name[NAME_SIZE]; /* IS_COMM */
	uint64_t value[];     /* IS_WINDOW: per event */
};

/* A kernel event id: the event, and the place in which the group was opened. */
struct id_row {
	uint64_t id;
	unsigned event, strand;
};

/* Windows as far as they are made. */
struct build {
	const struct window_plan *plan;
	struct window_sink *to;
	const uint64_t
	    *started_ns; /* earlier threads count since then; known before the first window */
	size_t n;        /* events */
	size_t strands;
	bool inherit; /* the events count children and new threads too */
	struct window_thread_state *thread;
	size_t threads, thread_room;
	size_t *slot; /* by tid: the current one's index + 1 */
	size_t slots;
	uint64_t *value; /* of the window that is made */
	uint64_t *sum;   /* of all windows */
};

struct collect {
	struct sample_sink sink;
	struct build build;
	struct id_row *ids; /* by id */
	size_t n_ids;
	unsigned lost_words; /* 1: each value is followed by a count of losses */
	unsigned char *entry; /* entry_bytes() each */
	size_t entries, entry_room;
	size_t left; /* entries that were too young, the last time */
	size_t seen; /* entries that `newest` is of */
	uint64_t order, newest, newest_at_round;
};

/* A sink that makes windows of records. `o` is what sample_run() fills meanwhile. */
void collect_open(struct collect *c, const struct window_plan *plan, struct window_sink *to,
		  const struct sample_outcome *o);
/* Of so many events, in so many places. Called by the sink's begin(). */
int collect_begin(struct collect *c, size_t n, size_t strands, bool inherit,
		  struct tare_error *err);
/* A new entry, all 0, for the caller to fill. NULL: out of memory. Valid until the next one. */
struct entry *collect_add(struct collect *c, struct tare_error *err);
/* After all records: makes the last windows, and the rest that is in no window. */
int collect_end(struct collect *c, const struct sample_outcome *o, struct window_end *end,
		struct tare_error *err);
void collect_free(struct collect *c);

/* Entries come in order of time. */
int build_open(struct build *b, struct tare_error *err);
int build_add(struct build *b, const struct entry *e, struct tare_error *err);
int build_end(struct build *b, const struct sample_outcome *o, struct window_end *end,
	      struct tare_error *err);
void build_free(struct build *b);

#endif

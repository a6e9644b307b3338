/* SPDX-License-Identifier: MIT */
/*
 * The two halves of window_sample. Records are kept while older ones may still come
 * (window_records.c), then they are converted to windows (window_build.c) and dropped. Memory
 * depends on the number of records in HELD_NS, and on the number of threads.
 */
#ifndef WINDOWS_WINDOW_PRIVATE_H
#define WINDOWS_WINDOW_PRIVATE_H

#include "windows/window.h"

enum { NAME_SIZE = 16 };

/* round() guarantees the order of all records before the previous round; this is a margin. */
#define HELD_NS UINT64_C(1000000000)

/* Order at equal times: a thread appears before it counts. */
enum kind { IS_FORK, IS_COMM, IS_WINDOW };

struct entry {
	uint64_t time, order;
	uint32_t pid, tid, cpu;
	uint32_t parent; /* IS_FORK: the thread that it inherits its name from */
	enum kind kind;
	unsigned strand;      /* IS_WINDOW: the index of the place in which its group was opened */
	char name[NAME_SIZE]; /* IS_COMM */
	uint64_t value[];     /* IS_WINDOW: per event */
};

/* A kernel event id: the event, and the place in which the group was opened. */
struct id_row {
	uint64_t id;
	unsigned event, strand;
};

/* The state of the conversion to windows. */
struct build {
	const struct window_plan *plan;
	struct window_sink *to;
	const uint64_t
		/* threads that existed before count since then; known before the first window */
		*started_ns;
	size_t n; /* number of events */
	size_t strands;
	bool inherit; /* the events count children and new threads too */
	struct window_thread_state *thread;
	size_t threads, thread_room;
	size_t *slot; /* by tid: index + 1 of the current thread */
	size_t slots;
	uint64_t *value; /* of the current window */
	uint64_t *sum;   /* of all windows */
};

struct collect {
	struct sample_sink sink;
	struct build build;
	struct id_row *ids; /* by id */
	size_t n_ids;
	unsigned lost_words;  /* 1: each value is followed by a count of losses */
	unsigned char *entry; /* entry_bytes() each */
	size_t entries, entry_room;
	size_t left; /* entries that were too young at the last pass */
	size_t seen; /* number of entries included in `newest` */
	uint64_t order, newest, newest_at_round;
};

/* A sink that converts records to windows. sample_run() fills `o` meanwhile. */
void collect_open(struct collect *c, const struct window_plan *plan, struct window_sink *to,
		  const struct sample_outcome *o);
/* For this many events and places. Called by the sink's begin(). */
int collect_begin(struct collect *c, size_t n, size_t strands, bool inherit,
		  struct tare_error *err);
/* A new zeroed entry for the caller to fill. Valid until the next call. NULL: out of memory. */
struct entry *collect_add(struct collect *c, struct tare_error *err);
/* After all records: produces the last windows, and the counts outside all windows. */
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

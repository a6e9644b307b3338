/* SPDX-License-Identifier: MIT */
/* What the two halves of window_sample share: records kept (window_records.c), windows made of them (window_build.c). */
#ifndef WINDOWS_WINDOW_PRIVATE_H
#define WINDOWS_WINDOW_PRIVATE_H

#include "windows/window.h"

enum { NAME_SIZE = 16 };

/* Ordered at equal times: a thread is there before it counts. */
enum kind { IS_FORK, IS_COMM, IS_WINDOW };

struct entry {
	uint64_t time, order;
	uint32_t pid, tid, cpu;
	enum kind kind;
	unsigned strand; /* in which place its group was opened */
	size_t at;	 /* of its values, or of its name, in the pools */
};

/* An id of the kernel's: which event, in which of the places that the group was opened in. */
struct id_row {
	uint64_t id;
	unsigned event, strand;
};

struct collect {
	struct sample_sink sink;
	const struct window_plan *plan;
	size_t n; /* events */
	size_t strands;
	struct id_row *ids; /* by id */
	size_t n_ids;
	unsigned lost_words; /* 1: each value is followed by a count of losses */
	bool inherit;	     /* the events count children and new threads too */
	struct entry *entry;
	size_t entries, entry_room;
	uint64_t *value;
	size_t values, value_room;
	char *name;
	size_t names, name_room;
};

/* A sink that keeps what windows are made of. */
void collect_open(struct collect *c, const struct window_plan *plan);
void collect_free(struct collect *c);
/* All records are there: told thread by thread and window by window, in order of time. */
int windows_build(struct collect *c, struct window_sink *to, const struct sample_outcome *o, struct window_end *end,
		  struct tare_error *err);

/* Room for `need` of `each` bytes, doubled as it grows; NULL: out of memory, and p is still there. */
void *window_grown(void *p, size_t need, size_t *room, size_t each);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The samples of a profile one by one, any number of them: added in the order of the recording,
 * returned by task and, within a task, by time. Up to MOMENTS_HELD are in memory, the others in an
 * unlinked temporary file.
 */
#ifndef PROFILE_MOMENTS_H
#define PROFILE_MOMENTS_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum { MOMENTS_HELD = 1 << 17 }; /* 5 MiB */

/* One sample; the numbers are indices into a `struct stacks`. */
struct moment {
	uint64_t time_ns, amount;
	uint32_t node, task, column, cpu; /* cpu UINT32_MAX: not recorded */
	uint32_t trace, zero;
};

struct moments {
	uint64_t n;
	struct moment *held;      /* in memory: the latest ones */
	size_t n_held, room, run; /* run: how many `held` collects before they are written */
	uint64_t put;             /* written to the file, in whole runs */
	/* by task, owned by the caller: moments_each() orders by thread; NULL: by task */
	const uint32_t *thread;
	int fd; /* when put > 0 */
};

/* Zero-initialised, it is empty. */
int moments_add(struct moments *m, const struct moment *one, struct tare_error *err);
/* Renumbers all moments: node -> nodes[node], task -> tasks[task], column -> columns[column]. */
int moments_renumber(struct moments *m, const uint32_t *nodes, const uint32_t *tasks,
		     const uint32_t *columns, struct tare_error *err);
/*
 * Moments of the same task (or thread) and time come in the order they were added. Stops when
 * `take` returns non-zero, and returns that.
 */
int moments_each(struct moments *m, int take(void *with, const struct moment *one), void *with,
		 struct tare_error *err);
void moments_free(struct moments *m);

#endif

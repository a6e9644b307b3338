/* SPDX-License-Identifier: MIT */
/*
 * The samples of a profile one by one, as many as a recording has: added in its order, given back task by task in order of
 * time. Some are held in memory (MOMENTS_HELD), the others lie in a file that has no name.
 */
#ifndef PROFILE_MOMENTS_H
#define PROFILE_MOMENTS_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum { MOMENTS_HELD = 1 << 17 }; /* 5 MiB */

/* One sample; numbers are those of a `struct stacks`. */
struct moment {
	uint64_t time_ns, amount;
	uint32_t node, task, column, cpu; /* cpu UINT32_MAX: not recorded */
	uint32_t trace, zero;
};

struct moments {
	uint64_t n;
	struct moment *held; /* the last ones */
	size_t n_held, room, run; /* run: as many as `held` holds before they are put away */
	uint64_t put;	     /* into the file, in whole runs */
	const uint32_t *thread; /* by task, the caller's: moments_each() goes by threads; NULL: by tasks */
	int fd;		     /* when put > 0 */
};

/* Zeroed, it is empty. */
int moments_add(struct moments *m, const struct moment *one, struct tare_error *err);
/* node -> nodes[node], task -> tasks[task], column -> columns[column], of all. */
int moments_renumber(struct moments *m, const uint32_t *nodes, const uint32_t *tasks, const uint32_t *columns, struct tare_error *err);
/* Those of equal task (or thread) and time come in the order in which they were added. `take` returning non-zero ends it with that. */
int moments_each(struct moments *m, int take(void *with, const struct moment *one), void *with, struct tare_error *err);
void moments_free(struct moments *m);

#endif

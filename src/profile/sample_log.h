/* SPDX-License-Identifier: MIT */
/*
 * The samples of a profile one by one, any number of them: added in the order of the recording,
 * returned by task and, within a task, by time. Up to SAMPLE_LOG_HELD are in memory, the others in
 * an unlinked temporary file.
 */
#ifndef PROFILE_SAMPLE_LOG_H
#define PROFILE_SAMPLE_LOG_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum { SAMPLE_LOG_HELD = 1 << 17 }; /* 5 MiB */

/* One sample; the numbers are indices into a `struct call_tree`. */
struct logged_sample {
	uint64_t time_ns, amount;
	uint32_t node, task, column, cpu; /* cpu UINT32_MAX: not recorded */
	uint32_t trace, zero;
};

struct sample_log {
	uint64_t n;
	struct logged_sample *held; /* in memory: the latest ones */
	size_t n_held, room, run;   /* run: how many `held` collects before they are written */
	uint64_t put;               /* written to the file, in whole runs */
	/* by task, owned by the caller: sample_log_each() orders by thread; NULL: by task */
	const uint32_t *thread;
	int fd; /* when put > 0 */
};

/* Zero-initialised, it is empty. */
int sample_log_add(struct sample_log *m, const struct logged_sample *one, struct tare_error *err);
/* Renumbers all moments: node -> nodes[node], task -> tasks[task], column -> columns[column]. */
int sample_log_renumber(struct sample_log *m, const uint32_t *nodes, const uint32_t *tasks,
			const uint32_t *columns, struct tare_error *err);
/*
 * Moments of the same task (or thread) and time come in the order they were added. Stops when
 * `take` returns non-zero, and returns that.
 */
int sample_log_each(struct sample_log *m, int take(void *with, const struct logged_sample *one),
		    void *with, struct tare_error *err);
void sample_log_free(struct sample_log *m);

#endif

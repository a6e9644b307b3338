/* SPDX-License-Identifier: MIT */
/*
 * Synthesizes records for what existed before recording began, as the kernel would have written
 * them: task names, threads, mappings, the kernel's own code and its modules. Read from /proc,
 * whose files change and vanish during reading; whatever has vanished is left out.
 */
#ifndef SAMPLE_SAMPLE_STATE_H
#define SAMPLE_SAMPLE_STATE_H

#include <stdbool.h>
#include <sys/types.h>
#include "source/ring.h"

struct sample_state {
	ring_take *take;
	void *with;
	uint64_t sample_type; /* of the first event: the trailer of each record */
	bool data;            /* include mappings of data */
};

/* 0 also if the process has ended. `root` as in machine_root(). */
int sample_state_process(const struct sample_state *s, const char *root, pid_t pid,
			 struct tare_error *err);
int sample_state_all(const struct sample_state *s, const char *root, struct tare_error *err);
/*
 * Writes nothing if the user may not see kernel addresses (kernel.kptr_restrict). *known says
 * whether.
 */
int sample_state_kernel(const struct sample_state *s, const char *root, bool *known,
			struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What was there before recording began, as the records that the kernel would have written: names of tasks, their
 * threads, their mappings; the kernel's own code and its modules. Out of /proc, whose files change and vanish
 * while they are read: what is gone is left out.
 */
#ifndef SAMPLE_SAMPLE_STATE_H
#define SAMPLE_SAMPLE_STATE_H

#include <stdbool.h>
#include <sys/types.h>
#include "source/ring.h"

struct sample_state {
	ring_take *take;
	void *with;
	uint64_t sample_type; /* of the first event: what closes each record */
	bool data;	      /* mappings of data too */
};

/* 0 also when the process has ended. `root` as machine_root(). */
int sample_state_process(const struct sample_state *s, const char *root, pid_t pid, struct tare_error *err);
int sample_state_all(const struct sample_state *s, const char *root, struct tare_error *err);
/* Nothing where this user may not see the kernel's addresses (kernel.kptr_restrict). *known says whether. */
int sample_state_kernel(const struct sample_state *s, const char *root, bool *known, struct tare_error *err);

#endif

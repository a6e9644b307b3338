/* SPDX-License-Identifier: MIT */
/* For host.c: the environment of a measurement, read at once or observed during the attempts. */
#ifndef HOST_HOST_SURROUND_H
#define HOST_HOST_SURROUND_H

#include "launch/system_noise.h"
#include "host/host.h"

/* Reads some files under `root`; `cpu` from machine_cpu(). */
void host_surround(struct host *h, const char *root, const char *cpu);

struct host_watch {
	int sibling; /* -1: none */
	bool known;
	unsigned long long all, idle;
	struct system_noise before;
};

/*
 * On this machine, between the two calls: how busy the sibling thread was, and the number of SMIs.
 */
void host_watch_begin(struct host_watch *w);
void host_watch_end(struct host_watch *w, struct host *h);

/* Faults that only counting reveals (host/faults.h): takes under 10 ms. Only for this machine. */
void host_try_faults(struct host *h);

#endif

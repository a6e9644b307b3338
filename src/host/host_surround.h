/* SPDX-License-Identifier: MIT */
/* For host.c: what surrounds a measurement, read at once or watched while the rest is tried. */
#ifndef HOST_HOST_SURROUND_H
#define HOST_HOST_SURROUND_H

#include "launch/around.h"
#include "host/host.h"

/* Some files under `root`; `cpu` as machine_cpu() gives it. */
void host_surround(struct host *h, const char *root, const char *cpu);

struct host_watch {
	int sibling; /* -1: none */
	bool known;
	unsigned long long all, idle;
	struct around before;
};

/* Of this machine: how busy the sibling thread was, and how many SMIs came, between the two. */
void host_watch_begin(struct host_watch *w);
void host_watch_end(struct host_watch *w, struct host *h);

/* Faults that only counting shows (host/faults.h): under 10 ms. Only this machine. */
void host_try_faults(struct host *h);

#endif

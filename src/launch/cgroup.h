/* SPDX-License-Identifier: MIT */
/* Opens a control group by name, for perf_event_open(2). */
#ifndef LAUNCH_CGROUP_H
#define LAUNCH_CGROUP_H

#include "base/error.h"

/* `name` is a path relative to the mount point (version 1: of the perf_event hierarchy). */
int cgroup_open(const char *name, struct tare_error *err);

#endif

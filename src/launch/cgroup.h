/* SPDX-License-Identifier: MIT */
/* A control group by name -> a descriptor for perf_event_open(2). */
#ifndef LAUNCH_CGROUP_H
#define LAUNCH_CGROUP_H

#include "base/error.h"

/* `name` is a path below where control groups are mounted (version 1: the perf_event hierarchy). */
int cgroup_open(const char *name, struct tare_error *err);

#endif

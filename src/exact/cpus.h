/* SPDX-License-Identifier: MIT */
/* The contents of the files that list a machine's CPUs. */
#ifndef EXACT_CPUS_H
#define EXACT_CPUS_H

#include "exact/cpu_files.h"
#include "exact/isa_model.h"

/*
 * /proc/cpuinfo, /proc/stat and /sys/devices/system/cpu/ of a machine with `cpus` CPUs of model
 * `m`, 1 to CPUS_MAX. -ENOMEM: no memory.
 */
int cpus_files(struct cpu_files *out, const struct isa_model *m, unsigned cpus);

#endif

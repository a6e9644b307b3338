/* SPDX-License-Identifier: MIT */
/* The location of each CPU: core, die, socket, memory node. */
#ifndef BASE_TOPOLOGY_H
#define BASE_TOPOLOGY_H

#include "base/cpus.h"

struct cpu_place { /* -1 if sysfs has no value */
	int cpu, core, die, socket, node;
};

/*
 * One entry per CPU number up to the highest of `cpus`; owned by the caller. Reads sysfs under
 * root: a few files per CPU, so call it only if the result is needed. Source: linux
 * Documentation/admin-guide/cputopology.rst.
 */
int topology_read(const char *root, const struct cpus *cpus, struct cpu_place **out, size_t *n,
		  struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* What an event is meant to count, where that is a class of work whose number is known (data/classes.txt). */
#ifndef PMU_CLASSES_H
#define PMU_CLASSES_H

#include "arch/kernels.h"
#include "pmu/pmu.h"

/* Of an encoding on a CPU (as machine_cpu() names it): an enum work_class, or -1 where it is not known. */
int class_of(const struct encoding *e, const char *cpu);

#endif

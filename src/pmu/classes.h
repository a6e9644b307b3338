/* SPDX-License-Identifier: MIT */
/*
 * What an event is meant to count, if that is a class of operations with a known number
 * (data/classes.txt).
 */
#ifndef PMU_CLASSES_H
#define PMU_CLASSES_H

#include "arch/kernels.h"
#include "pmu/pmu.h"

/* For an encoding on a CPU (named by machine_cpu()): an enum work_class, or -1 if unknown. */
int class_of(const struct encoding *e, const char *cpu);

#endif

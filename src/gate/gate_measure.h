/* SPDX-License-Identifier: MIT */
/* Measures a benchmark under the exact engine, in a process of its own. */
#ifndef GATE_GATE_MEASURE_H
#define GATE_GATE_MEASURE_H

#include "gate/gate_git.h"

/*
 * Sets head, and why and a verdict that is an error if it failed or does not repeat; the verdict is
 * GATE_SAME otherwise. dir: where the benchmark's directory is. -EINTR: stopped by a signal.
 */
int gate_measure(struct gate_outcome *out, const struct gate_benchmark *b, const char *dir,
		 struct revision_signals *s, struct tare_error *err);

#endif

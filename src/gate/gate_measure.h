/* SPDX-License-Identifier: MIT */
/* Measures a benchmark under the exact engine, in a process of its own. */
#ifndef GATE_GATE_MEASURE_H
#define GATE_GATE_MEASURE_H

#include "gate/gate_git.h"

/*
 * -EINVAL: a limit of a benchmark is for an event that it does not measure, or a limit of all
 * benchmarks is for one that none of them measures. `name`: the file, for the message.
 */
int gate_check_limits(const struct gate_config *c, const char *name, struct tare_error *err);
/*
 * Sets head, and why and a verdict that is an error if it failed or does not repeat; the verdict is
 * GATE_SAME otherwise. dir: where the benchmark's directory is. -EINTR: stopped by a signal.
 */
int gate_measure(struct gate_outcome *out, const struct gate_benchmark *b, const char *dir,
		 struct revision_signals *s, struct tare_error *err);
/* Runs the setup of a benchmark in its directory `dir`; if it fails, the benchmark does. */
int gate_set_up(struct gate_outcome *o, const struct gate_benchmark *b, const char *dir,
		struct revision_signals *s, struct tare_error *err);
/* The item of the environment: "env=A:B". */
void gate_put_environment(struct text *items, const struct gate_benchmark *b);
/*
 * Says in o->why and o->function which function of a slower benchmark changed most. base, head:
 * absolute paths of both sides; folder: for temporary files.
 */
int gate_cause(struct gate_outcome *o, const struct gate_benchmark *b, const char *base,
	       const char *head, const char *folder, struct revision_signals *s,
	       struct tare_error *err);

#endif

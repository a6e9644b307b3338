/* SPDX-License-Identifier: MIT */
/* Sets of CPUs, in the kernel's format: "0-3,8". */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"
#include "base/text.h"

struct cpus {
	int *cpu; /* ascending, each once */
	size_t n;
};

/* Any text of the form "0-3,8"; "" is the empty set. Numbers above 65535 are refused. */
int cpus_parse(const char *text, struct cpus *out, struct tare_error *err);
bool cpus_has(const struct cpus *set, int cpu);
int cpus_copy(struct cpus *out, const struct cpus *from, struct tare_error *err);
/* out = a AND b. out may be neither a nor b. */
int cpus_and(struct cpus *out, const struct cpus *a, const struct cpus *b, struct tare_error *err);
void cpus_write(struct text *out, const struct cpus *set);
void cpus_free(struct cpus *set);

#endif

/* SPDX-License-Identifier: MIT */
/* The list of sources, for names that users and files give. */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "pmu/pmu.h"

/* The source of that name, or NULL. */
const struct source *source_find(const char *name);
extern const struct source *const sources[]; /* ends with NULL */

#endif

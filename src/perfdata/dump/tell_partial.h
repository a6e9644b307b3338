/* SPDX-License-Identifier: MIT */
/* One rule for every command that reads a recording of samples: every record that was not read or not decoded is
 * named, and the status is 1. */
#ifndef PERFDATA_DUMP_TELL_PARTIAL_H
#define PERFDATA_DUMP_TELL_PARTIAL_H

#include <stdbool.h>
#include "perfdata/perfdata.h"

/*
 * Lines on standard error: `damage` ("": none), which ended the reading early, and each type of
 * record that was not decoded, with how many and where the first one is. `spe_unread`: this command
 * does not read Arm SPE's data. True when there was a line.
 */
bool tell_partial(const char *command, const char *path, const struct perfdata *file,
		  const char *damage, bool spe_unread);

/* Lines on standard error for the processes that the exact engine did not record to their end. The status is no other one. */
void tell_uncounted(const char *command, const char *path, const struct perfdata *file);

#endif

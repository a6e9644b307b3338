/* SPDX-License-Identifier: MIT */
/*
 * The same rule for all commands that read a recording of samples: each kind of record that was not
 * read or decoded is reported, and the exit status is 1.
 */
#ifndef PERFDATA_DUMP_TELL_PARTIAL_H
#define PERFDATA_DUMP_TELL_PARTIAL_H

#include <stdbool.h>
#include "perfdata/perfdata.h"

/*
 * Reports on standard error `damage` ("": none), which ended the reading early, and each type of
 * record that was not decoded, with the number of records and the offset of the first.
 * `spe_unread`: this command does not read Arm SPE's data. True if anything was reported.
 */
bool tell_partial(const char *command, const char *path, const struct perfdata *file,
		  const char *damage, bool spe_unread);

/*
 * Reports on standard error the processes that the exact engine recorded only partly. Does not
 * change the exit status.
 */
void tell_uncounted(const char *command, const char *path, const struct perfdata *file);

#endif

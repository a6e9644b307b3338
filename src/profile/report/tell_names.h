/* SPDX-License-Identifier: MIT */
/* What outputs without a place for notes (CSV, folded stacks, exports) leave out about names: a
 * line on standard error. */
#ifndef PROFILE_REPORT_TELL_NAMES_H
#define PROFILE_REPORT_TELL_NAMES_H

#include "profile/samples.h"

/* Names the files that may not have run, so that their functions are unknown. Prints nothing where
 * there are none. */
void tell_doubted_names(const char *command, const char *path, const struct samples_unnamed *rows,
			size_t n);

#endif

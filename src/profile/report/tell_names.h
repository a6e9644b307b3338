/* SPDX-License-Identifier: MIT */
/*
 * A line on standard error about names, for outputs without room for notes (CSV, folded stacks,
 * exports).
 */
#ifndef PROFILE_REPORT_TELL_NAMES_H
#define PROFILE_REPORT_TELL_NAMES_H

#include "profile/samples.h"

/*
 * Names the files that may not be those that ran, so that their functions are unknown. Prints
 * nothing if there are none.
 */
void tell_doubted_names(const char *command, const char *path, const struct samples_unnamed *rows,
			size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* What outputs without a place for notes (CSV, folded stacks, exports) leave out about names: a
 * line on standard error. */
#ifndef CLI_TELL_NAMES_H
#define CLI_TELL_NAMES_H

#include "analyze/samples.h"

/* Names the files that may not have run, so that their functions are unknown. Prints nothing where
 * there are none. */
void tell_doubted_names(const char *command, const char *path, const struct samples_unnamed *rows,
			size_t n);

#endif

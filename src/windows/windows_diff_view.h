/* SPDX-License-Identifier: MIT */
/* Show where two runs diverge. */
#ifndef WINDOWS_WINDOWS_DIFF_VIEW_H
#define WINDOWS_WINDOWS_DIFF_VIEW_H

#include "windows/windows_diff.h"
#include "output/style.h"

void windows_diff_text(struct text *out, const struct windows_diff *d, bool exact,
		       const char *name_a, const char *name_b, const struct style *style);
/* The document tare/windows-diff/1. */
void windows_diff_json(struct text *out, const struct windows_diff *d, bool exact,
		       const char *name_a, const char *name_b);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Find the changes in a series: segments of similar windows, and which segments are the same phase.
 * Converts rows of features to segments. Has no side effects. Reads the rows in passes and keeps
 * none of them, so memory does not depend on their number.
 */
#ifndef WINDOWS_PHASES_H
#define WINDOWS_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"

enum { SEGMENTS_MOST = 128, SEGMENT_LEAST = 3 };

struct segment {
	size_t first, n; /* rows */
	unsigned phase;  /* from 0, in order of first appearance */
};

struct phases {
	struct segment segment[SEGMENTS_MOST];
	size_t segments;
	unsigned phases;
};

struct phase_rows {
	void (*get)(void *with, size_t row, double *feature);
	void *with;
	size_t n, n_features;
};

/* Keeps a change if it explains more than the noise between rows does by chance. n = 0: none. */
int phases_find_in(const struct phase_rows *rows, struct phases *out, struct tare_error *err);
/* The same for an array: feature[i * n_features + k] of row i. */
int phases_find(const double *feature, size_t n, size_t n_features, struct phases *out,
		struct tare_error *err);

#endif

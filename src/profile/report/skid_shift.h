/* SPDX-License-Identifier: MIT */
/*
 * The effect of skid on a recording that sampled one event both precisely and not (-e
 * cycles,cycles:pp): by function, the difference between the two shares. Takes a profile and the
 * head of its file.
 */
#ifndef PROFILE_REPORT_SKID_SHIFT_H
#define PROFILE_REPORT_SKID_SHIFT_H

#include "profile/samples.h"

struct skid_shift_row {
	uint32_t module, function; /* names */
	double ordinary, precise;  /* shares */
	double chance;             /* difference that sampling alone can make: 95 % */
};

struct skid_shift {
	uint32_t ordinary, precise; /* columns */
	struct skid_shift_row *row; /* those that differ by more than twice that, most first */
	size_t n, functions;        /* number of all functions */
};

/* 0; -ENOENT: no event was sampled both ways; -ENOMEM. */
int skid_shift_make(struct skid_shift *out, const struct samples *s, struct tare_error *err);
void skid_shift_free(struct skid_shift *k);

#endif

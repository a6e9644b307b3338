/* SPDX-License-Identifier: MIT */
/*
 * What skid did to a recording: one event sampled twice, precisely and not (-e cycles,cycles:pp), and by function how far the shares of
 * the two differ. Takes a profile and its file's head.
 */
#ifndef PROFILE_REPORT_SKID_SHIFT_H
#define PROFILE_REPORT_SKID_SHIFT_H

#include "profile/samples.h"

struct skid_shift_row {
	uint32_t module, function; /* names */
	double ordinary, precise;  /* shares */
	double chance;		   /* how far they would differ for having been sampled only: 95 % */
};

struct skid_shift {
	uint32_t ordinary, precise; /* columns */
	struct skid_shift_row *row; /* those that differ by more than twice the chance, most first */
	size_t n, functions;	    /* and how many there are in all */
};

/* 0; -ENOENT: no event is there both ways; -ENOMEM. */
int skid_shift_make(struct skid_shift *out, const struct samples *s, struct tare_error *err);
void skid_shift_free(struct skid_shift *k);

#endif

/* SPDX-License-Identifier: MIT */
/* Prints where two runs diverge, as text and JSON. */
#ifndef DIVERGE_DIVERGENCE_VIEW_H
#define DIVERGE_DIVERGENCE_VIEW_H

#include "diverge/divergence.h"
#include "output/style.h"

struct divergence_about {
	char *const *argv;
	const struct determinism *fixed;
};
/*
 * For an interval: ", in f (prog), g (libc.so.6): the order of the threads may be the cause"; "" if
 * unknown.
 */
void divergence_roughly(struct text *out, const struct divergence_report *r);

void divergence_text(struct text *out, const struct divergence_report *r,
		     const struct divergence_about *about, const struct style *s);
/* The cause as part of a sentence; its name in documents; whether the value came in there. For
 * two runs that diverged. */
void divergence_cause(struct text *out, const struct divergence_report *r);
const char *divergence_cause_name(const struct divergence_report *r);
bool divergence_cause_found(const struct divergence_report *r);
/* Schema tare/diverge/1. */
void divergence_json(struct text *out, const struct divergence_report *r,
		     const struct divergence_about *about);

#endif

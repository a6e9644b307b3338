/* SPDX-License-Identifier: MIT */
/* Where two runs part, for people and as JSON. */
#ifndef DIVERGE_DIVERGENCE_VIEW_H
#define DIVERGE_DIVERGENCE_VIEW_H

#include "diverge/divergence.h"
#include "output/style.h"

struct divergence_about {
	char *const *argv;
	const struct fixed *fixed;
};
/* Of an interval: ", in f (prog), g (libc.so.6): the threads' order may be it"; "" where nothing is known. */
void divergence_roughly(struct text *out, const struct divergence_report *r);

void divergence_text(struct text *out, const struct divergence_report *r, const struct divergence_about *about,
		     const struct style *s);
/* What differed, as part of a sentence; its name in documents; whether it is where the value came in. Of two runs that parted. */
void divergence_cause(struct text *out, const struct divergence_report *r);
const char *divergence_cause_name(const struct divergence_report *r);
bool divergence_cause_found(const struct divergence_report *r);
/* Schema tare/diverge/1. */
void divergence_json(struct text *out, const struct divergence_report *r, const struct divergence_about *about);

#endif

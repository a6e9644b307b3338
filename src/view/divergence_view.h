/* SPDX-License-Identifier: MIT */
/* Where two runs part, for people and as JSON. */
#ifndef VIEW_DIVERGENCE_VIEW_H
#define VIEW_DIVERGENCE_VIEW_H

#include "analyze/divergence.h"
#include "view/style.h"

struct divergence_about {
	char *const *argv;
	const struct fixed *fixed;
};

void divergence_text(struct text *out, const struct divergence_report *r, const struct divergence_about *about,
		     const struct style *s);
/* Schema tare/diverge/1. */
void divergence_json(struct text *out, const struct divergence_report *r, const struct divergence_about *about);

#endif

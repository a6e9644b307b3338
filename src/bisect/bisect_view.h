/* SPDX-License-Identifier: MIT */
/* Shows the commit that was found: for people, as JSON (docs/schema/tare-bisect-1.json), ... */
#ifndef BISECT_BISECT_VIEW_H
#define BISECT_BISECT_VIEW_H

#include "bisect/bisect_run.h"
#include "output/style.h"

struct bisect_shown {
	const struct bisect_state *state;
	const struct bisect_result *result;
};

/* "1a2b3c4d5e6f made it slower: +80,000 instructions (+1.9 %, exact), in parse" */
void bisect_headline(struct text *out, const struct bisect_shown *s, const struct style *style);
void bisect_show_text(struct text *out, const struct bisect_shown *s, const struct style *style);
void bisect_show_json(struct text *out, const struct bisect_shown *s);
void bisect_markdown(struct text *out, const struct bisect_shown *s);

#endif

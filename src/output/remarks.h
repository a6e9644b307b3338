/* SPDX-License-Identifier: MIT */
/* What is to be known of numbers beside them, a sentence each: one list, which the text, the JSON and with it the page show. Zero-initialise. */
#ifndef OUTPUT_REMARKS_H
#define OUTPUT_REMARKS_H

#include <stddef.h>
#include "output/json.h"
#include "output/style.h"

struct remark {
	struct text words; /* names in it are escaped (output/escape.h) */
	enum ink ink;	   /* CAREFUL and BAD: it makes numbers doubtful */
};

struct remarks {
	struct remark *remark;
	size_t n;
	struct text none; /* what remarks_add() gives when out of memory: failed */
};

/* A new one, to write its words to; valid until the next. */
struct text *remarks_add(struct remarks *r, enum ink ink);
/* A line for each, behind `indent` blanks. */
void remarks_text(struct text *out, const struct remarks *r, int indent, const struct style *style);
/* "remarks": [{"text": "...", "doubtful": true}] */
void remarks_json(struct json *j, const struct remarks *r);
void remarks_free(struct remarks *r);

/* How counts in them are written where there is no style: 1,234. */
extern const struct style remarks_style;

#endif

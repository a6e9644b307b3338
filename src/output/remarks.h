/* SPDX-License-Identifier: MIT */
/*
 * Remarks on the numbers of a result, one sentence each, shown in text, in JSON and so on the page.
 * Zero-initialise.
 */
#ifndef OUTPUT_REMARKS_H
#define OUTPUT_REMARKS_H

#include <stddef.h>
#include "output/json.h"
#include "output/style.h"

struct remark {
	struct text words; /* names in it are escaped (output/escape.h) */
	enum ink ink;      /* CAREFUL and BAD: it makes numbers doubtful */
};

struct remarks {
	struct remark *remark;
	size_t n;
	struct text none; /* returned by remarks_add() when out of memory: failed */
};

/* Add a remark, and write its text to the result; valid until the next call. */
struct text *remarks_add(struct remarks *r, enum ink ink);
/* One line each, indented by `indent` blanks. */
void remarks_text(struct text *out, const struct remarks *r, int indent, const struct style *style);
/* "remarks": [{"text": "...", "doubtful": true}] */
void remarks_json(struct json *j, const struct remarks *r);
void remarks_free(struct remarks *r);

/* The style of counts in remarks where there is no other style: 1,234. */
extern const struct style remarks_style;

#endif

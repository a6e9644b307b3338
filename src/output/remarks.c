/* SPDX-License-Identifier: MIT */
/* Remarks on numbers, collected until they are shown. */
#include <stdlib.h>
#include "base/array.h"
#include "output/remarks.h"

const struct style remarks_style = { .thousands = true };

struct text *remarks_add(struct remarks *r, enum ink ink)
{
	if (!array_one_more(&r->remark, r->n, sizeof(*r->remark))) {
		r->none.failed = true;
		return &r->none;
	}
	r->remark[r->n] = (struct remark){ .ink = ink };
	return &r->remark[r->n++].words;
}

/* When out of memory, the whole output fails. */
static bool failed(const struct remarks *r)
{
	bool any = r->none.failed;

	for (size_t i = 0; i < r->n; i++)
		any |= r->remark[i].words.failed;
	return any;
}

void remarks_text(struct text *out, const struct remarks *r, int indent, const struct style *style)
{
	out->failed |= failed(r);
	for (size_t i = 0; i < r->n; i++)
		text_add(out, "%*s%s%s%s\n", indent, "", ink_on(style, r->remark[i].ink),
			 r->remark[i].words.s ? r->remark[i].words.s : "", ink_off(style));
}

void remarks_json(struct json *j, const struct remarks *r)
{
	j->out.failed |= failed(r);
	json_array(j, "remarks");
	for (size_t i = 0; i < r->n; i++) {
		json_object(j, NULL);
		json_string(j, "text", r->remark[i].words.s);
		json_bool(j, "doubtful",
			  r->remark[i].ink == INK_CAREFUL || r->remark[i].ink == INK_BAD);
		json_end(j);
	}
	json_end(j);
}

void remarks_free(struct remarks *r)
{
	for (size_t i = 0; i < r->n; i++)
		text_free(&r->remark[i].words);
	free(r->remark);
	*r = (struct remarks){ 0 };
}

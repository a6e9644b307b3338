/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "launch/determinism_json.h"
#include "output/escape.h"

static void put_reason(struct json *j, unsigned item, const char *reason)
{
	json_object(j, NULL);
	json_string(j, "item", determinism_rows[item].name);
	json_string(j, "reason", reason);
	json_end(j);
}

/* Names of variables kept with ENV; null: all of the caller's. */
static void put_kept(struct json *j, const struct determinism *f)
{
	char name[FIXED_KEPT_BYTES];

	if (!(determinism_had(f) & FIXED(ENV))) {
		json_null(j, "kept_variables");
		return;
	}
	json_array(j, "kept_variables");
	json_string(j, NULL, "PATH");
	json_string(j, NULL, "HOME");
	for (const char *p = f->kept; *p; p += strcspn(p, ":"), p += *p == ':') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, ":"), p);
		json_string(j, NULL, name);
	}
	json_end(j);
}

void determinism_json(struct json *j, const struct determinism *f)
{
	json_array(j, "fixed");
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (determinism_had(f) & 1u << i)
			json_string(j, NULL, determinism_rows[i].name);
	json_end(j);
	json_array(j, "fixed_in_part");
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (determinism_partly(f) & 1u << i)
			put_reason(j, i, determinism_leaves(f, i));
	json_end(j);
	json_array(j, "not_fixed");
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (determinism_open(f, i))
			put_reason(j, i, determinism_open(f, i));
	json_end(j);
	json_string(j, "isa", f && f->isa_model[0] ? f->isa_model : NULL);
	if (determinism_had(f) & FIXED(CPUS))
		json_uint(j, "cpus", f->cpus);
	else
		json_null(j, "cpus");
	json_string(j, "clock", f && f->clock[0] ? f->clock : NULL);
	json_string(j, "without_rights", f && f->stripped[0] ? f->stripped : NULL);
	put_kept(j, f);
}

bool determinism_remark_shown(struct text *out, const struct determinism *f, unsigned i)
{
	struct text raw = { 0 };
	bool is = determinism_remark(&raw, f, i);

	if (raw.s)
		escape_source(out, raw.s);
	out->failed |= raw.failed;
	text_free(&raw);
	return is;
}

void determinism_remarks_text(struct text *out, const struct determinism *f)
{
	struct text words = { 0 };

	for (unsigned i = 0; i < FIXED_REMARKS; i++) {
		if (!(determinism_partly(f) & 1u << i) && determinism_remark_shown(&words, f, i) &&
		    !words.failed)
			text_add(out, " %s.\n", words.s);
		text_free(&words);
	}
}

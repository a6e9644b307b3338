/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include "launch/determinism_json.h"
#include "launch/determinism_warn.h"

void determinism_warn_missed(const struct command *self, const struct determinism *f)
{
	struct text words = { 0 };

	for (unsigned i = 0; i < FIXED_REMARKS; i++) {
		if (!(determinism_partly(f) & 1u << i) && determinism_remark_shown(&words, f, i) &&
		    !words.failed)
			fprintf(stderr, "tare %s: %c%s\n", self->name,
				tolower((unsigned char)words.s[0]), words.s + 1);
		text_free(&words);
	}
}

void determinism_warn_had(const struct command *self, const struct determinism *f)
{
	struct text words = { 0 };

	determinism_names_had(&words, f);
	fprintf(stderr, "tare %s: fixed: %s\n", self->name, words.s ? words.s : "");
	text_free(&words);
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (determinism_partly(f) & 1u << i)
			fprintf(stderr, "tare %s: fixed in part: %s: %s\n", self->name,
				determinism_rows[i].name, determinism_leaves(f, i));
}

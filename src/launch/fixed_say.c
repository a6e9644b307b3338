/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include "launch/fixed_say.h"

void fixed_say_missed(const struct command *self, const struct fixed *f)
{
	struct text words = { 0 };

	for (unsigned i = 0; i < FIXED_REMARKS; i++) {
		if (!(fixed_partly(f) & 1u << i) && fixed_remark(&words, f, i) && !words.failed)
			fprintf(stderr, "tare %s: %c%s\n", self->name,
				tolower((unsigned char)words.s[0]), words.s + 1);
		text_free(&words);
	}
}

void fixed_say_had(const struct command *self, const struct fixed *f)
{
	struct text words = { 0 };

	fixed_names_had(&words, f);
	fprintf(stderr, "tare %s: fixed: %s\n", self->name, words.s ? words.s : "");
	text_free(&words);
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (fixed_partly(f) & 1u << i)
			fprintf(stderr, "tare %s: fixed in part: %s: %s\n", self->name,
				fixed_rows[i].name, fixed_rows[i].leaves);
}

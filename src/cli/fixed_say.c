/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "cli/fixed_say.h"

void fixed_say_missed(const struct command *self, const struct fixed *f)
{
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (f->missed & 1u << i)
			fprintf(stderr, "tare %s: not fixed: %s: %s\n", self->name, fixed_rows[i].name, f->why[i]);
}

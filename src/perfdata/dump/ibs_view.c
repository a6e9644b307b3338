/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include "perfdata/dump/precise_view.h"

static void field(struct text *out, const struct ibs *s, const struct ibs_field *f)
{
	uint64_t v = ibs_field_value(s, f);
	const char *words = f->words ? f->words(s, v) : NULL;

	if (f->valid && !f->valid(s))
		return;
	if (words && !strcmp(f->name, "L1TlbPgSz"))
		text_add(out, " %s=%s", f->name, words);
	else if (words)
		text_add(out, " %s=%" PRIu64 "(%s)", f->name, v, words);
	else
		text_add(out, " %s=%" PRIu64, f->name, v);
}

void ibs_view(struct text *out, const struct ibs *s)
{
	const struct ibs_field *fields = s->kind == IBS_FETCH ? ibs_fetch_fields : ibs_op_fields;
	const char *const *names = s->kind == IBS_FETCH ? ibs_fetch_registers : ibs_op_registers;

	if (!ibs_valid(s))
		text_add(out, "    no sample: the valid and enable bits are not both set\n");
	for (unsigned reg = 0; reg < IBS_REGISTERS; reg++) {
		if (!ibs_register_shown(s, reg))
			continue;
		text_add(out, "    %-14s %016" PRIx64, names[reg], s->reg[reg]);
		for (const struct ibs_field *f = fields; f->name; f++)
			if (f->reg == reg)
				field(out, s, f);
		text_add(out, "\n");
	}
}

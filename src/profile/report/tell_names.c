/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "profile/report/tell_names.h"
#include "output/escape.h"

void tell_doubted_names(const char *command, const char *path, const struct samples_unnamed *rows,
			size_t n)
{
	const struct samples_unnamed *first = NULL;
	struct text out = { 0 };
	size_t others = 0;

	for (size_t i = 0; i < n; i++) {
		others += rows[i].doubted && first;
		first = rows[i].doubted && !first ? &rows[i] : first;
	}
	if (!first)
		return;
	escape(&out, path, strlen(path));
	text_add(&out, ": functions of ");
	escape(&out, first->module, strlen(first->module));
	if (others)
		text_add(&out, " and %zu other file%s", others, others == 1 ? "" : "s");
	text_add(&out, " are unknown: %s; %s", first->why, first->remedy);
	if (!out.failed)
		fprintf(stderr, "tare %s: note: %s\n", command, out.s);
	text_free(&out);
}

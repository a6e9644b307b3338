/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "output/csv.h"
#include "output/escape.h"

static bool is_number(const char *s)
{
	char *end;

	strtod(s, &end);
	return end != s && !*end;
}

void csv_safe(struct text *out, const char *s)
{
	if (*s && strchr("=+-@", *s) && !is_number(s))
		text_put(out, "'", 1);
	escape_cell(out, s);
}

void csv_cell(struct text *out, const char *name, const char *separator)
{
	struct text safe = { 0 };
	const char *s;

	csv_safe(&safe, name ? name : "");
	out->failed |= safe.failed;
	s = safe.s ? safe.s : "";
	/* spreadsheets may split at a semicolon, too: the next part could be a formula */
	if (!strpbrk(s, "\"\r\n;") && !(*separator && strstr(s, separator))) {
		text_put(out, s, strlen(s));
	} else {
		text_put(out, "\"", 1);
		for (; *s; s++)
			text_put(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
		text_put(out, "\"", 1);
	}
	text_free(&safe);
}

void csv_field(struct text *out, const char *s, char after)
{
	csv_cell(out, s, ",");
	text_put(out, &after, 1);
}

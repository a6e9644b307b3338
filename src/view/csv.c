/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "view/csv.h"

void csv_field(struct text *out, const char *s, char after)
{
	s = s ? s : "";
	if (!strpbrk(s, ",\"\r\n")) {
		text_put(out, s, strlen(s));
	} else {
		text_put(out, "\"", 1);
		for (; *s; s++)
			text_put(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
		text_put(out, "\"", 1);
	}
	text_put(out, &after, 1);
}

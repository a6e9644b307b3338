/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "pmu/table.h"

const char *embedded_text(const char *name)
{
	for (const struct embedded *e = embedded; e->name; e++)
		if (!strcmp(e->name, name))
			return e->text;
	return NULL;
}

size_t table_next(const char **p, unsigned *line, struct column *out, size_t columns)
{
	while (**p) {
		const char *s = *p, *end = s + strcspn(s, "\n");
		size_t n = 0;

		*p = end + (*end == '\n');
		++*line;
		s += strspn(s, " \t\r");
		if (*s == '#')
			continue;
		while (s < end && n < columns) {
			size_t len = strcspn(s, n + 1 == columns ? "\r\n" : " \t\r\n");

			out[n++] = (struct column){ s, len };
			s += len + strspn(s + len, " \t\r");
		}
		if (n)
			return n;
	}
	return 0;
}

void column_copy(const struct column *c, char *to, size_t room)
{
	size_t n = c->n < room ? c->n : room - 1;

	memcpy(to, c->s, n);
	to[n] = '\0';
}

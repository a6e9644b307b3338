/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "output/escape.h"
#include "output/markup.h"

/*
 * Every punctuation character that can mean something becomes a character reference, which is only
 * text, or (for readers of the source) an escaped underscore. Source: GitHub Flavored Markdown
 * Spec, 6.1, "Backslash escapes", 6.2, "Entity and numeric character references".
 */
void markup_markdown(struct text *out, const char *s)
{
	struct text safe = { 0 };

	escape(&safe, s, strlen(s));
	for (const char *p = safe.s; p && *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		    (c >= 'A' && c <= 'Z') || strchr(" .,:;()%+-?=", c))
			text_put(out, p, 1);
		else {
			if (c == '_')
				text_add(out, "\\_");
			else
				text_add(out, "&#%u;", c);
		}
	}
	out->failed |= safe.failed;
	text_free(&safe);
}

/*
 * Control characters cannot be in XML 1.0, so they are escaped as in text; likewise the two
 * noncharacters U+FFFE and U+FFFF. Source: XML 1.0, 2.2, "Characters".
 */
void markup_xml(struct text *out, const char *s)
{
	struct text safe = { 0 };

	escape_cell(&safe, s);
	for (const char *p = safe.s; p && *p; p++)
		switch (*p) {
		case '&':
			text_add(out, "&amp;");
			break;
		case '<':
			text_add(out, "&lt;");
			break;
		case '>':
			text_add(out, "&gt;");
			break;
		case '"':
			text_add(out, "&quot;");
			break;
		case '\'':
			text_add(out, "&apos;");
			break;
		default:
			if (!strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3)) {
				text_add(out, "?");
				p += 2;
			} else {
				text_put(out, p, 1);
			}
		}
	out->failed |= safe.failed;
	text_free(&safe);
}

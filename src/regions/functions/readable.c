/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "regions/functions/readable.h"

#define UNSEEN __attribute__((no_instrument_function))

static UNSEEN bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/*
 * Skip from an opening bracket past the closing one. Within () and {}, < and > may be operators and
 * are ignored.
 */
static UNSEEN const char *behind_group(const char *p)
{
	const bool angle = *p == '<';
	int depth = 0;

	for (; *p; p++) {
		if (angle && (*p == '(' || *p == '{')) {
			p = behind_group(p) - 1;
			continue;
		}
		depth += angle ? *p == '<' : *p == '(' || *p == '{' || *p == '[';
		depth -= angle ? *p == '>' : *p == ')' || *p == '}' || *p == ']';
		if (depth == 0)
			return p + 1;
	}
	return p;
}

/* "operator" as a whole word, which is never part of a return type. */
static UNSEEN bool is_operator(const char *s, const char *p)
{
	return begins(p, "operator") && !(isalnum((unsigned char)p[8]) || p[8] == '_') &&
		(p == s || strchr(" :*&(", p[-1]));
}

/* Skip the operator's sign. The type of a conversion operator is parsed as part of the name. */
static UNSEEN const char *behind_operator(const char *p)
{
	p += 8;
	if (begins(p, "()") || begins(p, "[]"))
		return p + 2;
	p += strspn(p, "<>=-*!,&|^~+/%");
	return p;
}

/* If a return type begins with decltype, the position of its bracket; else NULL. */
static UNSEEN const char *decltype_group(const char *p)
{
	if (!begins(p, "decltype"))
		return NULL;
	p += 8 + (p[8] == ' ');
	return *p == '(' ? p : NULL;
}

/* After arguments: the position of a name within that function; else NULL. */
static UNSEEN const char *inner(const char *p)
{
	p += begins(p, " const") ? 6 : 0;
	return begins(p, "::") ? p + 2 : NULL;
}

void readable_parts(const char *s, const char **from, const char **to)
{
	const char anonymous[] = "(anonymous namespace)", *p = s, *in;
	bool named = false; /* no return type from here on */

	*from = s;
	while (*p) {
		if (is_operator(s, p)) {
			named = true;
			p = behind_operator(p);
			if (*p == '<' || begins(p, " <"))
				p = behind_group(p + (*p == ' '));
		} else if (begins(p, anonymous)) {
			p += sizeof(anonymous) - 1;
		} else if (p == *from && !named && decltype_group(p)) {
			p = behind_group(decltype_group(p));
		} else if (*p == '(' && p == *from && !named) {
			*from = ++p; /* int (*f(int))(char): f returns a function pointer */
		} else if (*p == '(') {
			in = inner(behind_group(p));
			if (!in)
				break;
			named = true;
			p = in;
		} else if (strchr("<{[", *p)) {
			p = behind_group(p);
		} else if (strchr(" *&", *p) && !named) {
			*from = ++p;
		} else {
			p++;
		}
	}
	*to = p;
}

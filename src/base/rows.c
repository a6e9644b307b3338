/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/rows.h"

int rows_begin(struct rows *r, const char *head, const char *text, size_t len, const char *refusal,
	       struct tare_error *err)
{
	size_t n = strlen(head);

	*r = (struct rows){ .text = text, .len = len, .at = n, .number = 1, .refusal = refusal };
	if (len < n || memcmp(text, head, n))
		return tare_fail(err, EBADMSG, "line 1 is not '%.*s'", (int)n - 1, head);
	return 0;
}

int rows_refuse(const struct rows *r, struct tare_error *err)
{
	return tare_fail(err, EBADMSG, "line %zu %s", r->number, r->refusal);
}

int rows_next(struct rows *r, struct tare_error *err)
{
	const char *from = r->text + r->at, *end;
	size_t n;

	if (r->at >= r->len)
		return 0;
	r->number++;
	end = memchr(from, '\n', r->len - r->at);
	n = end ? (size_t)(end - from) : 0;
	if (!end || n >= sizeof(r->line) || memchr(from, '\0', n))
		return rows_refuse(r, err);
	memcpy(r->line, from, n);
	r->line[n] = '\0';
	r->field = r->line;
	r->at += n + 1;
	return 1;
}

/* Up to the next tab, or the end of the line; NULL: there is none. */
static const char *take_field(struct rows *r)
{
	char *field = r->field, *tab = field ? strchr(field, '\t') : NULL;

	if (tab)
		*tab++ = '\0';
	r->field = tab;
	return field;
}

/*
 * The next field, for a number that starts with a digit, or '-' if `negative`: strtod() and similar
 * functions accept more.
 */
static const char *take_number(struct rows *r, bool negative)
{
	const char *field = take_field(r);

	errno = 0;
	return field && (isdigit((unsigned char)*field) || (negative && *field == '-')) ? field
											: NULL;
}

bool row_text(struct rows *r, char *to, size_t room)
{
	const char *field = take_field(r);

	if (!field || strlen(field) >= room || !row_fits(field))
		return false;
	strcpy(to, field);
	return true;
}

bool row_int(struct rows *r, int64_t *to)
{
	const char *field = take_number(r, true);
	char *end;

	if (!field)
		return false;
	*to = strtoll(field, &end, 10);
	return !*end && !errno;
}

bool row_count(struct rows *r, uint64_t *to, uint64_t most)
{
	const char *field = take_number(r, false);
	char *end;

	if (!field)
		return false;
	*to = strtoull(field, &end, 10);
	return !*end && !errno && *to <= most;
}

bool row_real(struct rows *r, double *to, double least, double most)
{
	const char *field = take_number(r, true);
	char *end;

	if (!field)
		return false;
	*to = strtod(field, &end);
	return !*end && *to >= least && *to <= most;
}

bool row_name(struct rows *r, int *to, const char *const *names, int n, const char *none)
{
	const char *field = take_field(r);

	if (!field)
		return false;
	for (*to = 0; *to < n; ++*to)
		if (!strcmp(field, names[*to]))
			return true;
	*to = -1;
	return none && !strcmp(field, none);
}

bool row_ends(const struct rows *r)
{
	return !r->field;
}

bool row_fits(const char *s)
{
	for (; *s; s++)
		if (!isprint((unsigned char)*s))
			return false;
	return true;
}

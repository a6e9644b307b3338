/* SPDX-License-Identifier: MIT */
/* Parses numbers in users' notation: 0x1f, 100k, 2.5ms. Independent of the locale. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "base/num.h"

static int digit(char c, unsigned base)
{
	int d = isdigit((unsigned char)c)    ? c - '0'
		: isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					     : 99;

	return d < (int)base ? d : -1;
}

/* Read digits from *p; false on overflow. *any: there was at least one. */
static bool digits(const char **p, unsigned base, uint64_t *out, bool *any)
{
	uint64_t n = 0;

	*any = false;
	for (int d; (d = digit(**p, base)) >= 0; ++*p) {
		if (__builtin_mul_overflow(n, (uint64_t)base, &n) ||
		    __builtin_add_overflow(n, (uint64_t)d, &n))
			return false;
		*any = true;
	}
	*out = n;
	return true;
}

int num_parse(const char *text, uint64_t *out, struct tare_error *err)
{
	static const struct {
		char suffix;
		uint64_t times;
	} rows[] = { { 'k', 1000 },    { 'K', 1000 },       { 'm', 1000000 },
		     { 'M', 1000000 }, { 'g', 1000000000 }, { 'G', 1000000000 } };
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *p = hex ? text + 2 : text;
	uint64_t n;
	bool any;

	if (!digits(&p, hex ? 16 : 10, &n, &any))
		return tare_fail(err, ERANGE, "%.64s is too large a number", text);
	if (any && !hex && *p)
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			if (*p == rows[i].suffix) {
				if (__builtin_mul_overflow(n, rows[i].times, &n))
					return tare_fail(err, ERANGE, "%.64s is too large a number",
							 text);
				p++;
				break;
			}
	if (!any || *p)
		return tare_fail(err, EINVAL, "'%.64s' is not a number", text);
	*out = n;
	return 0;
}

int num_parse_ns(const char *text, uint64_t bare_unit_ns, uint64_t *out, struct tare_error *err)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = { { "ns", 1 },         { "us", 1000 },       { "ms", 1000000 },
		      { "s", 1000000000 }, { "m", 60000000000 }, { "min", 60000000000 } };
	const char *p = text;
	uint64_t whole, unit = 0, part = 0, tenth = 1;
	bool any;

	if (!digits(&p, 10, &whole, &any))
		return tare_fail(err, ERANGE, "%.64s is too long a time", text);
	if (any && *p == '.')
		for (p++; isdigit((unsigned char)*p); p++)
			if (tenth < 1000000000) {
				part = part * 10 + (uint64_t)(*p - '0');
				tenth *= 10;
			}
	if (any && !*p)
		unit = bare_unit_ns;
	for (size_t i = 0; any && i < ARRAY_SIZE(units); i++)
		if (!strcmp(p, units[i].suffix))
			unit = units[i].ns;
	if (!unit) {
		tare_fail(err, EINVAL, "'%.64s' is not a time", text);
		tare_hint(err, "write a number and ns, us, ms, s or min, such as 100ms");
		return -EINVAL;
	}

	uint64_t ns;

	if (__builtin_mul_overflow(whole, unit, &ns) ||
	    __builtin_add_overflow(ns, (uint64_t)((unsigned __int128)unit * part / tenth), &ns))
		return tare_fail(err, ERANGE, "%.64s is too long a time", text);
	*out = ns;
	return 0;
}

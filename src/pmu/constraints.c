/* SPDX-License-Identifier: MIT */
/*
 * Rows of data/constraints.txt: the counters that an event of a core PMU may use. The file is built
 * in and a test parses every row, so a row that does not parse is skipped here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmu/fit.h"
#include "pmu/table.h"

#define BIT(n) (UINT64_C(1) << (n))

enum { FIXED = 32 };

struct row {
	char table[8], event[24], umask[8], counters[24], meaning[96];
};

/* The next row of the CPU's table. */
static bool next(const struct counter_facts *f, const char **p, struct row *out)
{
	const char *table = f->bound[0] ? f->bound : f->kind == COUNTERS_INTEL ? "gen" : "";
	struct column c[5];
	unsigned line = 0;

	for (size_t n; (n = table_next(p, &line, c, 5));) {
		*out = (struct row){ 0 };
		if (n < 4)
			continue;
		column_copy(&c[0], out->table, sizeof(out->table));
		if (strcmp(out->table, table))
			continue;
		column_copy(&c[1], out->event, sizeof(out->event));
		column_copy(&c[2], out->umask, sizeof(out->umask));
		column_copy(&c[3], out->counters, sizeof(out->counters));
		if (n == 5)
			column_copy(&c[4], out->meaning, sizeof(out->meaning));
		return true;
	}
	return false;
}

static uint64_t parse_number(const char *s, char **end)
{
	return strtoull(s, end, 0);
}

/* The event code in an architecture's config. Source: Linux, the format attributes of each. */
static uint64_t event_of(enum counter_kind kind, uint64_t config)
{
	switch (kind) {
	case COUNTERS_AMD:
		return (config & 0xff) | (config >> 24 & 0xf00);
	case COUNTERS_ARM:
		return config & 0xffff;
	case COUNTERS_INTEL:
		break;
	}
	return config & 0xff;
}

static bool event_matches(const char *range, uint64_t event)
{
	char *end;
	uint64_t first, last;

	if (!strcmp(range, "*"))
		return true;
	if (!strncmp(range, "cache=", 6))
		return false;
	first = last = parse_number(range, &end);
	if (*end == '-')
		last = parse_number(end + 1, &end);
	return event >= first && event <= last;
}

/* edge, inv, cmask, in_tx, in_tx_cp: Linux, FIXED_EVENT_FLAGS of arch/x86/events/perf_event.h. */
#define FILTERS (BIT(18) | BIT(23) | UINT64_C(0xff) << 24 | UINT64_C(3) << 32)

static bool umask_matches(const char *want, uint64_t config)
{
	uint64_t umask = config >> 8 & 0xff;

	switch (want[0]) {
	case '*':
		return true;
	case '&':
		return umask & parse_number(want + 1, NULL);
	case '=':
		return umask == parse_number(want + 1, NULL) && !(config & FILTERS);
	}
	return umask == parse_number(want, NULL);
}

/* "0-3", "any,fixed0", "0,2,4?"; limited to the counters of this CPU. */
static uint64_t counters_of(const struct counter_facts *f, const char *s)
{
	uint64_t all = f->programmable >= 32 ? 0xffffffff : BIT(f->programmable) - 1, mask = 0;

	while (*s && *s != '?') {
		bool fixed = !strncmp(s, "fixed", 5);
		uint64_t first, last;
		char *end;

		if (!strncmp(s, "any", 3)) {
			mask |= all;
			s += 3 + (s[3] == ',');
			continue;
		}
		first = last = parse_number(s + (fixed ? 5 : 0), &end);
		if (*end == '-')
			last = parse_number(end + 1, &end);
		if (end == s)
			return 0;
		for (; first <= last && first < (fixed ? f->fixed : 32); first++)
			mask |= fixed ? BIT(FIXED + first) : BIT(first) & all;
		s = end + (*end == ',');
	}
	return mask;
}

bool constraint_find(const struct counter_facts *f, uint64_t config, struct fit_legal *out)
{
	const char *p = embedded_text("constraints.txt");
	struct row row;

	while (next(f, &p, &row)) {
		if (!event_matches(row.event, event_of(f->kind, config)) ||
		    !umask_matches(row.umask, config))
			continue;
		out->counters = counters_of(f, row.counters);
		out->sure = out->counters && !strchr(row.counters, '?');
		snprintf(out->depends, sizeof(out->depends), "%s",
			 out->sure || !f->bound[0] ? "" : row.meaning);
		return out->counters != 0;
	}
	return false;
}

bool constraint_cache(const struct counter_facts *f, uint64_t event, uint64_t *config)
{
	const char *p = embedded_text("constraints.txt");
	struct row row;

	while (next(f, &p, &row)) {
		if (strncmp(row.event, "cache=", 6))
			continue;
		if (strcmp(row.event + 6, "any") && parse_number(row.event + 6, NULL) != event)
			continue;
		/* any counter works: use a code that matches only the last row of its table */
		*config = !strcmp(row.counters, "any") ? 0xc0 : parse_number(row.counters, NULL);
		return true;
	}
	return false;
}

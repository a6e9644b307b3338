/* SPDX-License-Identifier: MIT */
/* What changed between recordings, shown. */
#ifndef REGIONS_COMPARE_VIEW_H
#define REGIONS_COMPARE_VIEW_H

#include "regions/compare.h"
#include "regions/region_cells.h"
#include "output/style.h"

struct compare_shown {
	size_t top;	   /* rows; 0: all */
	const char *match; /* only labels that hold this text; NULL: all */
	const char *by;	   /* only this counter; NULL: all of them */
	enum compare_key key;
	bool sure;	   /* only what exceeds the noise */
	const size_t *copy_of; /* by run: whose content it has, itself where no run before it has it; NULL: not looked */
};

/* Sorts the rows anew for each counter's table. */
void compare_text(struct text *out, struct compare *c, const struct compare_shown *how, const struct style *s);
/* Of all runs: region_cells.h. */
void compare_machines(struct machines *m, const struct compare *c);
void compare_json(struct text *out, const struct compare *c, const struct compare_shown *how);
/* A line per label and counter. */
void compare_csv(struct text *out, const struct compare *c, const struct compare_shown *how);

static inline bool compare_counter_wanted(const struct compare_shown *how, const char *counter)
{
	return !how->by || !__builtin_strcmp(how->by, counter);
}

static inline bool compare_row_matches(const struct compare *c, const struct compare_row *row, const struct compare_shown *how)
{
	return !how->match || __builtin_strstr(c->labels.entry[row->label].name, how->match);
}

/* Of what is of no label: all always, the others where there is anything of them, and no label is asked for. */
static inline bool compare_single_wanted(const struct compare *c, const struct compare_row *row, const struct compare_shown *how, size_t counter)
{
	return row == &c->all || (!how->match && (!how->sure || row->change[counter].beyond) && compare_row_is_there(c, row, counter));
}

static inline bool compare_row_wanted(const struct compare *c, const struct compare_row *row, const struct compare_shown *how, size_t counter)
{
	const struct compare_change *self = &row->change[counter], *total = &row->change[c->n_counters + counter];

	return compare_row_matches(c, row, how) && (!how->sure || self->beyond || total->beyond);
}

#endif

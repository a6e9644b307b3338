/* SPDX-License-Identifier: MIT */
/* Show the changes between recordings. */
#ifndef REGIONS_COMPARE_VIEW_H
#define REGIONS_COMPARE_VIEW_H

#include "regions/compare.h"
#include "regions/region_cells.h"
#include "output/style.h"

struct compare_shown {
	size_t top;        /* rows; 0: all */
	const char *match; /* only labels that contain this text; NULL: all */
	const char *by;    /* only this counter; NULL: all */
	enum compare_key key;
	bool sure; /* only changes that exceed the noise */
	/* per run: the first run with the same content, or itself; NULL: not checked */
	const size_t *copy_of;
};

/* Sorts the rows again for each counter's table. */
void compare_text(struct text *out, struct compare *c, const struct compare_shown *how,
		  const struct style *s);
/* The machines of all runs, for region_cells.h. */
void compare_machines(struct machines *m, const struct compare *c);
/* tare/diff/1; CSV: a line per label and counter. */
void compare_document(struct text *out, enum output_format format, const struct compare *c,
		      const struct compare_shown *how);

static inline bool compare_counter_wanted(const struct compare_shown *how, const char *counter)
{
	return !how->by || !__builtin_strcmp(how->by, counter);
}

static inline bool compare_row_matches(const struct compare *c, const struct compare_row *row,
				       const struct compare_shown *how)
{
	return !how->match || __builtin_strstr(c->labels.entry[row->label].name, how->match);
}

/*
 * Rows outside the labels: (all) always, the others if they have a value and no label is selected.
 */
static inline bool compare_single_wanted(const struct compare *c, const struct compare_row *row,
					 const struct compare_shown *how, size_t counter)
{
	return row == &c->all ||
		(!how->match && (!how->sure || row->change[counter].beyond) &&
		 compare_row_is_there(c, row, counter));
}

static inline bool compare_row_wanted(const struct compare *c, const struct compare_row *row,
				      const struct compare_shown *how, size_t counter)
{
	const struct compare_change *self = &row->change[counter],
				    *total = &row->change[c->n_counters + counter];

	return compare_row_matches(c, row, how) && (!how->sure || self->beyond || total->beyond);
}

#endif

/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "verify/overcount.h"

bool overcount_needed(const struct verify_result *of)
{
	return of->verdict == VERIFY_FAULTS || of->verdict == VERIFY_INTERRUPTS;
}

static bool whole(const struct stat_row *r, unsigned run)
{
	return r->run[run].quality == TARE_COUNTED || r->run[run].quality == TARE_EXACT;
}

/* Why this row cannot be corrected; false: it can. */
static bool refuse(struct overcount *c, const struct stat_table *t, const struct stat_row *row,
		   const struct overcount_from *from)
{
	c->why_not[0] = '\0';
	if (row->quality != TARE_COUNTED)
		snprintf(c->why_not, sizeof(c->why_not), "it is %s: an estimate is not corrected",
			 tare_quality_name(row->quality));
	else if (c->per_fault && !from->faults)
		snprintf(
			c->why_not, sizeof(c->why_not),
			"%" PRId64
			" too many for each page fault, and no verified event counts page faults here: add page-faults:u to -e, and run tare verify counts -e page-faults:u",
			c->per_fault);
	else if (c->per_interrupt > 1)
		snprintf(
			c->why_not, sizeof(c->why_not),
			"up to %u too many for each interrupt: the number varies, so it cannot be subtracted",
			c->per_interrupt);
	else if (c->per_interrupt && !from->interrupts)
		snprintf(
			c->why_not, sizeof(c->why_not),
			"one too many for each interrupt, and the event that counts them is not in -e (data/interrupts.txt), or this CPU has none");
	for (unsigned k = 0; !c->why_not[0] && k < t->runs; k++)
		if (whole(row, k) &&
		    ((c->per_fault && !whole(from->faults, k)) ||
		     (c->per_interrupt && !whole(from->interrupts, k))))
			snprintf(c->why_not, sizeof(c->why_not),
				 "in run %u faults or interrupts were multiplexed", k + 1);
	return c->why_not[0];
}

int overcount_row(struct overcount *out, const struct stat_table *t, const struct stat_row *row,
		  const struct overcount_from *from, struct tare_error *err)
{
	uint64_t *room = calloc(3 * (size_t)t->runs + 1, sizeof(*room)), *faults = room + t->runs,
		 *interrupts = faults + t->runs;
	struct spread s;
	size_t n = 0;
	int ret = 0;

	if (!room)
		return tare_fail_nomem(err);
	*out = (struct overcount){ .event = row->event,
				   .counted = row->spread,
				   .per_fault = from->of->per_fault,
				   .per_interrupt = from->of->verdict == VERIFY_INTERRUPTS
					   ? from->of->per_interrupt
					   : 0 };
	bool may = !refuse(out, t, row, from);

	for (unsigned k = 0; may && k < t->runs; k++) {
		int64_t less;

		if (!whole(row, k))
			continue;
		faults[n] = out->per_fault ? from->faults->run[k].value : 0;
		interrupts[n] = out->per_interrupt ? from->interrupts->run[k].value : 0;
		less = out->per_fault * (int64_t)faults[n] +
			(int64_t)(out->per_interrupt * interrupts[n]);
		if (less > 0 && (uint64_t)less > row->run[k].value) {
			snprintf(
				out->why_not, sizeof(out->why_not),
				"the correction exceeds the count in run %u: the verdict does not fit",
				k + 1);
			break;
		}
		room[n++] = row->run[k].value - (uint64_t)less;
	}
	if (!out->why_not[0] && n) {
		ret = spread_of(room, n, &out->corrected, NULL, err);
		if (ret == 0)
			ret = spread_of(faults, n, &s, NULL, err);
		out->faults = ret == 0 ? s.median : 0;
		if (ret == 0)
			ret = spread_of(interrupts, n, &s, NULL, err);
		out->interrupts = ret == 0 ? s.median : 0;
	}
	free(room);
	return ret;
}

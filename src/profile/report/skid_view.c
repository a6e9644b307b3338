/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include "profile/report/report_view.h"
#include "profile/report/skid_view.h"

enum { SHIFTS_SHOWN = 10 };

static void put_place(struct text *out, int64_t instructions)
{
	if (!instructions)
		text_add(out, "at it");
	else
		text_add(out, "%" PRIu64 " %s %s it",
			 (uint64_t)(instructions < 0 ? -instructions : instructions),
			 instructions == 1 || instructions == -1 ? "instruction" : "instructions",
			 instructions < 0 ? "before" : "after");
}

void skid_known_text(struct text *out, const struct skid_known *known, const struct samples *s,
		     uint32_t column)
{
	const char *event = call_tree_name(s->call_tree, s->call_tree->column[column].name);
	const struct skid_kept *k;
	bool other;

	if (!known->kept)
		return;
	k = skids_kept_of(known->kept, s->file, event, &other);
	if (!k && !known->asked)
		return;
	text_add(out, "   ");
	if (!k) {
		put_name(out, event, 60);
		text_add(
			out,
			": its skid was not measured on this recording's CPU and kernel (run 'tare verify skid' there)\n");
		return;
	}
	if (other) {
		put_name(out, event, 60);
		text_add(out, " itself was not measured; ");
	}
	put_name(out, k->event, 60);
	text_add(
		out,
		" at precise level %u here: %.1f %% of samples are at the instruction that caused the event, half of them ",
		k->level, 100 * k->exact);
	put_place(out, k->median);
	text_add(out, " or nearer, 99 %% ");
	put_place(out, k->p99);
	text_add(out, " or nearer\n");
}

void skid_known_json(struct json *j, const struct skid_known *known, const struct perfdata *file,
		     const char *event)
{
	bool other = false;
	const struct skid_kept *k = known->kept ? skids_kept_of(known->kept, file, event, &other)
						: NULL;

	if (!k) {
		json_null(j, "skid");
		return;
	}
	json_object(j, "skid");
	json_string(j, "measured_event", k->event);
	json_bool(j, "same_event", !other);
	json_uint(j, "level", k->level);
	json_uint(j, "samples", k->samples);
	json_real(j, "exact", k->exact);
	json_int(j, "median", k->median);
	json_int(j, "p99", k->p99);
	json_int(j, "time", k->time);
	json_end(j);
}

void skid_shift_text(struct text *out, const struct skid_shift *k, const struct samples *s)
{
	const struct call_tree *st = s->call_tree;
	const char *ordinary = call_tree_name(st, st->column[k->ordinary].name),
		   *precise = call_tree_name(st, st->column[k->precise].name);

	text_add(out, " Shares by ");
	put_name(out, precise, 40);
	text_add(out, " compared with those by ");
	put_name(out, ordinary, 40);
	if (!k->n) {
		text_add(
			out,
			": no function of %zu differs by more than twice the sampling error (95 %%)\n",
			k->functions);
		return;
	}
	text_add(out,
		 ": %zu of %zu functions differ by more than twice the sampling error (95 %%)\n",
		 k->n, k->functions);
	for (size_t i = 0; i < k->n && i < SHIFTS_SHOWN; i++) {
		const struct skid_shift_row *r = &k->row[i];

		text_add(out, "   %+7.2f points  %6.2f %% -> %6.2f %%  ",
			 100 * (r->precise - r->ordinary), 100 * r->ordinary, 100 * r->precise);
		put_name(out, call_tree_name(st, r->function), 60);
		text_add(out, "\n");
	}
	if (k->n > SHIFTS_SHOWN)
		text_add(out, "   and %zu more\n", k->n - SHIFTS_SHOWN);
}

void skid_shift_json(struct json *j, const struct skid_shift *k, const struct samples *s)
{
	const struct call_tree *st = s->call_tree;

	json_object(j, "skid_shift");
	json_string(j, "ordinary", call_tree_name(st, st->column[k->ordinary].name));
	json_string(j, "precise", call_tree_name(st, st->column[k->precise].name));
	json_uint(j, "functions", k->functions);
	json_array(j, "rows");
	for (size_t i = 0; i < k->n; i++) {
		json_object(j, NULL);
		json_string(j, "module", call_tree_name(st, k->row[i].module));
		json_string(j, "function", call_tree_name(st, k->row[i].function));
		json_real(j, "ordinary", k->row[i].ordinary);
		json_real(j, "precise", k->row[i].precise);
		json_real(j, "chance", k->row[i].chance);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

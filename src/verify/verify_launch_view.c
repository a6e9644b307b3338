/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "output/escape.h"
#include "launch/determinism_json.h"
#include "verify/verify_launch_view.h"

static uint64_t spread(const struct launch_runs *r)
{
	return r->max - r->min;
}

static bool first_counts_apart(const struct launch_report *r)
{
	return r->first_apart && r->first.median != r->all.median;
}

bool launch_repeats(const struct launch_report *r)
{
	return !spread(&r->all) && !first_counts_apart(r);
}

static void put_all(struct text *out, const struct launch_report *r, const struct style *s)
{
	text_add(out, "\n %s", r->fixed->missed ? "All fixed but " : "Everything fixed");
	if (r->fixed->missed)
		determinism_names(out, r->fixed->missed);
	text_add(out, ": %s", ink_on(s, INK_STRONG));
	put_count(out, s, r->all.median);
	text_add(out, "%s instructions:u, ", ink_off(s));
	if (first_counts_apart(r)) {
		bool more = r->first.median > r->all.median;

		text_add(out, "the same in runs 2 to %u; run 1 had ", r->runs);
		put_count(out, s,
			  more ? r->first.median - r->all.median : r->all.median - r->first.median);
		text_add(out, " %s.\n", more ? "more" : "fewer");
	} else if (!spread(&r->all)) {
		text_add(out, "the same in all %u runs.\n", r->runs);
	} else {
		text_add(out, "but %u different counts in %u runs, ", r->all.different, r->runs);
		put_count(out, s, spread(&r->all));
		text_add(out, " apart.\n");
	}
}

static void put_cell(struct grid *g, unsigned column, enum ink ink, const struct style *s,
		     uint64_t n, const char *sign)
{
	struct text t = { 0 };

	text_add(&t, "%s", sign);
	put_count(&t, s, n);
	grid_put(g, column, ink, &t);
}

static void put_items(struct text *out, const struct launch_report *r, const struct style *s)
{
	static const struct grid_column columns[] = {
		{ "without" }, { "spread", true }, { "shift", true }, { NULL }
	};
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));

	for (unsigned i = 0; i < FIXED_ITEMS; i++) {
		const struct launch_runs *o = &r->off[i];
		bool less = o->median < r->all.median;
		uint64_t shift = less ? r->all.median - o->median : o->median - r->all.median;
		bool any = spread(o) > spread(&r->all);

		if (!(determinism_had(r->fixed) & 1u << i))
			continue;
		grid_row(&g);
		grid_word(&g, 0, any ? INK_STRONG : INK_PLAIN, determinism_rows[i].name);
		put_cell(&g, 1, any ? INK_STRONG : INK_FAINT, s, spread(o), "");
		put_cell(&g, 2, INK_PLAIN, s, shift, !shift ? "" : less ? "-" : "+");
		grid_add(&g, 3, INK_PLAIN, "%u count%s in %u runs%s%s", o->different,
			 o->different == 1 ? "" : "s", o->runs,
			 o->output_differs ? ", output differs" : "",
			 o->end_differs ? ", exit status differs" : "");
	}
	text_put(out, "\n", 1);
	grid_end(out, &g, s, 1);
}

static void put_first(struct text *out, const struct launch_report *r)
{
	text_add(
		out,
		" Only run 1 differs, by its%s%s%s: either it left a file or a cache that the others found,\n"
		" or this was chance. Run the command again: such a file exists now.\n",
		first_counts_apart(r) ? " count" : "", r->first.output_differs ? " output" : "",
		r->first.end_differs ? " exit status" : "");
}

void verify_launch_text(struct text *out, const struct launch_report *r, const struct style *s)
{
	const char *all = r->fixed->missed ? "everything possible is fixed" : "everything is fixed";

	text_put(out, "\n", 1);
	text_put(out, " ", 1);
	escape_command(out, (const char *const *)r->argv, SIZE_MAX);
	text_put(out, "\n", 1);
	put_all(out, r, s);
	put_items(out, r, s);
	text_put(out, "\n", 1);
	if (r->first_apart)
		put_first(out, r);
	if (r->all.output_differs)
		text_add(out, " Its output differs between runs although %s.\n", all);
	if (r->all.end_differs)
		text_add(out, " Its exit status differs between runs although %s.\n", all);
	if (r->fixed->isa_model[0])
		text_add(out, " CPU model: %s.\n", r->fixed->isa_model);
	determinism_remarks_text(out, r->fixed);
	text_add(
		out,
		" Spread: largest count minus smallest. Shift: of the median, against the first line.\n");
	if (!spread(&r->all))
		return;
	text_add(
		out,
		r->fixed->missed
			? " The items that are not fixed may cause the remaining spread; the spread of each row includes it.\n"
			: " The remaining spread has another cause.\n");
	if (r->first_most)
		text_add(
			out,
			" Most of it comes from run 1, which may have left a file or a cache that the others found: run the command again.\n");
	if (r->runs == 2)
		text_add(out,
			 " Or run 1 left a file or a cache that run 2 found: -r 3 shows it.\n");
}

static void json_runs(struct json *j, const char *key, const struct launch_runs *r)
{
	json_object(j, key);
	json_uint(j, "min", r->min);
	json_uint(j, "median", r->median);
	json_uint(j, "max", r->max);
	json_uint(j, "spread", spread(r));
	json_uint(j, "different", r->different);
	json_bool(j, "output_differs", r->output_differs);
	json_bool(j, "exit_differs", r->end_differs);
	json_end(j);
}

void verify_launch_json(struct text *out, const struct launch_report *r)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/verify-launch/1");
	json_strings(&j, "command", (const char *const *)r->argv);
	json_string(&j, "engine", r->engine->name);
	json_string(&j, "event", "instructions:u");
	json_uint(&j, "runs", r->runs);
	json_int(&j, "exit_status", r->exit_status);
	json_bool(&j, "repeats", launch_repeats(r));
	if (r->first_apart)
		json_runs(&j, "first_apart", &r->first);
	json_runs(&j, "all", &r->all);
	json_object(&j, "without");
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (determinism_had(r->fixed) & 1u << i)
			json_runs(&j, determinism_rows[i].name, &r->off[i]);
	json_end(&j);
	determinism_json(&j, r->fixed);
	json_end(&j);
	json_into(out, &j);
}

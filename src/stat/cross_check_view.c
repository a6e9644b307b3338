/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include "stat/cross_check_view.h"
#include "output/json.h"

enum { COL_MSR, COL_PERF, COL_CHANGE, COL_PERCENT, COL_HALF, COL_EVENT, COL_VERDICT, COLS };

static const struct {
	enum ink ink;
	const char *words;
} verdicts[CROSS_CHECK_VERDICTS] = {
	[CROSS_CHECK_EQUAL] = { INK_STRONG, "equal in every run" },
	[CROSS_CHECK_AGREE] = { INK_PLAIN, "agree: the runs differ as much" },
	[CROSS_CHECK_DIFFER] = { INK_BAD, "DIFFER beyond the noise" },
	[CROSS_CHECK_UNTESTED] = { INK_CAREFUL, "not judged: -r 5 shows how much runs differ" },
	[CROSS_CHECK_UNKNOWN] = { INK_BAD, "no number" },
};

static double percent_of(const struct cross_check_row *r, double change)
{
	return r->mean[CROSS_CHECK_MSR] > 0 ? 100 * change / r->mean[CROSS_CHECK_MSR] : NAN;
}

static bool is_known(const struct cross_check_row *r)
{
	return r->verdict != CROSS_CHECK_UNKNOWN;
}

static bool is_judged(const struct cross_check_row *r)
{
	return r->verdict <= CROSS_CHECK_DIFFER;
}

static void put_row(struct grid *g, const struct cross_check_row *r, const struct style *s)
{
	struct text t = { 0 };
	double percent = percent_of(r, r->test.change);

	grid_row(g);
	for (int side = 0; side < CROSS_CHECK_SIDES; side++) {
		if (is_known(r))
			put_real(&t, s, r->mean[side],
				 r->mean[side] == floor(r->mean[side]) ? 0 : 1);
		grid_put(g, side == CROSS_CHECK_MSR ? COL_MSR : COL_PERF, INK_PLAIN, &t);
	}
	if (is_known(r)) {
		text_add(&t, "%s", r->test.change > 0 ? "+" : r->test.change < 0 ? "-" : "");
		put_real(&t, s, fabs(r->test.change),
			 r->test.change == floor(r->test.change) ? 0 : 1);
	}
	grid_put(g, COL_CHANGE, verdicts[r->verdict].ink, &t);
	if (is_known(r) && percent == 0)
		text_add(&t, "0 %%");
	else if (is_known(r) && isfinite(percent))
		text_add(&t, "%+.3g %%", percent);
	grid_put(g, COL_PERCENT, verdicts[r->verdict].ink, &t);
	if (is_judged(r) && isfinite(percent))
		text_add(&t, "%s%.2g %%", s->utf8 ? "\u00b1" : "+-", percent_of(r, r->test.half));
	grid_put(g, COL_HALF, INK_FAINT, &t);
	grid_word(g, COL_EVENT, INK_PLAIN, r->name);
	grid_add(g, COL_VERDICT, verdicts[r->verdict].ink, "%s%s%s", verdicts[r->verdict].words,
		 r->why[0] ? ": " : "", r->why);
}

void cross_check_text(struct text *out, const struct cross_check_view *v, const struct style *s)
{
	static const struct grid_column columns[COLS] = {
		{ "registers", true }, { "perf", true },   { "difference", true }, { "", true },
		{ "(95 %)", true },    { "event", false }, { "verdict", false }
	};
	struct grid g = grid_begin(columns, COLS);

	text_add(out, "\n Registers (%s) against perf, in interleaved runs", v->via);
	if (v->n)
		text_add(out, ": %zu of each", v->row[0].n[CROSS_CHECK_MSR]);
	text_add(out, "\n\n");
	for (size_t i = 0; i < v->n; i++)
		put_row(&g, &v->row[i], s);
	grid_write(out, &g, s, 1);
	text_add(out, "\n");
	out->failed |= g.failed;
	grid_free(&g);
}

void cross_check_json(struct text *out, const struct cross_check_view *v)
{
	static const char *const sides[CROSS_CHECK_SIDES] = { "msr", "perf" };
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/stat-cross/1");
	json_string(&j, "via", v->via);
	json_strings(&j, "command", (const char *const *)v->argv);
	json_array(&j, "events");
	for (size_t i = 0; i < v->n; i++) {
		const struct cross_check_row *r = &v->row[i];

		json_object(&j, NULL);
		json_string(&j, "event", r->name);
		for (int s = 0; s < CROSS_CHECK_SIDES; s++) {
			json_object(&j, sides[s]);
			json_uint(&j, "runs", r->n[s]);
			json_real(&j, "mean", is_known(r) ? r->mean[s] : NAN);
			json_end(&j);
		}
		json_real(&j, "difference", is_known(r) ? r->test.change : NAN);
		json_real(&j, "percent", is_known(r) ? percent_of(r, r->test.change) : NAN);
		json_real(&j, "half", is_judged(r) ? r->test.half : NAN);
		json_real(&j, "half_percent", is_judged(r) ? percent_of(r, r->test.half) : NAN);
		json_real(&j, "q", is_judged(r) ? r->q : NAN);
		json_string(&j, "verdict", cross_check_names[r->verdict]);
		if (r->why[0])
			json_string(&j, "reason", r->why);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}

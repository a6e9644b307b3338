/* SPDX-License-Identifier: MIT */
/* docs/schema/tare-compare-1.json */
#include <math.h>
#include "compare/compare_view.h"
#include "output/json.h"

static const char *const outcome_names[] = { "cannot tell", "same", "faster", "slower" };
static const char *const verdict_names[] = { "cannot tell", "same", "less", "more" };

static void json_side(struct json *j, const struct compare_shown *s, enum compare_side side)
{
	json_object(j, compare_side_name(side));
	json_array(j, "command");
	for (char *const *word = s->side[side].argv; word && *word; word++)
		json_string(j, NULL, *word);
	json_end(j);
	json_string(j, "path", s->side[side].path);
	json_string(j, "revision", s->side[side].revision);
	json_string(j, "commit", s->side[side].commit);
	json_end(j);
}

static void json_values(struct json *j, const char *key, const struct compare_values *v)
{
	json_array(j, key);
	for (size_t i = 0; i < v->n; i++)
		json_uint(j, NULL, v->value[i]);
	json_end(j);
}

static void json_event(struct json *j, const struct compare_event *e)
{
	json_object(j, NULL);
	json_string(j, "event", e->name);
	json_string(j, "unit", e->time ? "ns" : "");
	json_string(j, "verdict", verdict_names[e->verdict]);
	json_string(j, "compared", e->by_equality ? "equality" : e->by_pairs ? "pairs" : "test");
	for (int side = 0; side < COMPARE_SIDES; side++) {
		json_object(j, compare_side_name(side));
		json_uint(j, "median", e->median[side]);
		json_real(j, "mean", e->mean[side]);
		json_bool(j, "varies", e->varies[side]);
		json_values(j, "runs", &e->of[side]);
		json_values(j, "second_runs", &e->again[side]);
		json_end(j);
	}
	json_real(j, "change", e->change);
	json_real(j, "percent", e->percent);
	json_real(j, "low_percent", e->low_percent);
	json_real(j, "high_percent", e->high_percent);
	json_real(j, "half_percent", e->half_percent);
	json_real(j, "p", e->p);
	json_real(j, "threshold_percent", e->by_equality ? e->allowed : e->threshold);
	json_bool(j, "below_threshold", e->small);
	json_bool(j, "unconfirmed", e->unconfirmed);
	if (e->needed)
		json_uint(j, "runs_needed", e->needed);
	else
		json_null(j, "runs_needed");
	json_end(j);
}

static void json_sides(struct json *j, const char *key, int64_t before, int64_t after)
{
	json_object(j, key);
	json_int(j, "before", before);
	json_int(j, "after", after);
	json_int(j, "change", after - before);
	json_end(j);
}

static void json_lines(struct json *j, const struct compare_shown *s)
{
	const struct compare_lines *lines = &s->cause->lines;
	size_t shown = compare_lines_shown(s);
	int64_t others[COMPARE_SIDES];

	if (!shown) {
		json_null(j, "lines");
		return;
	}
	json_object(j, "lines");
	json_string(j, "function", s->cause->row[0].function);
	json_array(j, "changed");
	for (size_t i = 0; i < shown; i++) {
		const struct compare_line *l = &lines->line[i];

		json_object(j, NULL);
		for (int side = 0; side < COMPARE_SIDES; side++) {
			json_object(j, side ? "at_after" : "at_before");
			json_string(j, "file", l->file[side]);
			if (l->file[side])
				json_uint(j, "line", l->line[side]);
			else
				json_null(j, "line");
			json_end(j);
		}
		json_string(j, "text", l->text);
		json_uint(j, "before", l->amount[0]);
		json_uint(j, "after", l->amount[1]);
		json_int(j, "change", l->change);
		json_end(j);
	}
	json_end(j);
	compare_other_lines(s->cause, shown, others);
	json_sides(j, "others", others[0], others[1]);
	json_end(j);
}

static void json_cause(struct json *j, const struct compare_shown *s)
{
	const struct compare_cause *c = s->cause;
	int64_t others[COMPARE_SIDES];
	size_t shown = compare_rows_shown(s);

	if (!c) {
		json_null(j, "cause");
		return;
	}
	compare_others(c, shown, others);
	json_object(j, "cause");
	json_string(j, "event", "instructions:u");
	json_bool(j, "exact", !c->by_samples);
	json_sides(j, "total", (int64_t)c->total[0], (int64_t)c->total[1]);
	json_sides(j, "others", others[0], others[1]);
	json_array(j, "functions");
	for (size_t i = 0; i < shown; i++) {
		const struct compare_row *r = &c->row[i];

		json_object(j, NULL);
		json_string(j, "function", r->function);
		json_string(j, "module", r->module);
		json_bool(j, "inlined", r->inlined);
		json_string(j, "state", *compare_row_state(r) ? compare_row_state(r) : NULL);
		json_uint(j, "before", r->amount[0]);
		json_uint(j, "after", r->amount[1]);
		json_int(j, "change", r->change);
		json_end(j);
	}
	json_end(j);
	json_lines(j, s);
	json_end(j);
}

void compare_show_json(struct text *out, const struct compare_shown *s)
{
	const struct style plain = { .thousands = true, .utf8 = true };
	enum compare_outcome o = compare_outcome(s->event, s->n, NULL);
	struct text line = { 0 };
	struct json j = { 0 };

	compare_headline(&line, s, &plain);
	json_object(&j, NULL);
	json_string(&j, "schema", "tare/compare/1");
	json_string(&j, "verdict", outcome_names[o]);
	json_bool(&j, "regression", o == OUTCOME_SLOWER);
	json_string(&j, "headline", line.s);
	for (int side = 0; side < COMPARE_SIDES; side++)
		json_side(&j, s, side);
	json_object(&j, "conditions");
	json_string(&j, "engine", s->engine);
	json_real(&j, "level_percent", 100 * COMPARE_LEVEL);
	json_array(&j, "fixed");
	for (unsigned i = 0; s->fixed && i < FIXED_ITEMS; i++)
		if (determinism_had(s->fixed) & 1u << i)
			json_string(&j, NULL, determinism_rows[i].name);
	json_end(&j);
	json_string(&j, "isa", s->fixed && s->fixed->isa_model[0] ? s->fixed->isa_model : NULL);
	json_end(&j);
	json_array(&j, "events");
	for (size_t i = 0; i < s->n; i++)
		json_event(&j, &s->event[i]);
	json_end(&j);
	json_cause(&j, s);
	json_array(&j, "notes");
	for (size_t i = 0; i < s->notes; i++)
		json_string(&j, NULL, s->note[i]);
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
	text_free(&line);
}

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "history/history_json.h"
#include "history/history_plot.h"
#include "output/base64_column.h"

#define WHOLE_MAX (UINT64_C(1) << 53) /* doubles represent all whole numbers up to here */

/* The key of a set: 32-bit words without padding. */
struct plot_commit {
	uint32_t name, subject; /* words */
	uint32_t time[2];       /* an int64_t */
	uint32_t depth[2];      /* separates commits of one name, outside of a repository */
	uint32_t dirty;
};

void history_plot_begin(struct history_plot *p, struct out *to)
{
	*p = (struct history_plot){ .j = { .to = to } };
	json_object(&p->j, NULL);
	json_string(&p->j, "schema", "tare/history-plot/1");
	json_array(&p->j, "series");
}

static uint32_t add_commit(struct history_plot *p, const struct history_commit *c)
{
	struct plot_commit key = { .name = words_add(&p->words, c->name, strlen(c->name)),
				   .subject = words_add(&p->words, c->subject, strlen(c->subject)),
				   .dirty = c->dirty };

	memcpy(key.time, &c->time, sizeof(key.time));
	memcpy(key.depth, &c->depth, sizeof(key.depth));
	if (key.name == WORDS_NONE || key.subject == WORDS_NONE)
		return SET_NONE;
	return set_add(&p->commits, &key, sizeof(key), sizeof(key), NULL);
}

/* ---- columns of a series ---- */

enum part { PART_VALUE, PART_LEAST, PART_MOST };

struct column {
	const struct history_values *v;
	const uint32_t *commit;
	enum part part;
};

static const struct history_number *number_at(const struct column *c, size_t i)
{
	const struct history_point *p = &c->v->point[i];

	return c->part == PART_VALUE ? &p->value : c->part == PART_LEAST ? &p->least : &p->most;
}

static uint64_t get_commit(void *with, size_t i)
{
	return ((const struct column *)with)->commit[i];
}

static uint64_t get_runs(void *with, size_t i)
{
	return ((const struct column *)with)->v->point[i].runs;
}

static uint64_t get_group(void *with, size_t i)
{
	return ((const struct column *)with)->v->point[i].group;
}

static uint64_t get_count(void *with, size_t i)
{
	return number_at(with, i)->count;
}

static double get_real(void *with, size_t i)
{
	return history_real(number_at(with, i));
}

/* With all digits: as whole numbers, as doubles, or as a JSON array if neither is enough. */
static void put_numbers(struct json *j, const char *key, const struct column *c)
{
	bool whole = true, large = false;

	for (size_t i = 0; i < c->v->n; i++) {
		const struct history_number *n = number_at(c, i);

		whole &= n->whole;
		large |= n->whole && n->count > WHOLE_MAX;
	}
	if (whole) {
		base64_uints(j, key, get_count, (void *)c, c->v->n);
	} else if (!large) {
		base64_reals(j, key, get_real, (void *)c, c->v->n);
	} else {
		json_array(j, key);
		for (size_t i = 0; i < c->v->n; i++)
			history_json_number(j, NULL, number_at(c, i));
		json_end(j);
	}
}

static bool has_spread(const struct history_values *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (!history_equal(&v->point[i].least, &v->point[i].most))
			return true;
	return false;
}

static void put_columns(struct json *j, struct column *c)
{
	json_object(j, "columns");
	base64_uints(j, "commit", get_commit, c, c->v->n);
	base64_uints(j, "conditions", get_group, c, c->v->n);
	base64_uints(j, "runs", get_runs, c, c->v->n);
	put_numbers(j, "value", c);
	if (has_spread(c->v)) {
		c->part = PART_LEAST;
		put_numbers(j, "min", c);
		c->part = PART_MOST;
		put_numbers(j, "max", c);
	}
	json_end(j);
}

/* If the counts are exact, each difference is a change; the page computes these itself. */
static void put_changes(struct json *j, const struct history_values *v)
{
	json_array(j, "changes");
	for (size_t i = 0; i < v->n; i++) {
		if (!v->point[i].change || v->group[v->point[i].group].exact)
			continue;
		json_object(j, NULL);
		json_uint(j, "at", i);
		history_json_change(j, v, &v->point[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_findings(struct json *j, const struct history_values *v,
			 const struct history_measured *found, size_t n)
{
	json_array(j, "findings");
	for (size_t i = 0; i < n; i++) {
		json_object(j, NULL);
		json_uint(j, "at", (uint64_t)(found[i].p - v->point));
		history_json_finding(j, &found[i].finding, &found[i].rows, HISTORY_ROWS);
		json_end(j);
	}
	json_end(j);
}

int history_plot_series(struct history_plot *p, const struct history_values *v,
			const struct history_measured *found, size_t n, struct tare_error *err)
{
	uint32_t *commit = calloc(v->n + 1, sizeof(*commit));
	struct column c = { .v = v, .commit = commit };
	struct json *j = &p->j;

	for (size_t i = 0; commit && i < v->n; i++) {
		commit[i] = add_commit(p, &v->point[i].commit);
		if (commit[i] == SET_NONE) {
			free(commit);
			return tare_fail_nomem(err);
		}
	}
	if (!commit)
		return tare_fail_nomem(err);
	json_object(j, NULL);
	history_json_series(j, &v->series);
	json_array(j, "conditions");
	for (size_t i = 0; i < v->groups; i++)
		history_json_group(j, &v->group[i]);
	json_end(j);
	put_columns(j, &c);
	put_changes(j, v);
	put_findings(j, v, found, n);
	json_end(j);
	free(commit);
	return j->out.failed ? tare_fail_nomem(err) : 0;
}

/* ---- commits ---- */

static const struct plot_commit *commit_at(const struct history_plot *p, size_t i)
{
	return (const struct plot_commit *)p->commits.item + i;
}

static double get_time(void *with, size_t i)
{
	int64_t time;

	memcpy(&time, commit_at(with, i)->time, sizeof(time));
	return (double)time;
}

static uint64_t get_dirty(void *with, size_t i)
{
	return commit_at(with, i)->dirty;
}

/* One string with a line for each commit: a page loads it faster than many strings. */
static bool put_lines(struct history_plot *p, const char *key, bool subjects)
{
	struct text lines = { 0 };
	bool ok;

	for (size_t i = 0; i < p->commits.n; i++) {
		const struct plot_commit *c = commit_at(p, i);
		const char *s = words_at(&p->words, subjects ? c->subject : c->name);
		size_t from = lines.len + (i != 0);

		text_add(&lines, "%s%s", i ? "\n" : "", s);
		for (size_t k = from; k < lines.len; k++)
			if (lines.s[k] == '\n')
				lines.s[k] = ' ';
	}
	ok = !lines.failed;
	json_string(&p->j, key, lines.s ? lines.s : "");
	text_free(&lines);
	return ok;
}

int history_plot_end(struct history_plot *p, struct tare_error *err)
{
	bool ok;

	json_end(&p->j);
	json_object(&p->j, "commits");
	json_uint(&p->j, "n", p->commits.n);
	ok = put_lines(p, "names", false) && put_lines(p, "subjects", true);
	base64_reals(&p->j, "times", get_time, p, p->commits.n);
	base64_uints(&p->j, "dirty", get_dirty, p, p->commits.n);
	json_end(&p->j);
	json_end(&p->j);
	ok &= !p->j.out.failed;
	json_finish(&p->j);
	set_free(&p->commits);
	words_free(&p->words);
	return ok ? 0 : tare_fail_nomem(err);
}

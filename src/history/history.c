/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/array.h"
#include "history/history.h"
#include "history/history_store.h"
#include "statistics/change_points.h"

/* ---- batches ---- */

struct history_run *history_add_run(struct history_batch *b)
{
	if (!array_reserve_zeroed(&b->run, &b->room, b->n + 1, sizeof(*b->run)))
		return NULL;
	return &b->run[b->n++];
}

struct history_result *history_add_result(struct history_run *r)
{
	if (!array_reserve_zeroed(&r->result, &r->room, r->n + 1, sizeof(*r->result)))
		return NULL;
	return &r->result[r->n++];
}

struct history_function *history_add_function(struct history_finding *f)
{
	if (!array_reserve_zeroed(&f->function, &f->room, f->n + 1, sizeof(*f->function)))
		return NULL;
	return &f->function[f->n++];
}

void history_batch_free(struct history_batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		free(b->run[i].result);
		free(b->run[i].finding.function);
	}
	free(b->run);
	arena_free(&b->strings);
	*b = (struct history_batch){ 0 };
}

void history_values_free(struct history_values *v)
{
	free(v->group);
	free(v->point);
	arena_free(&v->strings);
	*v = (struct history_values){ 0 };
}

void history_list_free(struct history_list *l)
{
	free(l->row);
	arena_free(&l->strings);
	*l = (struct history_list){ 0 };
}

/* ---- digests ---- */

/* Source: Fowler, Noll and Vo, "The FNV Non-Cryptographic Hash Algorithm", RFC 9923. */

static void put_digest(struct history_digest *d, unsigned __int128 v)
{
	memcpy(d->byte, &v, sizeof(d->byte));
}

void history_digest_begin(struct history_digest *d)
{
	put_digest(d, (unsigned __int128)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d);
}

void history_digest_add(struct history_digest *d, const void *bytes, size_t n)
{
	const unsigned __int128 prime = (unsigned __int128)1 << 88 | 0x13b;
	const unsigned char *b = bytes;
	unsigned __int128 v;

	memcpy(&v, d->byte, sizeof(v));
	for (size_t i = 0; i < n; i++)
		v = (v ^ b[i]) * prime;
	put_digest(d, v);
}

/* ---- numbers ---- */

double history_real(const struct history_number *n)
{
	return n->whole ? (double)n->count : n->real;
}

bool history_equal(const struct history_number *a, const struct history_number *b)
{
	if (a->whole && b->whole)
		return a->count == b->count;
	return history_real(a) == history_real(b);
}

struct history_number history_change(const struct history_number *before,
				     const struct history_number *after, bool *negative)
{
	struct history_number out = { .whole = before->whole && after->whole };

	if (out.whole) {
		*negative = after->count < before->count;
		out.count = *negative ? before->count - after->count : after->count - before->count;
		return out;
	}
	out.real = history_real(after) - history_real(before);
	*negative = out.real < 0;
	return out;
}

double history_percent(const struct history_point *p)
{
	double from = history_real(&p->from);

	return from != 0 ? 100 * (history_real(&p->to) - from) / fabs(from) : NAN;
}

void history_put_number(struct text *out, const struct history_number *n)
{
	char s[40];

	if (n->whole) {
		text_add(out, "%" PRIu64, n->count);
		return;
	}
	/* 20 rather than 2e+01 */
	if (fabs(n->real) < 1e15 && n->real == floor(n->real)) {
		text_add(out, "%.0f", n->real);
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(s, sizeof(s), "%.*g", digits, n->real);
		if (strtod(s, NULL) == n->real)
			break;
	}
	text_add(out, "%s", s);
}

int history_short(const char *commit)
{
	size_t n = strlen(commit);

	return n >= 40 && strspn(commit, "0123456789abcdef") == n ? 12 : (int)n;
}

void history_put_time(struct text *out, int64_t time)
{
	time_t t = (time_t)time;
	struct tm tm;
	char s[64];

	if (gmtime_r(&t, &tm) && strftime(s, sizeof(s), "%Y-%m-%dT%H:%M:%SZ", &tm))
		text_add(out, "%s", s);
	else
		text_add(out, "?");
}

/* ---- which values are comparable ---- */

static const struct {
	const char *name;
	size_t at;
} parts[] = {
	{ "the version of tare", offsetof(struct history_conditions, tare) },
	{ "the engine", offsetof(struct history_conditions, engine) },
	{ "the quality", offsetof(struct history_conditions, quality) },
	{ "the CPU model", offsetof(struct history_conditions, isa) },
	{ "the fixed items", offsetof(struct history_conditions, fixed) },
	{ "the command", offsetof(struct history_conditions, command) },
	{ "the machine", offsetof(struct history_conditions, machine) },
};

static const char *part_of(const struct history_conditions *c, size_t part)
{
	return *(const char *const *)((const char *)c + parts[part].at);
}

static const char *or_unknown(const char *s)
{
	return *s ? s : "unknown";
}

void history_put_difference(struct text *out, const struct history_conditions *a,
			    const struct history_conditions *b)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const char *x = part_of(a, i), *y = part_of(b, i);

		if (!strcmp(x, y))
			continue;
		text_add(out, "%s%s (%s; %s)", n++ ? ", " : "", parts[i].name, or_unknown(x),
			 or_unknown(y));
	}
}

/* Each difference. */
static void judge_exact(struct history_values *v, size_t group)
{
	for (size_t i = 0; i < v->n; i++) {
		struct history_point *p = &v->point[i];

		if (p->group != group || p->before < 0)
			continue;
		p->from = v->point[p->before].value;
		p->to = p->value;
		p->change = !history_equal(&p->from, &p->to);
	}
}

/* *value and *index have room for all points. */
static bool judge_noisy(struct history_values *v, size_t group, double *value, size_t *index)
{
	struct change_points c;
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (v->point[i].group != group)
			continue;
		value[n] = history_real(&v->point[i].value);
		index[n++] = i;
	}
	if (!change_points_find(&c, value, n, CHANGE_POINTS_WINDOW, CHANGE_POINTS_P, 0))
		return change_points_free(&c), false;
	for (size_t i = 0; i < c.n; i++) {
		struct history_point *p = &v->point[index[c.point[i].index]];

		p->change = true;
		p->from.real = c.point[i].before;
		p->to.real = c.point[i].after;
		p->p = c.point[i].p;
	}
	change_points_free(&c);
	return true;
}

int history_judge(struct history_values *v, struct tare_error *err)
{
	double *value = calloc(v->n + 1, sizeof(*value));
	size_t *index = calloc(v->n + 1, sizeof(*index));
	bool ok = value && index;

	for (size_t i = 0; i < v->groups; i++) {
		struct history_group *g = &v->group[i];

		g->exact = !strcmp(g->conditions.quality, "exact");
		g->last = -1;
	}
	for (size_t i = 0; i < v->n; i++) {
		struct history_point *p = &v->point[i];
		struct history_group *g = &v->group[p->group];

		p->unlike = i && v->point[i - 1].group != p->group;
		p->before = g->last;
		g->last = (ssize_t)i;
		g->exact &= history_equal(&p->least, &p->most);
	}
	for (size_t i = 0; ok && i < v->groups; i++)
		if (v->group[i].exact)
			judge_exact(v, i);
		else
			ok = judge_noisy(v, i, value, index);
	free(value);
	free(index);
	return ok ? 0 : tare_fail_nomem(err);
}

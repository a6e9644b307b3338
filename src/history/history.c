/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/array.h"
#include "history/history.h"
#include "history/history_store.h"

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

void history_batch_free(struct history_batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->run[i].result);
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

void history_judge(struct history_values *v)
{
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
	for (size_t i = 0; i < v->n; i++) {
		struct history_point *p = &v->point[i];

		p->change = v->group[p->group].exact && p->before >= 0 &&
			!history_equal(&v->point[p->before].value, &p->value);
	}
}

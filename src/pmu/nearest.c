/* SPDX-License-Identifier: MIT */
/*
 * Suggestions for an unknown name. Reads the event names of all PMUs, as the command fails anyway.
 */
#include <stdlib.h>
#include <string.h>
#include "pmu/exact_events.h"
#include "pmu/encode.h"

enum { POOL_MAX = 20000 };

struct pool {
	char **name;
	size_t n;
};

static void add_name(struct pool *p, const char *name)
{
	if (p->n < POOL_MAX && (p->name[p->n] = strdup(name)))
		p->n++;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort, each name once: several PMUs may have events of the same name. */
static void sort_once(struct pool *p)
{
	size_t kept = 0;

	if (p->n)
		qsort(p->name, p->n, sizeof(*p->name), by_text);
	for (size_t i = 0; i < p->n; i++)
		if (kept && !strcmp(p->name[kept - 1], p->name[i]))
			free(p->name[i]);
		else
			p->name[kept++] = p->name[i];
	p->n = kept;
}

void encoder_nearest(struct encoder *e, const char *name)
{
	struct pool pool = { .name = calloc(POOL_MAX, sizeof(*pool.name)) };
	struct text near = { 0 };
	struct generic_name g;
	const char *const *devices;
	const char *alias;
	char room[GENERIC_ROOM];
	const char *exact = NULL;
	size_t n;

	for (size_t i = 0; i < EXACT_EVENTS; i++)
		if (!strcmp(exact_events[i].name, name))
			exact = name;
	if (!pool.name)
		return;
	for (size_t i = 0; generic_nth(i, &g, room); i++)
		add_name(&pool, g.name);
	for (size_t i = 0; (alias = generic_alias(i)); i++)
		add_name(&pool, alias);
	if (machine_devices(e->m, &devices, &n, NULL) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct pmu *pmu;
		char **events;
		size_t n_events;

		if (machine_pmu(e->m, devices[i], &pmu, NULL) < 0 ||
		    machine_names(e->m, pmu, "events", &events, &n_events, NULL) < 0)
			continue;
		for (size_t k = 0; k < n_events; k++)
			add_name(&pool, events[k]);
		names_free(events, n_events);
	}
	sort_once(&pool);
	text_nearest(&near, name, (const char *const *)pool.name, pool.n, 3);
	if (!strcmp(name, "wall-time"))
		tare_hint(
			e->err,
			"tare regions records a counter of that name; the clock among the events is duration_time");
	else if (exact)
		tare_hint(e->err, "the exact engine counts it: use exact/%s/", exact);
	else if (near.len)
		tare_hint(e->err, "did you mean %.160s? 'tare events WORD' searches", near.s);
	else
		tare_hint(e->err, "'tare events WORD' searches the names this machine knows");
	text_free(&near);
	names_free(pool.name, pool.n);
}

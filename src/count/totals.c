/* SPDX-License-Identifier: MIT */
/*
 * Sums of readings. A cell has the latest and the previous reading of one event in one place; a sum
 * is over the cells of one key. The readings of every instant come in the same order, so a cell is
 * found without a search.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "count/totals.h"
#include "base/set.h"

struct cell {
	struct cell_key {
		unsigned event;
		int cpu;
		pid_t thread;
		unsigned part;
	} key;
	size_t row;
	struct tare_reading now, before;
	unsigned without; /* number of missing processes, of `now` */
	bool fresh;       /* read since the run began */
};

/* The key of a row, in whole words. */
struct row_key {
	unsigned event;
	int cpu, node, socket, die, core, thread;
	unsigned part, cgroup; /* index in tally.cgroup + 1; 0: none */
};

struct totals {
	const struct summary_options *opt;
	struct totals_row *row;
	size_t rows, row_room;
	struct set row_keys; /* of struct row_key, numbered as `row` */
	const char **cgroup;
	size_t cgroups, cgroup_room;
	struct set cells; /* of struct cell, by its key */
	/* the cell of the next reading, if readings come in the same order as before */
	size_t cursor;
	struct set numbered; /* of struct numbered, by `who` */
	struct set numbers;  /* the numbers already assigned */
	uint32_t highest;
};

/* A part of the command, with its number in the first run that had it, or the next free number. */
struct numbered {
	uint64_t who;
	uint32_t number, pad;
};

struct totals *totals_new(const struct summary_options *opt)
{
	struct totals *t = calloc(1, sizeof(*t));

	if (t)
		t->opt = opt;
	return t;
}

void totals_free(struct totals *t)
{
	if (!t)
		return;
	free(t->row);
	free(t->cgroup);
	set_free(&t->row_keys);
	set_free(&t->cells);
	set_free(&t->numbered);
	set_free(&t->numbers);
	free(t);
}

const struct totals_row *totals_rows(const struct totals *t, size_t *n)
{
	*n = t->rows;
	return t->row;
}

/* ---- keys ---- */

int stat_key_order(const struct stat_key *a, const struct stat_key *b)
{
	const int x[] = { a->at.cpu,  a->at.node, a->at.socket, a->at.die,
			  a->at.core, a->thread,  (int)a->part };
	const int y[] = { b->at.cpu,  b->at.node, b->at.socket, b->at.die,
			  b->at.core, b->thread,  (int)b->part };

	for (size_t i = 0; i < ARRAY_SIZE(x); i++)
		if (x[i] != y[i])
			return x[i] > y[i] ? 1 : -1;
	return 0;
}

/* 0: out of memory, or not a part. */
static uint32_t number_of(struct totals *t, const struct fact_place *p)
{
	struct numbered new = { p->who, p->part, 0 }, *it;
	bool fresh = false;
	uint32_t i;

	if (!p->part || !p->who)
		return p->part;
	i = set_add(&t->numbered, &new, sizeof(new), sizeof(new.who), &fresh);
	if (i == SET_NONE)
		return 0;
	it = (struct numbered *)t->numbered.item + i;
	if (!fresh)
		return it->number;
	if (set_find(&t->numbers, &it->number, sizeof(it->number), sizeof(it->number)) != SET_NONE)
		it->number = t->highest + 1;
	if (it->number > t->highest)
		t->highest = it->number;
	return set_add(&t->numbers, &it->number, sizeof(it->number), sizeof(it->number), NULL) ==
			SET_NONE
		? 0
		: it->number;
}

static struct stat_key key_of(const struct totals *t, const struct fact_place *p, uint32_t part)
{
	struct stat_key k = { .at = { -1, -1, -1, -1, -1 }, .thread = -1, .cgroup = p->cgroup };
	struct cpu_place at = { p->cpu, -1, -1, -1, -1 };

	if (p->cpu >= 0 && (size_t)p->cpu < t->opt->n_cpu)
		at = t->opt->cpu[p->cpu];
	switch (t->opt->by) {
	case BY_ALL:
		break;
	case BY_CPU:
		k.at = at;
		break;
	case BY_CORE:
		k.at = at;
		k.at.cpu = -1;
		break;
	case BY_DIE:
		k.at.die = at.die;
		k.at.socket = at.socket;
		break;
	case BY_SOCKET:
		k.at.socket = at.socket;
		break;
	case BY_NODE:
		k.at.node = at.node;
		break;
	case BY_PROCESS:
	case BY_THREAD:
		k.thread = t->opt->by == BY_THREAD ? p->thread : -1;
		k.part = part;
		if (p->comm)
			snprintf(k.comm, sizeof(k.comm), "%s", p->comm);
		break;
	}
	return k;
}

static bool same_cgroup(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Its index + 1; 0: none. There are as many as the user named. SET_NONE: out of memory. */
static unsigned cgroup_number(struct totals *t, const char *name)
{
	size_t i = 0;

	if (!name)
		return 0;
	while (i < t->cgroups && !same_cgroup(t->cgroup[i], name))
		i++;
	if (i == t->cgroups &&
	    !array_reserve(&t->cgroup, &t->cgroup_room, t->cgroups + 1, sizeof(*t->cgroup)))
		return SET_NONE;
	if (i == t->cgroups)
		t->cgroup[t->cgroups++] = name;
	return (unsigned)i + 1;
}

/* The number of the event's row with that key, added if new. SET_NONE: out of memory. */
static uint32_t row_of(struct totals *t, unsigned event, const struct stat_key *k)
{
	struct row_key key = { event,        k->at.cpu, k->at.node,
			       k->at.socket, k->at.die, k->at.core,
			       k->thread,    k->part,   cgroup_number(t, k->cgroup) };
	bool fresh = false;
	uint32_t row;

	if (key.cgroup == SET_NONE ||
	    !array_reserve(&t->row, &t->row_room, t->rows + 1, sizeof(*t->row)))
		return SET_NONE;
	row = set_add(&t->row_keys, &key, sizeof(key), sizeof(key), &fresh);
	if (fresh)
		t->row[t->rows++] = (struct totals_row){ .event = event, .key = *k };
	return row;
}

static struct cell *cell_at(const struct totals *t, size_t i)
{
	return (struct cell *)t->cells.item + i;
}

static struct cell *find_cell(struct totals *t, const struct fact_reading *f)
{
	uint32_t part = number_of(t, &f->place), i;
	struct cell new = { .key = { f->event, f->place.cpu, f->place.thread, part } };
	struct stat_key key;

	if (f->place.part && !part)
		return NULL;
	if (t->cursor >= t->cells.n)
		t->cursor = 0;
	if (t->cells.n && !memcmp(&cell_at(t, t->cursor)->key, &new.key, sizeof(new.key)))
		return cell_at(t, t->cursor++);
	i = set_find(&t->cells, &new, sizeof(new), sizeof(new.key));
	if (i == SET_NONE) {
		key = key_of(t, &f->place, part);
		new.row = row_of(t, f->event, &key);
		i = new.row == SET_NONE
			? SET_NONE
			: set_add(&t->cells, &new, sizeof(new), sizeof(new.key), NULL);
	}
	if (i == SET_NONE)
		return NULL;
	t->cursor = (size_t)i + 1;
	return cell_at(t, i);
}

int totals_reading(struct totals *t, const struct fact_reading *f)
{
	struct cell *c = find_cell(t, f);

	if (!c)
		return -ENOMEM;
	c->now = f->value;
	c->fresh = true;
	c->without = f->without;
	if (f->why && (f->value.quality == TARE_UNAVAILABLE || f->without))
		snprintf(t->row[c->row].why, sizeof(t->row[c->row].why), "%s", f->why);
	return 0;
}

void totals_begin(struct totals *t)
{
	for (size_t i = 0; i < t->cells.n; i++) {
		struct cell *c = cell_at(t, i);

		c->now = c->before = (struct tare_reading){ 0 };
		c->fresh = false;
		c->without = 0;
	}
	t->cursor = 0;
}

void totals_next(struct totals *t)
{
	for (size_t i = 0; i < t->cells.n; i++)
		cell_at(t, i)->before = cell_at(t, i)->now;
}

/* ---- sums ---- */

static uint64_t estimate(uint64_t raw, uint64_t part, uint64_t whole)
{
	return part ? (uint64_t)(((unsigned __int128)raw * whole + part / 2) / part) : raw;
}

void amount_limits(struct amount *a)
{
	uint64_t off = a->value > a->raw ? a->value - a->raw : 0;

	a->low = a->raw + off / 2;
	if (a->raw > a->value)
		a->low = a->value;
	if (__builtin_add_overflow(a->value, off, &a->high))
		a->high = UINT64_MAX;
}

struct sum {
	uint64_t value, raw, enabled, running,
		never; /* never: enabled time of places that never counted */
	enum tare_quality quality;
	unsigned places, without;
};

static void add_cell(struct sum *sum, const struct cell *c, bool difference, bool level)
{
	struct tare_reading r = c->now;
	bool counted = c->fresh && r.quality != TARE_UNAVAILABLE;

	if (difference) {
		if (!level)
			r.raw -= r.raw < c->before.raw ? r.raw : c->before.raw;
		r.enabled_ns -= r.enabled_ns < c->before.enabled_ns ? r.enabled_ns
								    : c->before.enabled_ns;
		r.running_ns -= r.running_ns < c->before.running_ns ? r.running_ns
								    : c->before.running_ns;
	}
	sum->places++;
	sum->enabled += r.enabled_ns;
	if (!counted || (r.enabled_ns && !r.running_ns)) {
		sum->never += r.enabled_ns;
		return;
	}
	if (c->without > sum->without)
		sum->without = c->without;
	sum->running += r.running_ns;
	sum->raw += r.raw;
	sum->value += estimate(r.raw, r.running_ns, r.enabled_ns);
	if (r.quality < sum->quality && r.quality != TARE_SCALED)
		sum->quality = r.quality;
}

static struct amount amount_of(const struct sum *sum)
{
	struct amount a = { .raw = sum->raw,
			    .enabled_ns = sum->enabled,
			    .running_ns = sum->running,
			    .places = sum->places,
			    .without = sum->without,
			    .quality = sum->quality };

	if (!sum->running) {
		a.raw = 0;
		a.quality = TARE_UNAVAILABLE;
		return a;
	}
	a.value = estimate(sum->value, sum->enabled - sum->never, sum->enabled);
	if (sum->running < sum->enabled)
		a.quality = TARE_SCALED;
	amount_limits(&a);
	return a;
}

/*
 * A task on a hybrid machine is counted by the PMU of its current type of core. If the times on all
 * types add up to the whole, nothing was multiplexed: each count is complete, and its share is the
 * time on that type. Otherwise the missing time was multiplexed, on all types equally.
 */
static void settle_core_types(struct totals *t, const struct encoding *enc, struct amount *a)
{
	for (size_t i = 0; i < t->rows; i++) {
		const struct encoding *e = &enc[t->row[i].event];
		uint64_t together = 0;

		if (e->place != PLACE_CORE || a[i].quality != TARE_SCALED)
			continue;
		for (size_t k = 0; k < t->rows; k++) {
			const struct encoding *o = &enc[t->row[k].event];

			if (o->place == PLACE_CORE && o->event == e->event &&
			    (k == i || strcmp(o->pmu, e->pmu)) &&
			    !stat_key_order(&t->row[k].key, &t->row[i].key) &&
			    same_cgroup(t->row[k].key.cgroup, t->row[i].key.cgroup))
				together += a[k].running_ns;
		}
		t->row[i].of_core_type = true;
		a[i].value = a[i].raw;
		/*
		 * The kernel reads its two clocks at slightly different times: half a percent is
		 * not multiplexing.
		 */
		if (together >= a[i].enabled_ns - a[i].enabled_ns / 200)
			a[i].quality = TARE_COUNTED;
		else
			a[i].value = estimate(a[i].raw, together, a[i].enabled_ns);
		amount_limits(&a[i]);
	}
}

int totals_sums(struct totals *t, const struct encoding *enc, bool difference, struct amount *out)
{
	struct sum *sum = calloc(t->rows + 1, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	for (size_t i = 0; i < t->rows; i++)
		sum[i].quality = TARE_EXACT;
	for (size_t i = 0; i < t->cells.n; i++)
		add_cell(&sum[cell_at(t, i)->row], cell_at(t, i), difference,
			 enc[cell_at(t, i)->key.event].snapshot);
	for (size_t i = 0; i < t->rows; i++)
		out[i] = amount_of(&sum[i]);
	free(sum);
	settle_core_types(t, enc, out);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Readings -> sums. A cell holds the latest and the previous reading of one event in one place; a
 * sum is over the cells of one key. Readings of every instant come in the same order, so a cell is
 * found at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/tally.h"
#include "base/set.h"

struct cell {
	unsigned event;
	int cpu;
	pid_t thread;
	unsigned part;
	size_t row;
	struct tare_reading now, before;
	unsigned without; /* processes, of `now` */
	bool fresh; /* read since the run began */
};

struct tally {
	const struct summary_options *opt;
	struct tally_row *row;
	size_t rows, row_room;
	struct cell *cell;
	size_t cells, cell_room, cursor;
	struct set numbered; /* of struct numbered, by `who` */
	struct set numbers;  /* that are given */
	uint32_t highest;
};

/* A part of the command, by the number that it had in the first run that had it, or the next one where that is another's. */
struct numbered {
	uint64_t who;
	uint32_t number, pad;
};

struct tally *tally_new(const struct summary_options *opt)
{
	struct tally *t = calloc(1, sizeof(*t));

	if (t)
		t->opt = opt;
	return t;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	free(t->row);
	free(t->cell);
	set_free(&t->numbered);
	set_free(&t->numbers);
	free(t);
}

const struct tally_row *tally_rows(const struct tally *t, size_t *n)
{
	*n = t->rows;
	return t->row;
}

/* Room for one more of `size` bytes in an array that doubles. */
static bool reserve(void *array, size_t n, size_t *room, size_t size)
{
	void **at = array;

	if (n < *room)
		return true;

	size_t more = *room ? *room * 2 : 16;
	void *grown = realloc(*at, more * size);

	if (!grown)
		return false;
	*at = grown;
	*room = more;
	return true;
}

/* ---- keys ---- */

int stat_key_order(const struct stat_key *a, const struct stat_key *b)
{
	const int x[] = { a->at.cpu, a->at.node, a->at.socket, a->at.die, a->at.core, a->thread,
			  (int)a->part };
	const int y[] = { b->at.cpu, b->at.node, b->at.socket, b->at.die, b->at.core, b->thread,
			  (int)b->part };

	for (size_t i = 0; i < ARRAY_SIZE(x); i++)
		if (x[i] != y[i])
			return x[i] > y[i] ? 1 : -1;
	return 0;
}

/* 0: out of memory, or no part. */
static uint32_t number_of(struct tally *t, const struct fact_place *p)
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
	return set_add(&t->numbers, &it->number, sizeof(it->number), sizeof(it->number), NULL) == SET_NONE ? 0 : it->number;
}

static struct stat_key key_of(const struct tally *t, const struct fact_place *p, uint32_t part)
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

static bool same_row(const struct tally_row *r, unsigned event, const struct stat_key *k)
{
	return r->event == event && !stat_key_order(&r->key, k) &&
	       (r->key.cgroup == k->cgroup ||
		(r->key.cgroup && k->cgroup && !strcmp(r->key.cgroup, k->cgroup)));
}

static struct cell *find_cell(struct tally *t, const struct fact_reading *f)
{
	uint32_t part = number_of(t, &f->place);

	if (f->place.part && !part)
		return NULL;
	for (size_t i = 0; i < t->cells; i++) {
		struct cell *c = &t->cell[(t->cursor + i) % t->cells];

		if (c->event == f->event && c->cpu == f->place.cpu &&
		    c->thread == f->place.thread && c->part == part) {
			t->cursor = (size_t)(c - t->cell) + 1;
			return c;
		}
	}

	struct stat_key key = key_of(t, &f->place, part);
	size_t row = 0;

	if (!reserve(&t->cell, t->cells, &t->cell_room, sizeof(*t->cell)) ||
	    !reserve(&t->row, t->rows, &t->row_room, sizeof(*t->row)))
		return NULL;
	while (row < t->rows && !same_row(&t->row[row], f->event, &key))
		row++;
	if (row == t->rows)
		t->row[t->rows++] = (struct tally_row){ .event = f->event, .key = key };
	t->cell[t->cells] = (struct cell){
		.event = f->event, .cpu = f->place.cpu, .thread = f->place.thread, .part = part, .row = row
	};
	t->cursor = t->cells + 1;
	return &t->cell[t->cells++];
}

int tally_reading(struct tally *t, const struct fact_reading *f)
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

void tally_begin(struct tally *t)
{
	for (size_t i = 0; i < t->cells; i++) {
		t->cell[i].now = t->cell[i].before = (struct tare_reading){ 0 };
		t->cell[i].fresh = false;
		t->cell[i].without = 0;
	}
	t->cursor = 0;
}

void tally_next(struct tally *t)
{
	for (size_t i = 0; i < t->cells; i++)
		t->cell[i].before = t->cell[i].now;
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
		r.enabled_ns -=
		    r.enabled_ns < c->before.enabled_ns ? r.enabled_ns : c->before.enabled_ns;
		r.running_ns -=
		    r.running_ns < c->before.running_ns ? r.running_ns : c->before.running_ns;
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
 * A task on a hybrid machine is counted by one PMU or the other as it moves. Where the times on all
 * types add up to the whole, nothing was multiplexed: each count is what it is, and its share is
 * time spent on that type. Where they do not, what is missing was multiplexed away on all of them
 * alike.
 */
static void settle_core_types(struct tally *t, const struct encoding *enc, struct amount *a)
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
			    same_row(&t->row[k], t->row[k].event, &t->row[i].key))
				together += a[k].running_ns;
		}
		t->row[i].of_core_type = true;
		a[i].value = a[i].raw;
		/* The kernel's two clocks are read a little apart: half a percent is no
		 * multiplexing. */
		if (together >= a[i].enabled_ns - a[i].enabled_ns / 200)
			a[i].quality = TARE_COUNTED;
		else
			a[i].value = estimate(a[i].raw, together, a[i].enabled_ns);
		amount_limits(&a[i]);
	}
}

int tally_sums(struct tally *t, const struct encoding *enc, bool difference, struct amount *out)
{
	struct sum *sum = calloc(t->rows + 1, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	for (size_t i = 0; i < t->rows; i++)
		sum[i].quality = TARE_EXACT;
	for (size_t i = 0; i < t->cells; i++)
		add_cell(&sum[t->cell[i].row], &t->cell[i], difference,
			 enc[t->cell[i].event].snapshot);
	for (size_t i = 0; i < t->rows; i++)
		out[i] = amount_of(&sum[i]);
	free(sum);
	settle_core_types(t, enc, out);
	return 0;
}

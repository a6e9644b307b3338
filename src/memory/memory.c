/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "memory/memory.h"

enum {
	ROWS_MAX = 1 << 19,
	SHARES_MAX = 1 << 21,  /* additional objects of a page, as pairs of page and object */
	OTHERS = SET_NONE - 1, /* not the number of a row */
	TOLD = 1,              /* added to values that may be unknown, in a key */
	/* accesses processed together: more than a processor has outstanding cache misses */
	BATCH = 32,
};

struct batch {
	struct tare_access access[BATCH];
	size_t n;
};

static const char *const by_names[] = { "line",  "function", "instruction", "symbol", "page",
					"level", "tlb",      "node",        "thread" };
static const char *const sort_names[] = { "",      "samples", "weight", "latency", "p50",     "p99",
					  "loads", "stores",  "misses", "remote",  "modified" };

const char *memory_by_name(enum memory_by by)
{
	return by_names[by];
}

const char *memory_sort_name(enum memory_sort sort)
{
	return sort_names[sort];
}

static bool of_code(enum memory_by by)
{
	return by == MEMORY_BY_LINE || by == MEMORY_BY_FUNCTION || by == MEMORY_BY_INSTRUCTION;
}

/* ---- rows ---- */

static bool add_latencies(struct memory_row *r, const struct tare_access *a)
{
	for (uint32_t left = a->has_latency; left; left &= left - 1) {
		int i = __builtin_ctz(left);

		if (!r->latency[i])
			r->latency[i] = calloc(1, sizeof(*r->latency[i]));
		if (!r->latency[i] || !distribution_add(&r->latency[i]->d, a->latency[i]))
			return false;
		r->latency[i]->sum += a->latency[i];
	}
	return true;
}

static bool add_to_row(struct memory_row *r, const struct tare_access *a)
{
	r->samples++;
	r->weight += a->has & TARE_ACCESS_PERIOD ? a->period : 0;
	r->loads += a->kind == TARE_ACCESS_LOAD;
	r->stores += a->kind == TARE_ACCESS_STORE;
	r->updates += a->kind == TARE_ACCESS_UPDATE;
	r->prefetches += a->kind == TARE_ACCESS_PREFETCH;
	r->locked += a->has & TARE_ACCESS_LOCKED && a->locked;
	if (a->has & TARE_ACCESS_PLACE) {
		r->placed++;
		r->place[a->place]++;
	}
	if (a->has & TARE_ACCESS_DISTANCE) {
		r->distanced++;
		r->distance[a->distance]++;
	}
	if (a->has & TARE_ACCESS_SNOOP) {
		r->snooped++;
		r->snoop[a->snoop]++;
	}
	if (a->has & TARE_ACCESS_TLB) {
		r->translated++;
		r->tlb[a->tlb]++;
	}
	return !a->has_latency || add_latencies(r, a);
}

static void free_latencies(struct memory_row *r)
{
	for (int i = 0; i < TARE_LATENCIES; i++)
		if (r->latency[i]) {
			distribution_free(&r->latency[i]->d);
			free(r->latency[i]);
			r->latency[i] = NULL;
		}
}

/* Adds `from` to `r` and frees its latencies. */
static bool merge(struct memory_row *r, struct memory_row *from)
{
	/* the members from samples to tlb are all counters */
	enum {
		FIRST = offsetof(struct memory_row, samples),
		COUNTS = (offsetof(struct memory_row, latency) - FIRST) / sizeof(uint64_t)
	};
	uint64_t to[COUNTS], add[COUNTS];
	bool ok = true;

	memcpy(to, (char *)r + FIRST, sizeof(to));
	memcpy(add, (char *)from + FIRST, sizeof(add));
	for (size_t i = 0; i < COUNTS; i++)
		to[i] += add[i];
	memcpy((char *)r + FIRST, to, sizeof(to));
	for (int i = 0; i < TARE_LATENCIES; i++) {
		if (!from->latency[i])
			continue;
		if (!r->latency[i]) {
			r->latency[i] = from->latency[i];
			from->latency[i] = NULL;
			continue;
		}
		r->latency[i]->sum += from->latency[i]->sum;
		ok &= distribution_merge(&r->latency[i]->d, &from->latency[i]->d);
	}
	free_latencies(from);
	return ok;
}

/* ---- keys ---- */

static void key_of_code(struct memory *m, const struct tare_access *a, struct memory_what *w)
{
	w->code = memory_samples_code(m->of, a);
	w->key[0] = w->code.module;
	w->key[1] = w->code.kernel;
	w->key[2] = (uint32_t)w->code.offset;
	w->key[3] = (uint32_t)(w->code.offset >> 32);
}

static uint32_t object_of(struct memory *m, const struct tare_access *a)
{
	return memory_samples_object(m->of, a->has & TARE_ACCESS_TASK ? a->pid : 0,
				     a->has & TARE_ACCESS_TIME ? a->time_ns : UINT64_MAX,
				     a->address, NULL);
}

/* The key of an access. False: out of memory. */
static bool key_of(struct memory *m, enum memory_by by, const struct tare_access *a,
		   struct memory_what *w)
{
	bool has_address = a->has & TARE_ACCESS_ADDRESS;

	*w = (struct memory_what){ .object = SET_NONE,
				   .cpu_node = -1,
				   .memory_node = -1,
				   .place = -1,
				   .distance = -1,
				   .tlb = -1 };
	switch (by) {
	case MEMORY_BY_LINE:
	case MEMORY_BY_FUNCTION:
	case MEMORY_BY_INSTRUCTION:
		key_of_code(m, a, w);
		return true;
	case MEMORY_BY_SYMBOL:
		if (has_address)
			w->object = w->key[0] = object_of(m, a);
		w->key[1] = has_address;
		return !has_address || w->object != SET_NONE;
	case MEMORY_BY_PAGE:
		w->key[3] = has_address;
		if (!has_address)
			return true;
		w->address = a->address & ~(uint64_t)(MEMORY_PAGE - 1);
		w->pid = a->address >> 63 || !(a->has & TARE_ACCESS_TASK) ? 0 : a->pid;
		w->key[0] = w->pid;
		w->key[1] = (uint32_t)(w->address >> 12);
		w->key[2] = (uint32_t)(w->address >> 44);
		return true;
	case MEMORY_BY_LEVEL:
		w->place = a->has & TARE_ACCESS_PLACE ? (int8_t)a->place : -1;
		w->distance = a->has & TARE_ACCESS_DISTANCE ? (int8_t)a->distance : -1;
		w->key[0] = (uint32_t)(w->place + TOLD);
		w->key[1] = (uint32_t)(w->distance + TOLD);
		return true;
	case MEMORY_BY_TLB:
		w->tlb = a->has & TARE_ACCESS_TLB ? (int8_t)a->tlb : -1;
		w->key[0] = (uint32_t)(w->tlb + TOLD);
		return true;
	case MEMORY_BY_NODE:
		w->cpu_node = a->has & TARE_ACCESS_CPU ? memory_samples_node_of_cpu(m->of, a->cpu)
						       : -1;
		w->memory_node = a->has & TARE_ACCESS_PHYSICAL
			? memory_samples_node_of_memory(m->of, a->physical)
			: -1;
		w->distance = a->has & TARE_ACCESS_DISTANCE ? (int8_t)a->distance : -1;
		w->key[0] = (uint32_t)(w->cpu_node + TOLD);
		w->key[1] = (uint32_t)(w->memory_node + TOLD);
		w->key[2] = (uint32_t)(w->distance + TOLD);
		return true;
	case MEMORY_BY_THREAD:
		w->key[2] = (a->has & TARE_ACCESS_TASK) != 0;
		if (w->key[2]) {
			w->key[0] = w->pid = a->pid;
			w->key[1] = w->tid = a->tid;
		}
		return true;
	case MEMORY_BYS:
		break;
	}
	return false;
}

/*
 * The row of an access, created if needed; OTHERS if there is no room for more. SET_NONE: out of
 * memory.
 */
static uint32_t row_of(struct memory_table *t, const struct memory_what *w, uint32_t rows_max)
{
	const struct memory_row fresh = { .is = *w };
	uint32_t at = set_find(&t->rows, w, sizeof(struct memory_row), sizeof(w->key));

	if (at != SET_NONE)
		return at;
	if (t->rows.n < rows_max)
		return set_add(&t->rows, &fresh, sizeof(fresh), sizeof(fresh.is.key), NULL);
	t->unkept++;
	return OTHERS;
}

static struct memory_row *row_at(struct memory_table *t, uint32_t at)
{
	return at == OTHERS ? &t->others : (struct memory_row *)t->rows.item + at;
}

/*
 * Counts the objects accessed in a page. The first is stored in the row, which is enough for most
 * pages. False: out of memory.
 */
struct share {
	uint32_t row, object;
	uint64_t samples;
};

enum { NOT_ALL_KEPT = UINT32_MAX }; /* for memory_what.objects, while pages are added up */

static bool add_object(struct memory *m, struct memory_table *t, uint32_t at,
		       const struct tare_access *a)
{
	struct memory_what *page = at == OTHERS || !(a->has & TARE_ACCESS_ADDRESS)
		? NULL
		: &row_at(t, at)->is;
	struct share share = { .row = at };
	uint32_t kept;

	if (!page)
		return true;
	share.object = object_of(m, a);
	if (page->object == SET_NONE)
		page->object = share.object;
	if (page->object == share.object) {
		page->object_samples++;
		return share.object != SET_NONE;
	}
	if (t->shares.n >= SHARES_MAX &&
	    set_find(&t->shares, &share, sizeof(share), offsetof(struct share, samples)) ==
		    SET_NONE) {
		page->objects = NOT_ALL_KEPT;
		return true;
	}
	kept = share.object == SET_NONE
		? SET_NONE
		: set_add(&t->shares, &share, sizeof(share), offsetof(struct share, samples), NULL);
	if (kept != SET_NONE)
		((struct share *)t->shares.item)[kept].samples++;
	return kept != SET_NONE;
}

/* A page is named by the object with most of its samples; it has no name if that is not known. */
static void name_pages(struct memory_table *t)
{
	struct memory_row *r = t->rows.item;

	for (size_t i = 0; i < t->rows.n; i++)
		if (r[i].is.objects == NOT_ALL_KEPT)
			r[i].is.object = SET_NONE, r[i].is.objects = 0;
		else
			r[i].is.objects = r[i].is.object != SET_NONE;
	for (size_t i = 0; i < t->shares.n; i++) {
		const struct share *s = (struct share *)t->shares.item + i;
		struct memory_what *page = &r[s->row].is;

		if (!page->objects)
			continue;
		page->objects++;
		if (s->samples > page->object_samples) {
			page->object = s->object;
			page->object_samples = s->samples;
		}
	}
	set_free(&t->shares);
}

static void prefetch(const void *what, size_t n)
{
	enum { LINE = 64 };

	for (size_t i = 0; i < n; i += LINE)
		__builtin_prefetch((const char *)what + i, 1);
}

/*
 * In a table by page hardly any row is in a cache at its next access. Each step prefetches what the
 * next step reads, for the whole batch, so that the cache misses overlap.
 */
static bool add_to_table(struct memory *m, struct memory_table *t, const struct batch *b,
			 uint32_t rows_max)
{
	struct memory_what w[BATCH];
	uint32_t at[BATCH];

	for (size_t i = 0; i < b->n; i++) {
		if (!key_of(m, t->by, &b->access[i], &w[i]))
			return false;
		set_coming(&t->rows, &w[i], sizeof(w[i].key));
	}
	for (size_t i = 0; i < b->n; i++)
		set_close(&t->rows, &w[i], sizeof(struct memory_row), sizeof(w[i].key));
	for (size_t i = 0; i < b->n; i++) {
		at[i] = row_of(t, &w[i], rows_max);
		if (at[i] == SET_NONE ||
		    (t->by == MEMORY_BY_PAGE && !add_object(m, t, at[i], &b->access[i])))
			return false;
		prefetch(&row_at(t, at[i])->samples,
			 sizeof(struct memory_row) - offsetof(struct memory_row, samples));
	}
	for (size_t i = 0; i < b->n; i++)
		for (uint32_t left = b->access[i].has_latency; left; left &= left - 1) {
			const struct memory_latency *l = row_at(t, at[i])
								 ->latency[__builtin_ctz(left)];

			if (l)
				prefetch(l, sizeof(*l));
		}
	for (size_t i = 0; i < b->n; i++)
		for (uint32_t left = b->access[i].has_latency; left; left &= left - 1) {
			const struct memory_latency *l = row_at(t, at[i])
								 ->latency[__builtin_ctz(left)];

			if (l)
				distribution_coming(&l->d);
		}
	for (size_t i = 0; i < b->n; i++)
		if (!add_to_row(row_at(t, at[i]), &b->access[i]))
			return false;
	return true;
}

static int add_batch(struct memory *m, struct batch *b, uint32_t rows_max, struct tare_error *err)
{
	bool ok = true;

	for (size_t i = 0; ok && i < m->tables; i++)
		ok = add_to_table(m, &m->table[i], b, rows_max);
	for (size_t i = 0; ok && i < b->n; i++)
		ok = add_to_row(&m->total, &b->access[i]);
	b->n = 0;
	return ok ? 0 : tare_fail_nomem(err);
}

/* Does it access memory? */
static bool counts(struct memory *m, const struct tare_access *a)
{
	if (a->kind != TARE_ACCESS_LOAD && a->kind != TARE_ACCESS_STORE &&
	    a->kind != TARE_ACCESS_UPDATE && a->kind != TARE_ACCESS_PREFETCH) {
		m->no_accesses++;
		return false;
	}
	m->origins |= 1u << a->origin;
	m->without_address += !(a->has & TARE_ACCESS_ADDRESS);
	m->kernel_addresses += a->has & TARE_ACCESS_ADDRESS && a->address >> 63;
	if (a->has & TARE_ACCESS_TIME) {
		if (!m->first_ns || a->time_ns < m->first_ns)
			m->first_ns = a->time_ns;
		if (a->time_ns > m->last_ns)
			m->last_ns = a->time_ns;
	}
	return true;
}

/* ---- names: rows of one function or line are merged ---- */

static int name_rows(struct memory *m, struct memory_table *t, struct tare_error *err)
{
	struct memory_row *r = t->rows.item;
	size_t n = t->rows.n;
	struct memory_samples_code *code = calloc(n ? n : 1, sizeof(*code));
	struct memory_samples_name *name = calloc(n ? n : 1, sizeof(*name));
	uint64_t *samples = calloc(n ? n : 1, sizeof(*samples));
	struct set merged = { 0 };
	int ret = code && name && samples ? 0 : tare_fail_nomem(err);

	for (size_t i = 0; ret == 0 && i < n; i++) {
		code[i] = r[i].is.code;
		samples[i] = r[i].samples;
	}
	if (ret == 0)
		ret = memory_samples_name(m->of, code, samples, n, name, err);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		struct memory_row row = r[i];
		bool fresh;
		uint32_t at;

		row.is.name = name[i];
		if (t->by == MEMORY_BY_LINE && name[i].file) {
			row.is.key[0] = name[i].file;
			row.is.key[1] = name[i].line;
			row.is.key[2] = name[i].function;
			row.is.key[3] = name[i].module;
		} else if (
			t->by !=
			MEMORY_BY_INSTRUCTION) { /* an unknown line is replaced by its function */
			row.is.key[0] = UINT32_MAX;
			row.is.key[1] = name[i].function;
			row.is.key[2] = name[i].module;
			row.is.key[3] = row.is.code.kernel;
			row.is.name.file = row.is.name.line = 0;
		}
		at = set_add(&merged, &row, sizeof(row), sizeof(row.is.key), &fresh);
		if (at != SET_NONE)
			memset(r[i].latency, 0, sizeof(r[i].latency)); /* they were moved */
		if (at == SET_NONE ||
		    (!fresh && !merge((struct memory_row *)merged.item + at, &row)))
			ret = tare_fail_nomem(err);
	}
	free(code);
	free(name);
	free(samples);
	if (ret == 0) {
		set_free(&t->rows);
		t->rows = merged;
	} else {
		for (size_t i = 0; i < merged.n; i++)
			free_latencies((struct memory_row *)merged.item + i);
		set_free(&merged);
	}
	return ret;
}

/* ---- order ---- */

uint64_t memory_misses(const struct memory_row *r)
{
	return r->placed - r->place[TARE_AT_L1];
}

uint64_t memory_remote(const struct memory_row *r)
{
	return r->distance[TARE_REMOTE];
}

uint64_t memory_percentile(const struct memory_row *r, int latency, double q)
{
	return distribution_quantile(&r->latency[latency]->d, q, NULL);
}

struct order {
	enum memory_sort sort;
	int latency;
};

static uint64_t rank(const struct memory_row *r, const struct order *o)
{
	const struct memory_latency *l = o->latency >= 0 ? r->latency[o->latency] : NULL;

	switch (o->sort) {
	case MEMORY_SORT_WEIGHT:
		return r->weight;
	case MEMORY_SORT_LATENCY:
		return l ? l->sum : 0;
	case MEMORY_SORT_P50:
		return l ? distribution_quantile(&l->d, 0.5, NULL) : 0;
	case MEMORY_SORT_P99:
		return l ? distribution_quantile(&l->d, 0.99, NULL) : 0;
	case MEMORY_SORT_LOADS:
		return r->loads + r->updates;
	case MEMORY_SORT_STORES:
		return r->stores + r->updates;
	case MEMORY_SORT_MISSES:
		return memory_misses(r);
	case MEMORY_SORT_REMOTE:
		return memory_remote(r);
	case MEMORY_SORT_HITM:
		return r->snoop[TARE_SNOOP_MODIFIED];
	default:
		return r->samples;
	}
}

struct ranked {
	uint64_t rank, samples;
	uint32_t number;
};

static int most_first(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static int sort_rows(struct memory *m, struct memory_table *t, enum memory_sort sort,
		     struct tare_error *err)
{
	const struct order o = { sort != MEMORY_SORT_DEFAULT ? sort
					 : m->latency >= 0   ? MEMORY_SORT_LATENCY
							     : MEMORY_SORT_SAMPLES,
				 m->latency };
	struct memory_row *r = t->rows.item;
	size_t n = t->rows.n, rest = t->unkept != 0;
	struct ranked *ranked = calloc(n ? n : 1, sizeof(*ranked));

	t->row = calloc(n + rest + 1, sizeof(*t->row));
	if (!ranked || !t->row) {
		free(ranked);
		return tare_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){ rank(&r[i], &o), r[i].samples, (uint32_t)i };
	qsort(ranked, n, sizeof(*ranked), most_first);
	for (size_t i = 0; i < n; i++)
		t->row[i] = r[ranked[i].number];
	free(ranked);
	t->n = n;
	t->rows.n = 0; /* their latencies were moved */
	set_free(&t->rows);
	if (rest) {
		t->row[t->n] = t->others;
		t->row[t->n++].is.rest = true;
		memset(t->others.latency, 0, sizeof(t->others.latency));
	}
	return 0;
}

/* How long the data took, as this hardware measures it. */
static int main_latency(const struct memory_row *total)
{
	static const enum tare_access_latency which[] = { TARE_LATENCY_USE, TARE_LATENCY_TOTAL,
							  TARE_LATENCY_MISS,
							  TARE_LATENCY_INSTRUCTION };

	for (size_t i = 0; i < ARRAY_SIZE(which); i++)
		if (total->latency[which[i]])
			return (int)which[i];
	return -1;
}

int memory_read(struct memory *m, struct memory_samples *c, const enum memory_by *by, size_t n,
		const struct memory_options *opts, struct tare_error *err)
{
	uint32_t rows_max = opts->rows_max ? opts->rows_max : ROWS_MAX;
	struct batch b = { .n = 0 };
	int ret = 0;

	*m = (struct memory){ .of = c, .table = calloc(n ? n : 1, sizeof(*m->table)) };
	if (!m->table)
		return tare_fail_nomem(err);
	for (m->tables = 0; m->tables < n; m->tables++)
		m->table[m->tables].by = by[m->tables];
	while (ret == 0 && (ret = memory_samples_next(c, &b.access[b.n], err)) == 1) {
		b.n += counts(m, &b.access[b.n]);
		ret = b.n == BATCH ? add_batch(m, &b, rows_max, err) : 0;
	}
	if (ret == 0)
		ret = add_batch(m, &b, rows_max, err);
	m->latency = main_latency(&m->total);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (of_code(by[i]))
			ret = name_rows(m, &m->table[i], err);
		if (by[i] == MEMORY_BY_PAGE)
			name_pages(&m->table[i]);
		if (ret == 0)
			ret = sort_rows(m, &m->table[i], opts->sort, err);
	}
	return ret;
}

void memory_free(struct memory *m)
{
	for (size_t i = 0; i < m->tables; i++) {
		struct memory_table *t = &m->table[i];

		for (size_t k = 0; k < t->n; k++)
			free_latencies(&t->row[k]);
		for (size_t k = 0; k < t->rows.n; k++)
			free_latencies((struct memory_row *)t->rows.item + k);
		free_latencies(&t->others);
		free(t->row);
		set_free(&t->rows);
		set_free(&t->shares);
	}
	free_latencies(&m->total);
	free(m->table);
	*m = (struct memory){ 0 };
}

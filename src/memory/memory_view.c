/* SPDX-License-Identifier: MIT */
/* tare memory: text for people, CSV, JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/path.h"
#include "output/csv.h"
#include "output/escape.h"
#include "memory/memory_view.h"

enum { PLACES_SHOWN = 3, LABEL_MOST = 120 /* bytes: C++ has names with a thousand */ };

static const uint64_t YEAR_NS = 366ull * 24 * 3600 * 1000000000;

static const char *const latency_meaning[] = {
	[TARE_LATENCY_TOTAL] = "from dispatch to completion (SPE)",
	[TARE_LATENCY_ISSUE] = "from dispatch to issue (SPE)",
	[TARE_LATENCY_TRANSLATION] = "of the address's translation",
	[TARE_LATENCY_USE] = "from the load's issue to the data's arrival (PEBS)",
	[TARE_LATENCY_INSTRUCTION] = "of the instruction, from dispatch (PEBS)",
	[TARE_LATENCY_RETIRE] = "to retirement (PEBS)",
	[TARE_LATENCY_MISS] = "from the L1 data cache miss to the data's arrival (IBS)",
	[TARE_LATENCY_TAG_TO_RETIRE] = "from dispatch to retirement (IBS)",
	[TARE_LATENCY_COMPLETE_TO_RETIRE] = "from completion to retirement (IBS)",
	[TARE_LATENCY_FETCH] = "of instruction bytes (IBS fetch)",
	[TARE_LATENCY_STORE] = "of a store (PEBS)",
};

static const char *latency_name(int i)
{
	return tare_access_latency_name((enum tare_access_latency)i);
}

static const char *word(const struct memory *m, uint32_t number)
{
	return words_at(&m->of->modules.words, number);
}

/* ---- names of rows ---- */

static void put_task(struct text *out, const struct memory *m, uint32_t pid, uint32_t tid)
{
	const char *comm = memory_samples_comm(m->of, pid, tid);

	text_add(out, "%s%s%u/%u", comm, *comm ? " " : "", pid, tid);
}

static void put_object(struct text *out, const struct memory *m, const struct memory_row *r)
{
	if (r->is.object == SET_NONE)
		text_add(out, "[no address]");
	else
		memory_samples_object_name(m->of, memory_samples_object_at(m->of, r->is.object),
					   out);
}

/*
 * "counters", "counters (98 %) and 2 more"; the share is rounded down, so that only a full share
 * reads 100 %.
 */
static void put_page(struct text *out, const struct memory *m, const struct memory_row *r)
{
	if (!r->is.key[3]) {
		text_add(out, "[no address]");
		return;
	}
	text_add(out, "0x%" PRIx64 "  ", r->is.address);
	if (r->is.objects)
		memory_samples_object_name(m->of, memory_samples_object_at(m->of, r->is.object),
					   out);
	else
		text_add(out, "[several objects]");
	if (r->is.objects > 1)
		text_add(out, " (%u %%) and %u more",
			 (unsigned)(100.0 * (double)r->is.object_samples / (double)r->samples),
			 r->is.objects - 1);
}

static void put_place(struct text *out, int place, int distance)
{
	if (place < 0 && distance < 0)
		text_add(out, "[unknown]");
	if (place >= 0)
		text_add(out, "%s", tare_access_place_name((enum tare_access_place)place));
	if (distance >= 0)
		text_add(out, "%s%s", place >= 0 ? ", " : "",
			 tare_access_distance_name((enum tare_access_distance)distance));
}

static void put_node(struct text *out, const char *what, int node)
{
	if (node < 0)
		text_add(out, "%s [unknown]", what);
	else
		text_add(out, "%s %d", what, node);
}

static void put_code(struct text *out, const struct memory *m, enum memory_by by,
		     const struct memory_row *r)
{
	const char *function = r->is.name.function ? word(m, r->is.name.function) : "[unknown]";

	if (by == MEMORY_BY_INSTRUCTION)
		text_add(out, "%s+0x%" PRIx64 "  ", path_base(word(m, r->is.name.module)),
			 r->is.code.offset);
	if (by != MEMORY_BY_FUNCTION && r->is.name.file)
		text_add(out, "%s:%u  ", path_base(word(m, r->is.name.file)), r->is.name.line);
	text_add(out, "%s", function);
	if (by != MEMORY_BY_INSTRUCTION)
		text_add(out, "  %s", path_base(word(m, r->is.name.module)));
}

/* The name, not escaped. */
static void put_label(struct text *out, const struct memory *m, enum memory_by by,
		      const struct memory_row *r)
{
	const struct object *o;

	if (r->is.rest) {
		text_add(out, "[others: too many different ones]");
		return;
	}
	switch (by) {
	case MEMORY_BY_LINE:
	case MEMORY_BY_FUNCTION:
	case MEMORY_BY_INSTRUCTION:
		put_code(out, m, by, r);
		break;
	case MEMORY_BY_SYMBOL:
		put_object(out, m, r);
		o = r->is.object == SET_NONE ? NULL : memory_samples_object_at(m->of, r->is.object);
		if (o && o->kind == OBJECT_SYMBOL)
			text_add(out, "  %s",
				 path_base(word(m, m->of->modules.module[o->module].path)));
		if (o && o->size)
			text_add(out, "  %" PRIu64 " bytes", o->size);
		break;
	case MEMORY_BY_PAGE:
		put_page(out, m, r);
		break;
	case MEMORY_BY_LEVEL:
		put_place(out, r->is.place, r->is.distance);
		break;
	case MEMORY_BY_TLB:
		text_add(out, "%s",
			 r->is.tlb < 0 ? "[unknown]"
				       : tare_access_tlb_name((enum tare_access_tlb)r->is.tlb));
		break;
	case MEMORY_BY_NODE:
		put_node(out, "CPU on", r->is.cpu_node);
		put_node(out, ", memory on", r->is.memory_node);
		if (r->is.distance >= 0)
			text_add(out, ", served from %s",
				 tare_access_distance_name(
					 (enum tare_access_distance)r->is.distance));
		break;
	case MEMORY_BY_THREAD:
		if (r->is.key[2])
			put_task(out, m, r->is.pid, r->is.tid);
		else
			text_add(out, "[unknown]");
		break;
	case MEMORY_BYS:
		break;
	}
}

/* ---- text ---- */

/* Latency bins: 0, then one for each power of two. */
struct bins {
	unsigned first, last; /* bin numbers; 0: the value 0 */
};

static uint64_t bin_from(unsigned bin)
{
	return bin ? (uint64_t)1 << (bin - 1) : 0;
}

static uint64_t in_bin(const struct distribution *d, unsigned bin)
{
	return (bin < 64 ? distribution_below(d, bin_from(bin + 1)) : d->n) -
		distribution_below(d, bin_from(bin));
}

static unsigned bin_of(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static struct bins bins_of(const struct distribution *d)
{
	return (struct bins){ bin_of(d->min), bin_of(d->max) };
}

/* The edges of the histograms below. */
static void head_bins(struct grid *g, struct bins of)
{
	struct text t = { 0 };

	text_add(&t, "%" PRIu64 "..%" PRIu64, bin_from(of.first),
		 of.last < 64 ? bin_from(of.last + 1) - 1 : UINT64_MAX);
	grid_next(g, false, INK_FAINT, &t);
}

struct by_count {
	uint64_t n;
	int place;
};

static int more_first(const void *pa, const void *pb)
{
	const struct by_count *a = pa, *b = pb;

	return a->n < b->n ? 1 : a->n > b->n ? -1 : a->place - b->place;
}

static void put_share(struct text *out, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	if (part && percent < 0.05)
		text_add(out, "<0.1 %%");
	else if (part < whole && percent >= 99.5) /* 100 % is all */
		text_add(out, percent >= 99.95 ? ">99.9 %%" : "%.1f %%", percent);
	else
		text_add(out, percent >= 9.95 || percent == 0 ? "%.0f %%" : "%.1f %%", percent);
}

/* "L1 62 %, memory 30 %, L3 8 %" */
static void put_places(struct text *out, const struct memory_row *r)
{
	struct by_count by[TARE_ACCESS_PLACES];
	uint64_t rest = r->placed;
	int i;

	for (i = 0; i < TARE_ACCESS_PLACES; i++)
		by[i] = (struct by_count){ r->place[i], i };
	qsort(by, TARE_ACCESS_PLACES, sizeof(*by), more_first);
	for (i = 0; i < PLACES_SHOWN && by[i].n; i++) {
		text_add(out, "%s%s ", i ? ", " : "",
			 tare_access_place_name((enum tare_access_place)by[i].place));
		put_share(out, by[i].n, r->placed);
		rest -= by[i].n;
	}
	if (rest)
		text_add(out, ", other ");
	if (rest)
		put_share(out, rest, r->placed);
}

static void put_told(struct text *out, uint64_t part, uint64_t whole)
{
	if (whole)
		put_share(out, part, whole);
	else
		text_add(out, "-");
}

/* One character for each bin, its height relative to the row's largest; an empty bin has none. */
static void put_bins(struct text *out, const struct distribution *d, struct bins of,
		     const struct style *style)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char ascii[] = "_.-~=+*#";
	uint64_t most = 1;

	for (unsigned bin = of.first; bin <= of.last; bin++)
		most = in_bin(d, bin) > most ? in_bin(d, bin) : most;
	for (unsigned bin = of.first; bin <= of.last; bin++) {
		uint64_t n = in_bin(d, bin);
		unsigned level = (unsigned)(7.999 * (double)n / (double)most);

		if (!n)
			text_add(out, " ");
		else if (style->utf8)
			text_add(out, "%s", blocks[level]);
		else
			text_add(out, "%c", ascii[level]);
	}
}

static void put_row(struct grid *g, const struct memory_shown *s, const struct memory_table *t,
		    const struct memory_row *r, const struct style *style)
{
	const struct memory *m = s->memory;
	const struct memory_row *all = &m->total;
	struct text label = { 0 }, c = { 0 };

	grid_row(g);
	put_share(&c, r->samples, all->samples);
	grid_next(g, true, INK_STRONG, &c);
	put_count(&c, style, r->samples);
	grid_next(g, true, INK_PLAIN, &c);
	put_count(&c, style, r->loads + r->updates);
	grid_next(g, true, INK_PLAIN, &c);
	put_count(&c, style, r->stores + r->updates);
	grid_next(g, true, INK_PLAIN, &c);
	if (all->prefetches) {
		put_count(&c, style, r->prefetches);
		grid_next(g, true, INK_PLAIN, &c);
	}
	if (m->latency >= 0) {
		bool has = r->latency[m->latency];

		for (int i = 0; i < 2; i++) {
			if (has)
				put_count(&c, style,
					  memory_percentile(r, m->latency, i ? 0.99 : 0.5));
			else
				text_add(&c, "-");
			grid_next(g, true, INK_PLAIN, &c);
		}
		if (has)
			put_bins(&c, &r->latency[m->latency]->d,
				 bins_of(&all->latency[m->latency]->d), style);
		grid_next(g, false, INK_PLAIN, &c);
	}
	if (all->placed && t->by != MEMORY_BY_LEVEL) {
		put_places(&c, r);
		grid_next(g, false, INK_PLAIN, &c);
	}
	if (all->snoop[TARE_SNOOP_MODIFIED]) {
		put_told(&c, r->snoop[TARE_SNOOP_MODIFIED], r->samples);
		grid_next(g, true, INK_PLAIN, &c);
	}
	if (all->translated && t->by != MEMORY_BY_TLB) {
		put_told(&c, r->tlb[TARE_TLB_WALK], r->translated);
		grid_next(g, true, INK_PLAIN, &c);
	}
	put_label(&label, m, t->by, r);
	escape_middle(&c, label.s ? label.s : "", label.len, LABEL_MOST);
	grid_next(g, false, INK_PLAIN, &c);
	text_free(&label);
}

static void put_table(struct text *out, const struct memory_shown *s, const struct memory_table *t,
		      const struct style *style)
{
	const struct memory *m = s->memory;
	struct grid g = { .drop = { 3, 2 }, .drops = 0 };
	uint64_t left = 0;
	size_t shown = s->limit && s->limit < t->n ? s->limit : t->n;

	grid_row(&g);
	grid_title(&g, true, "share");
	grid_title(&g, true, "samples");
	grid_title(&g, true, "loads");
	grid_title(&g, true, "stores");
	if (m->total.prefetches)
		grid_title(&g, true, "prefetches");
	if (m->latency >= 0) {
		grid_title(&g, true, "p50");
		grid_title(&g, true, "p99");
		head_bins(&g, bins_of(&m->total.latency[m->latency]->d));
	}
	if (m->total.placed && t->by != MEMORY_BY_LEVEL)
		grid_title(&g, false, "served by");
	if (m->total.snoop[TARE_SNOOP_MODIFIED])
		grid_title(&g, true, "hitm");
	if (m->total.translated && t->by != MEMORY_BY_TLB)
		grid_title(&g, true, "walks");
	grid_title(&g, false, memory_by_name(t->by));
	for (size_t i = 0; i < t->n; i++)
		if (i < shown)
			put_row(&g, s, t, &t->row[i], style);
		else
			left += t->row[i].samples;
	grid_end(out, &g, style, 1);
	if (shown < t->n) {
		text_add(out, "\n %zu more %s with ", t->n - shown,
			 t->n - shown == 1 ? "row" : "rows");
		put_share(out, left, m->total.samples);
		text_add(out, " of the samples together (-n 0 shows all)\n");
	}
}

/* The meaning of the latency columns. */
static void put_legend(struct text *out, const struct memory *m)
{
	if (m->latency >= 0)
		text_add(
			out,
			" p50, p99: cycles, %s; half of the samples took at most p50. Then the distribution: a column for each "
			"power of two, from %" PRIu64 ".\n",
			latency_meaning[m->latency],
			bin_from(bins_of(&m->total.latency[m->latency]->d).first));
}

/*
 * Text, JSON and page show all of these: remarks about the numbers belong here, not in one of them.
 */
static struct remarks remarks_of(const struct memory *m, const struct style *style)
{
	const struct memory_latency *stores = m->total.latency[TARE_LATENCY_STORE];
	struct remarks r = { 0 };
	struct text *t;

	if (m->latency < 0 && !stores)
		text_add(remarks_add(&r, INK_PLAIN), "No latencies: this recording has none.");
	if (stores) {
		t = remarks_add(&r, INK_PLAIN);
		text_add(t, "The latency of ");
		put_count(t, style, stores->d.n);
		text_add(
			t,
			" stores (PEBS) differs from that of loads and is in no column here; -f json has it as \"store\".");
	}
	if (!m->total.placed)
		text_add(remarks_add(&r, INK_PLAIN),
			 "This recording does not have the cache or memory level of accesses.");
	if (m->no_accesses) {
		t = remarks_add(&r, INK_PLAIN);
		put_count(t, style, m->no_accesses);
		text_add(
			t, " %s; not counted here.",
			m->no_accesses == 1
				? "sample is of an operation that accesses no memory, or of an instruction fetch"
				: "samples are of operations that access no memory, or of instruction fetches");
	}
	if (m->without_address) {
		t = remarks_add(&r, INK_PLAIN);
		put_count(t, style, m->without_address);
		text_add(t, "%s%s.",
			 m->without_address == 1 ? " access has no address"
						 : " accesses have no address",
			 memory_samples_addressless(m->origins));
	}
	if (m->last_ns > m->first_ns && m->last_ns - m->first_ns > YEAR_NS)
		text_add(remarks_add(&r, INK_CAREFUL),
			 "Some timestamps are damaged: no recording is that long.");
	memory_samples_remarks(&r, m->of, style);
	return r;
}

void memory_text(struct text *out, const struct memory_shown *s, const struct style *style)
{
	const struct memory *m = s->memory;
	struct remarks remarks = remarks_of(m, style);

	memory_samples_head_text(out, s->path, m->of);
	text_add(out, "  ");
	put_count(out, style, m->total.samples);
	text_add(out, m->total.samples == 1 ? " access" : " accesses");
	if (m->last_ns > m->first_ns) {
		text_add(out, " over ");
		put_time(out, style, m->last_ns - m->first_ns);
	}
	text_add(out, ": ");
	put_count(out, style, m->total.loads);
	text_add(out, m->total.loads == 1 ? " load, " : " loads, ");
	put_count(out, style, m->total.stores);
	text_add(out, m->total.stores == 1 ? " store" : " stores");
	if (m->total.updates) {
		text_add(out, ", ");
		put_count(out, style, m->total.updates);
		text_add(out, m->total.updates == 1 ? " that does both" : " that do both");
	}
	if (m->total.prefetches) {
		text_add(out, ", ");
		put_count(out, style, m->total.prefetches);
		text_add(out, m->total.prefetches == 1 ? " prefetch" : " prefetches");
	}
	text_add(out, "\n\n");
	for (size_t i = 0; i < m->tables; i++)
		put_table(out, s, &m->table[i], style);
	text_add(out, "\n");
	put_legend(out, m);
	remarks_text(out, &remarks, 1, style);
	memory_samples_unnamed_text(out, m->of, m->total.samples, style);
	remarks_free(&remarks);
}

/* ---- JSON ---- */

static void json_told(struct json *j, const char *key, const uint64_t *n, size_t k,
		      const char *(*name)(unsigned))
{
	json_object(j, key);
	for (unsigned i = 0; i < k; i++)
		if (n[i])
			json_uint(j, name(i), n[i]);
	json_end(j);
}

static const char *place_name(unsigned i)
{
	return tare_access_place_name((enum tare_access_place)i);
}

static const char *distance_name(unsigned i)
{
	return tare_access_distance_name((enum tare_access_distance)i);
}

static const char *snoop_name(unsigned i)
{
	return tare_access_snoop_name((enum tare_access_snoop)i);
}

static const char *tlb_name(unsigned i)
{
	return tare_access_tlb_name((enum tare_access_tlb)i);
}

static void json_histogram(struct json *j, const struct distribution *d)
{
	struct bins of = bins_of(d);

	json_array(j, "histogram");
	for (unsigned bin = of.first; bin <= of.last; bin++) {
		json_object(j, NULL);
		json_uint(j, "from", bin_from(bin));
		json_uint(j, "to", bin < 64 ? bin_from(bin + 1) - 1 : UINT64_MAX);
		json_uint(j, "count", in_bin(d, bin));
		json_end(j);
	}
	json_end(j);
}

static void json_latencies(struct json *j, const struct memory_row *r)
{
	static const struct {
		const char *key;
		double q;
	} percentiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 } };

	json_object(j, "latencies");
	for (int i = 0; i < TARE_LATENCIES; i++) {
		const struct memory_latency *l = r->latency[i];

		if (!l)
			continue;
		json_object(j, latency_name(i));
		json_uint(j, "samples", l->d.n);
		json_uint(j, "sum", l->sum);
		json_uint(j, "min", l->d.min);
		for (size_t k = 0; k < ARRAY_SIZE(percentiles); k++)
			json_uint(j, percentiles[k].key,
				  distribution_quantile(&l->d, percentiles[k].q, NULL));
		json_uint(j, "max", l->d.max);
		json_histogram(j, &l->d);
		json_end(j);
	}
	json_end(j);
}

static void json_counts(struct json *j, const struct memory_row *r)
{
	json_uint(j, "samples", r->samples);
	json_uint(j, "weight", r->weight);
	json_uint(j, "loads", r->loads);
	json_uint(j, "stores", r->stores);
	json_uint(j, "updates", r->updates);
	json_uint(j, "prefetches", r->prefetches);
	json_uint(j, "locked", r->locked);
	json_told(j, "places", r->place, TARE_ACCESS_PLACES, place_name);
	json_told(j, "distances", r->distance, MEMORY_DISTANCES, distance_name);
	json_told(j, "snoops", r->snoop, MEMORY_SNOOPS, snoop_name);
	json_told(j, "tlbs", r->tlb, MEMORY_TLBS, tlb_name);
	json_latencies(j, r);
}

static void json_what(struct json *j, const struct memory *m, enum memory_by by,
		      const struct memory_row *r)
{
	bool several = by == MEMORY_BY_PAGE &&
		r->is.objects != 1; /* then the name and size are not the page's */
	const struct object *o = r->is.object == SET_NONE || several
		? NULL
		: memory_samples_object_at(m->of, r->is.object);
	struct text label = { 0 };

	put_label(&label, m, by, r);
	json_string(j, "label", label.s);
	text_free(&label);
	if (r->is.rest)
		return;
	if (by <= MEMORY_BY_INSTRUCTION) {
		json_string(j, "function",
			    r->is.name.function ? word(m, r->is.name.function) : NULL);
		json_string(j, "module", word(m, r->is.name.module));
		if (by != MEMORY_BY_FUNCTION) {
			json_string(j, "file", r->is.name.file ? word(m, r->is.name.file) : NULL);
			json_uint_if(j, "line", r->is.name.file, r->is.name.line);
		}
		if (by == MEMORY_BY_INSTRUCTION)
			json_hex(j, "offset", r->is.code.offset);
		json_bool(j, "kernel", r->is.code.kernel);
	}
	if (o && o->kind == OBJECT_SYMBOL) {
		json_string(j, "symbol", word(m, o->name));
		json_string(j, "module", word(m, m->of->modules.module[o->module].path));
	}
	if (o && o->kind == OBJECT_BLOCK) {
		json_string(j, "module", word(m, m->of->modules.module[o->module].path));
		json_hex(j, "offset", o->start);
	}
	if (o && o->kind == OBJECT_BLOCK && o->caller) {
		json_string(j, "caller_module",
			    word(m, m->of->modules.module[o->caller_module].path));
		json_hex(j, "caller_offset", o->caller);
	}
	if (o && o->size)
		json_uint(j, "size", o->size);
	if (by == MEMORY_BY_PAGE && r->is.key[3]) {
		json_hex(j, "address", r->is.address);
		json_uint_if(j, "objects", r->is.objects, r->is.objects);
	}
	if (by == MEMORY_BY_PAGE && r->is.objects > 1) {
		struct text most = { 0 };

		memory_samples_object_name(m->of, memory_samples_object_at(m->of, r->is.object),
					   &most);
		json_string(j, "most", most.s);
		json_uint(j, "most_samples", r->is.object_samples);
		text_free(&most);
	}
	if (by == MEMORY_BY_THREAD && r->is.key[2]) {
		json_uint(j, "pid", r->is.pid);
		json_uint(j, "tid", r->is.tid);
	}
}

static void add_columns(struct json *j, const char *what, const char *path, const uint64_t *n,
			size_t k, const char *(*name)(unsigned))
{
	char title[80];

	for (unsigned i = 0; i < k; i++) {
		snprintf(title, sizeof(title), "%s %s", what, name(i));
		if (n[i])
			table_column(j, title, path, name(i), "0");
	}
}

/* Columns of CSV: those with a number in any row. */
static void columns(struct json *j, const struct memory *m, enum memory_by by)
{
	static const char *const counts[] = { "samples", "weight",     "loads", "stores",
					      "updates", "prefetches", "locked" };
	static const char *const latency[] = { "sum", "p50", "p90", "p99", "max" };
	char title[80], path[80];

	table_column(j, memory_by_name(by), "", "label", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		table_column(j, counts[i], "", counts[i], NULL);
	add_columns(j, "place", "places", m->total.place, TARE_ACCESS_PLACES, place_name);
	add_columns(j, "distance", "distances", m->total.distance, MEMORY_DISTANCES, distance_name);
	add_columns(j, "snoop", "snoops", m->total.snoop, MEMORY_SNOOPS, snoop_name);
	add_columns(j, "tlb", "tlbs", m->total.tlb, MEMORY_TLBS, tlb_name);
	for (int i = 0; i < TARE_LATENCIES; i++)
		for (size_t k = 0; m->total.latency[i] && k < ARRAY_SIZE(latency); k++) {
			snprintf(title, sizeof(title), "%s %s", latency_name(i), latency[k]);
			snprintf(path, sizeof(path), "latencies/%s", latency_name(i));
			table_column(j, title, path, latency[k], NULL);
		}
}

void memory_document(struct text *out, enum output_format format, const struct memory_shown *s,
		     const struct memory_table *t)
{
	static const struct table_layout rows = { .rows = "rows", .columns = "" };
	struct json document = document_as(format, &rows), *j = &document;
	const struct memory *m = s->memory;
	struct remarks remarks = remarks_of(m, &remarks_style);

	columns(j, m, t->by);
	json_object(j, NULL);
	json_string(j, "schema", "tare/memory/1");
	json_string(j, "file", s->path);
	json_string(j, "by", memory_by_name(t->by));
	json_string(j, "latency", m->latency >= 0 ? latency_name(m->latency) : NULL);
	json_string(j, "latency_meaning", m->latency >= 0 ? latency_meaning[m->latency] : NULL);
	json_array(j, "origins");
	for (unsigned i = 0; i < 32; i++)
		if (m->origins >> i & 1)
			json_string(j, NULL, tare_access_origin_name((enum tare_access_origin)i));
	json_end(j);
	json_uint_if(j, "duration_ns", m->last_ns > m->first_ns, m->last_ns - m->first_ns);
	json_uint(j, "no_memory_operations", m->no_accesses);
	json_uint(j, "without_address", m->without_address);
	json_uint(j, "kernel_addresses", m->kernel_addresses);
	json_object(j, "total");
	json_counts(j, &m->total);
	json_end(j);
	json_array(j, "rows");
	for (size_t i = 0; i < t->n && (!s->limit || i < s->limit); i++) {
		json_object(j, NULL);
		json_what(j, m, t->by, &t->row[i]);
		json_counts(j, &t->row[i]);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "rows_in_all", t->n);
	memory_samples_quality_json(j, m->of, &remarks);
	remarks_free(&remarks);
	json_end(j);
	json_into(out, j);
}

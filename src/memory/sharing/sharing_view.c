/* SPDX-License-Identifier: MIT */
/* tare sharing: text for people, CSV, JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/path.h"
#include "output/escape.h"
#include "memory/memory_view.h"
#include "memory/sharing/sharing_view.h"

enum { CELLS_SHOWN = 16, OWNERS_SHOWN = 8 };

/* The meaning of a verdict, and the usual remedy. */
static const struct {
	const char *key, *means, *fix;
} verdicts[] = {
	[SHARING_NONE] = { "none", "not shared", NULL },
	[SHARING_FALSE] = { "false", "FALSE SHARING: threads use separate bytes in one cache line",
			    "put each thread's bytes in a line of their own (alignas(64), padding), or give each thread a copy and add them up at the end" },
	[SHARING_TRUE] = { "true", "true sharing: threads use the same bytes",
			   "padding does not help: write less often, or give each thread a copy that is merged now and then; "
			   "fields that are each written by one thread, such as a queue's head and tail, may be faster in lines of their own" },
	[SHARING_BOTH] = { "both",
			   "true and false sharing: some bytes are used by several threads, others in the same line by one",
			   "move bytes that only one thread uses, or that are rarely written, to lines of their own (alignas(64)); then measure again" },
	[SHARING_MIGRATORY] = { "handed over",
				"handed from thread to thread, not used by several at the same time",
				NULL },
	[SHARING_UNCLEAR] = { "unclear", "too few samples to tell",
			      "record longer, or with a smaller -c" },
	[SHARING_UNTIMED] = { "untimed",
			      "shared, but perhaps not at the same time: the accesses have no timestamps",
			      "record with timestamps (perf record -T; arm_spe_0: ts_enable=1)" },
};

static const char *word(const struct sharing_shown *s, uint32_t number)
{
	return words_at(&s->named->of->modules.words, number);
}

static void put_word(struct text *out, const struct sharing_shown *s, uint32_t number)
{
	escape(out, word(s, number), strlen(word(s, number)));
}

static bool fought_over(const struct sharing_line *l)
{
	return l->verdict == SHARING_FALSE || l->verdict == SHARING_TRUE ||
		l->verdict == SHARING_BOTH;
}

/* Is it worth showing by default? */
static bool listed(const struct sharing_line *l)
{
	return fought_over(l) || l->verdict == SHARING_UNTIMED;
}

static void put_means(struct text *out, const struct sharing_line *l)
{
	if (l->seldom)
		text_add(out, "it moved too rarely to matter, or has too few samples to tell");
	else if (l->few_bytes)
		text_add(out, "too few samples of the same bytes to tell which threads use them");
	else if (l->few_turns)
		text_add(out, "its threads ran one after the other, with too few switches to tell");
	else if (l->verdict == SHARING_UNTIMED)
		text_add(out, "%s; if it is: %s", verdicts[l->verdict].means,
			 verdicts[l->kind].means);
	else
		text_add(out, "%s%s", l->in_turns ? "if its threads can run at once: " : "",
			 verdicts[l->verdict].means);
}

static const char *fix(const struct sharing_shown *s, const struct sharing_line *l)
{
	if (l->verdict == SHARING_UNCLEAR && s->named->of->every && !l->few_turns)
		return "record longer"; /* no smaller -c exists */
	return l->few_turns && !l->seldom && !l->few_bytes
		? "record longer, or with a CPU for each thread"
		: verdicts[l->verdict].fix;
}

static void put_object(struct text *out, const struct sharing_shown *s,
		       const struct sharing_named_line *n)
{
	struct memory_samples *c = s->named->of;
	const struct object *o = n->object == SET_NONE ? NULL
						       : memory_samples_object_at(c, n->object);
	struct text name = { 0 };

	if (!o)
		return;
	memory_samples_object_name(c, o, &name);
	escape(out, name.s ? name.s : "", name.len);
	text_free(&name);
	if ((int64_t)n->offset >= 0 && o->kind != OBJECT_STACK && o->kind != OBJECT_KERNEL &&
	    o->kind != OBJECT_UNKNOWN)
		text_add(out, "%s+0x%" PRIx64, o->kind == OBJECT_SYMBOL ? "" : ", at ", n->offset);
	if (o->kind == OBJECT_SYMBOL)
		text_add(out, " in "),
			escape(out, path_base(word(s, c->modules.module[o->module].path)),
			       strlen(path_base(word(s, c->modules.module[o->module].path))));
	if ((int64_t)n->offset < 0) /* begins within the line */
		text_add(out, ", from +%" PRIu64 " of the line on", -n->offset);
}

static void put_code(struct text *out, const struct sharing_shown *s,
		     const struct memory_samples_name *n, uint64_t ip)
{
	if (n->function)
		text_add(out, "%s", word(s, n->function));
	else
		text_add(out, "0x%" PRIx64 " in %s", ip, path_base(word(s, n->module)));
	if (n->file)
		text_add(out, "  %s:%u", path_base(word(s, n->file)), n->line);
}

static void put_counted(struct text *out, const struct style *style, uint64_t n, const char *one,
			const char *many)
{
	put_count(out, style, n);
	text_add(out, "%s", n == 1 ? one : many);
}

static void put_confidence(struct text *out, double confidence)
{
	if (confidence > 0.999)
		text_add(out, "more than 99.9 %% sure");
	else
		text_add(out, "%.0f %% sure", 100 * (confidence > 0.994 ? 0.99 : confidence));
}

/* ---- text ---- */

static void put_bytes(struct text *out, const struct sharing_cell *c)
{
	text_add(out, "+%u", c->offset);
	if (c->size > 1)
		text_add(out, "..%u", c->offset + c->size - 1u);
}

/*
 * The owners of the bytes: "+0 by 4659, +8 by 4660 (all but 2 of 310), +16 read by 2 threads, +24
 * by 3 threads"
 */
static void put_owners(struct text *out, const struct sharing_shown *s,
		       const struct sharing_line *l)
{
	const struct sharing_cell *cell = sharing_cells(s->named->s) + l->cell;
	unsigned shown = 0;

	for (size_t i = 0; i < l->n_cells;) {
		struct sharing_owner o = sharing_owner(cell + i, l->n_cells - i);

		if (++shown > OWNERS_SHOWN) {
			text_add(out, ", ...");
			return;
		}
		text_add(out, "%s", i ? ", " : "");
		put_bytes(out, &cell[i]);
		if (o.one)
			text_add(out, " by %u%s", o.tid, o.hits == 1 ? " (seen once)" : "");
		else
			text_add(out, " %sby %u threads", !o.stores ? "read " : "", o.threads);
		if (o.one && o.his < o.hits)
			text_add(out, " (all but %" PRIu64 " of %" PRIu64 ")", o.hits - o.his,
				 o.hits);
		i += o.cells;
	}
}

static int by_number(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

/* 0: out of memory. */
static unsigned processes_of(const struct sharing_shown *s, const struct sharing_line *l)
{
	const struct sharing_cell *cell = sharing_cells(s->named->s) + l->cell;
	uint32_t *pid = malloc((l->n_cells + 1) * sizeof(*pid));
	unsigned n = 0;

	for (size_t i = 0; pid && i < l->n_cells; i++)
		pid[i] = cell[i].pid;
	if (pid)
		qsort(pid, l->n_cells, sizeof(*pid), by_number);
	for (size_t i = 0; pid && i < l->n_cells; i++)
		n += i == 0 || pid[i] != pid[i - 1];
	free(pid);
	return n;
}

/* Do two cells look the same except for the instruction? */
static bool reads_as(const struct sharing_named *n, size_t a, size_t b)
{
	const struct sharing_cell *x = &sharing_cells(n->s)[a], *y = &sharing_cells(n->s)[b];
	const struct memory_samples_name *p = &n->name[a], *q = &n->name[b];

	return x->size == y->size && p->function && p->function == q->function &&
		p->file == q->file && p->line == q->line && (p->file || p->module == q->module);
}

/*
 * Is the cell the first of those of its thread and bytes that look the same? *sum is the sum of
 * them all.
 */
static bool sum_of_row(const struct sharing_named *n, const struct sharing_line *l, size_t i,
		       struct sharing_cell *sum)
{
	const struct sharing_cell *cell = sharing_cells(n->s), *c = &cell[i];

	*sum = *c;
	for (size_t k = i; k-- > l->cell && cell[k].offset == c->offset && cell[k].tid == c->tid &&
	     cell[k].pid == c->pid;)
		if (reads_as(n, k, i))
			return false;
	for (size_t k = i + 1; k < l->cell + l->n_cells && cell[k].offset == c->offset &&
	     cell[k].tid == c->tid && cell[k].pid == c->pid;
	     k++)
		if (reads_as(n, k, i)) {
			sum->loads += cell[k].loads;
			sum->stores += cell[k].stores;
			sum->hitm += cell[k].hitm;
			sum->latency_sum += cell[k].latency_sum;
			sum->latency_n += cell[k].latency_n;
		}
	return true;
}

static void put_cells(struct text *out, const struct sharing_shown *s, const struct sharing_line *l,
		      const struct style *style)
{
	const struct sharing_cell *cell = sharing_cells(s->named->s);
	bool latency = false, fields = false, hitm = sharing_totals(s->named->s).knows_hitm;
	size_t rows = 0;
	struct text t = { 0 };
	struct grid g;

	for (size_t i = l->cell; i < l->cell + l->n_cells; i++)
		latency |= cell[i].latency_n != 0, fields |= s->named->field[i] != 0;
	g = grid_begin((const struct grid_column[]){ { "at", false },
						     { fields ? "field" : "", false },
						     { "thread", false },
						     { "loads", true },
						     { "stores", true },
						     { hitm ? "hitm" : "", true },
						     { latency ? "cycles" : "", true },
						     { "code", false } },
		       8);
	for (size_t i = l->cell; i < l->cell + l->n_cells; i++) {
		struct sharing_cell sum, *c = &sum;
		const char *comm = memory_samples_comm(s->named->of, cell[i].pid, cell[i].tid);
		struct text code = { 0 };

		if (!sum_of_row(s->named, l, i, &sum) || ++rows > CELLS_SHOWN)
			continue;
		grid_row(&g);
		put_bytes(&t, c);
		grid_put(&g, 0, INK_PLAIN, &t);
		put_word(&t, s, s->named->field[i]);
		grid_put(&g, 1, INK_PLAIN, &t);
		escape(&t, comm, strlen(comm));
		text_add(&t, "%s%u/%u", *comm ? " " : "", c->pid, c->tid);
		grid_put(&g, 2, INK_PLAIN, &t);
		grid_count(&g, 3, INK_PLAIN, style, c->loads);
		grid_count(&g, 4, INK_PLAIN, style, c->stores);
		if (hitm)
			put_count(&t, style, c->hitm);
		grid_put(&g, 5, INK_PLAIN, &t);
		if (c->latency_n)
			put_count(&t, style, c->latency_sum / c->latency_n);
		grid_put(&g, 6, INK_PLAIN, &t);
		put_code(&code, s, &s->named->name[i], c->ip);
		escape(&t, code.s ? code.s : "", code.len);
		grid_put(&g, 7, INK_PLAIN, &t);
		text_free(&code);
		text_free(&t);
	}
	grid_end(out, &g, style, 4);
	if (rows > CELLS_SHOWN)
		text_add(out, "    %zu more row%s (--format json lists them)\n", rows - CELLS_SHOWN,
			 rows - CELLS_SHOWN == 1 ? "" : "s");
}

/*
 * The effect of padding, if it is known which members begin the threads' bytes (n->cuts): "b and c,
 * each aligned to 64 bytes, begin ..."
 */
static void put_padding(struct text *out, const struct sharing_shown *s,
			const struct sharing_named_line *n)
{
	unsigned told = 0;

	for (size_t i = n->line->cell; i < n->line->cell + n->line->n_cells; i++)
		if (s->named->aligned[i]) {
			text_add(out, "%s", !told ? "" : told + 1 < n->cuts ? ", " : " and ");
			put_word(out, s, s->named->aligned[i]);
			told++;
		}
	text_add(out,
		 n->cuts == 1 ? " aligned to %u bytes begins a line of its own, and "
			      : ", each aligned to %u bytes, begin lines of their own, and ",
		 s->line_size);
	put_word(out, s, n->keeps);
	text_add(out, n->cuts == 1 ? " keeps this one" : " keeps this one: %u lines in total",
		 n->cuts + 1);
}

/* Other lines of the same kind in the same object. */
static void put_group(struct text *out, const struct sharing_shown *s,
		      const struct sharing_group *g, const struct style *style)
{
	if (g->lines < 2)
		return;
	text_add(out, "    also ");
	put_counted(out, style, g->lines - 1, " more line", " more lines");
	text_add(out, " of this object; in total ");
	put_counted(out, style, g->samples, " sample", " samples");
	if (g->verdict != SHARING_UNTIMED) {
		text_add(out, " and ");
		put_counted(out, style, g->switches_true + g->switches_false, " move", " moves");
	}
	if (sharing_totals(s->named->s).knows_hitm)
		text_add(out, ", "), put_count(out, style, g->hitm), text_add(out, " hitm");
	text_add(out, "\n");
}

/* The assumptions of its verdict. */
static struct remarks line_remarks(const struct sharing_line *l)
{
	struct remarks r = { 0 };

	if (l->sizes_open)
		text_add(
			remarks_add(&r, INK_PLAIN),
			"the size of some of these accesses is unknown: an access of %d bytes, as memcpy makes, would cover both threads' bytes",
			SHARING_WIDE);
	if (l->in_turns && !l->few_turns)
		text_add(
			remarks_add(&r, INK_PLAIN),
			"its threads mostly ran one after the other: if only because they shared a CPU, they contend for it when run at once; if they wait for each other "
			"(a condition, a lock), they never do");
	return r;
}

static void put_line(struct text *out, const struct sharing_shown *s, size_t number,
		     const struct sharing_named_line *n, const struct style *style)
{
	const struct sharing_line *l = n->line;
	uint64_t switches = l->switches_true + l->switches_false;
	struct remarks remarks = line_remarks(l);

	text_add(out, " %zu. %s", number, ink_on(style, fought_over(l) ? INK_STRONG : INK_PLAIN));
	put_object(out, s, n);
	text_add(out, "%s%s0x%" PRIx64 "%s\n", ink_off(style), n->object == SET_NONE ? "" : "  ",
		 l->address, l->physical ? " (physical)" : "");
	text_add(out, "    ");
	put_means(out, l);
	if (l->verdict != SHARING_UNCLEAR) {
		text_add(out, " (");
		put_confidence(out, l->confidence);
		if (l->part)
			text_add(out, ", in part of the time: "), put_count(out, style, l->part),
				text_add(out, " of its samples");
		text_add(out, ")");
	}
	if (l->verdict == SHARING_FALSE || l->verdict == SHARING_BOTH ||
	    l->verdict == SHARING_UNTIMED) {
		text_add(out, "\n    bytes ");
		put_owners(out, s, l);
	}
	text_add(out, "\n");
	remarks_text(out, &remarks, 4, style);
	remarks_free(&remarks);
	text_add(out, "    ");
	put_counted(out, style, l->samples, " sample", " samples");
	text_add(out, " by %u thread%s", l->threads, l->threads == 1 ? "" : "s");
	if (processes_of(s, l) > 1)
		text_add(out, " of %u processes", processes_of(s, l));
	text_add(out, ": ");
	put_counted(out, style, l->loads, " load", " loads");
	text_add(out, ", ");
	put_counted(out, style, l->stores, " store", " stores");
	if (l->verdict != SHARING_UNTIMED) {
		text_add(out, "; ");
		put_counted(out, style, switches, " move", " moves");
		text_add(out, " between two of them");
		if (l->expected > 0)
			text_add(out, " (%.0f if their order were random)", l->expected);
		text_add(out, ", ");
		put_count(out, style, l->switches_true);
		text_add(out, " for the same bytes");
	}
	text_add(out, "\n");
	if (sharing_totals(s->named->s).knows_hitm) {
		text_add(out, "    ");
		put_count(out, style, l->hitm);
		text_add(out, " found it modified in another core's cache (hitm)\n");
	}
	put_cells(out, s, l, style);
	if (!s->all)
		put_group(out, s, &s->named->group[n->group], style);
	if (n->cuts)
		text_add(out, "    "), put_padding(out, s, n), text_add(out, "\n");
	if (fix(s, l))
		text_add(out, "    %s%s%s\n", ink_on(style, INK_FAINT), fix(s, l), ink_off(style));
	text_add(out, "\n");
}

struct tally { /* number of lines by verdict */
	size_t fought, untimed, unclear, wanted;
};

/* Lines of one object and verdict are shown as one, unless all lines are requested. */
static bool is_shown(const struct sharing_shown *s, size_t i)
{
	const struct sharing_named *n = s->named;

	return s->all || (listed(n->line[i].line) && n->group[n->line[i].group].first == i);
}

static struct tally tally_of(const struct sharing_shown *s)
{
	struct tally t = { 0 };

	for (size_t i = 0; i < s->named->n; i++) {
		const struct sharing_line *l = s->named->line[i].line;

		t.fought += fought_over(l);
		t.untimed += l->verdict == SHARING_UNTIMED;
		t.unclear += l->verdict == SHARING_UNCLEAR;
		t.wanted += is_shown(s, i);
	}
	return t;
}

static void put_head(struct text *out, const struct sharing_shown *s, const struct tally *k,
		     const struct style *style)
{
	struct sharing_totals t = sharing_totals(s->named->s);

	memory_samples_head_text(out, s->path, s->named->of);
	text_add(out, "  ");
	put_counted(out, style, t.used, " access to ", " accesses to ");
	put_counted(out, style, t.lines, " line", " lines");
	text_add(out, " of %u bytes: ", s->line_size);
	put_count(out, style, k->fought);
	text_add(out, " contended, ");
	if (k->untimed)
		put_count(out, style, k->untimed), text_add(out, " shared without timestamps, ");
	put_count(out, style, s->named->n - k->fought - k->untimed - k->unclear);
	text_add(out, " handed from thread to thread, ");
	put_count(out, style, k->unclear + t.too_few);
	text_add(out, " shared without a verdict\n\n");
}

/*
 * Why lines of the head have no verdict: for the one with the most samples, where most information
 * is missing.
 */
static void remark_unclear(struct remarks *r, const struct sharing_shown *s, const struct tally *k,
			   uint64_t too_few, bool lists_all, const struct style *style)
{
	const struct sharing_named_line *most = NULL;
	uint64_t listed_ones = s->all ? 0 : k->unclear;
	struct text *t;

	for (size_t i = 0; i < s->named->n; i++)
		if (s->named->line[i].line->verdict == SHARING_UNCLEAR &&
		    (!most || s->named->line[i].line->samples > most->line->samples))
			most = &s->named->line[i];
	if (listed_ones) {
		t = remarks_add(r, INK_PLAIN);
		text_add(t, "No verdict on ");
		put_counted(t, style, listed_ones, " shared line", " shared lines");
		if (!lists_all)
			text_add(t, listed_ones == 1 ? " (-a shows it)" : " (-a shows them)");
		text_add(t, listed_ones == 1 ? ". " : ". Of the one with the most samples, ");
		if (listed_ones > 1 && most->object != SET_NONE)
			put_object(t, s, most), text_add(t, ", ");
		put_counted(t, style, most->line->samples, " sample", " samples");
		text_add(t, ": ");
		put_means(t, most->line);
		text_add(t, "; %s.", fix(s, most->line));
	}
	if (too_few) {
		t = remarks_add(r, INK_PLAIN);
		put_counted(t, style, too_few, listed_ones ? " more shared line" : " shared line",
			    listed_ones ? " more shared lines" : " shared lines");
		text_add(t,
			 too_few == 1 ? " has fewer than 4 samples."
				      : " have fewer than 4 samples each.");
	}
}

/*
 * Text, JSON and page show all of these: remarks about the verdicts belong here, not in one of
 * them. `lists_all`: lines without a verdict are listed, too, as in JSON and on the page.
 */
static struct remarks remarks_of(const struct sharing_shown *s, const struct tally *k,
				 bool lists_all, const struct style *style)
{
	struct sharing_totals totals = sharing_totals(s->named->s);
	struct remarks r = { 0 };
	struct text *t;

	if (!k->fought && !k->untimed)
		text_add(remarks_add(&r, INK_PLAIN),
			 k->unclear ? "No line is known to be contended."
				    : "No line is contended, as far as the samples show.");
	remark_unclear(&r, s, k, totals.too_few, lists_all, style);
	if (totals.without_time) {
		t = remarks_add(&r, INK_PLAIN);
		put_counted(t, style, totals.without_time, " access has no timestamp",
			    " accesses have no timestamps");
		text_add(t, ": simultaneous use cannot be detected.");
	}
	if (!totals.knows_hitm)
		text_add(
			remarks_add(&r, INK_PLAIN),
			"Inferred from the order of accesses: this recording does not have hits on modified lines in other caches (HITM).");
	if (totals.processes > 1 && !totals.knows_physical && !totals.knows_shared &&
	    s->named->origins == 1u << TARE_FROM_EXACT) /* the engine reports all mappings */
		text_add(
			remarks_add(&r, INK_PLAIN),
			"%u processes, and no access to memory that they share (MAP_SHARED): no line is used by two of them.",
			totals.processes);
	else if (totals.processes > 1 && !totals.knows_physical && !totals.knows_shared)
		text_add(
			remarks_add(&r, INK_PLAIN),
			"%u processes, but neither physical addresses nor shared mappings (MAP_SHARED) were recorded: lines shared by two processes are not found. "
			"tare record --precise=memory --phys-data records the addresses if kernel.perf_event_paranoid <= 1 or with CAP_PERFMON; the exact engine "
			"records the mappings.",
			totals.processes);
	if (totals.passed_over) {
		t = remarks_add(&r, INK_PLAIN);
		put_counted(t, style, totals.passed_over, " access was", " accesses were");
		text_add(t, " ignored: prefetches, and those without an address%s or a thread.",
			 memory_samples_addressless(s->named->origins));
	}
	if (totals.cut_short) {
		t = remarks_add(&r, INK_PLAIN);
		put_counted(t, style, totals.cut_short, " large copy was", " large copies were");
		text_add(t, " analyzed in part: the first 1 MiB of each, and 256 MiB of all.");
	}
	memory_samples_remarks(&r, s->named->of, style);
	return r;
}

void sharing_text(struct text *out, const struct sharing_shown *s, const struct style *style)
{
	const struct sharing_named *n = s->named;
	struct tally k = tally_of(s);
	struct remarks remarks = remarks_of(s, &k, false, style);
	size_t shown = 0;

	put_head(out, s, &k, style);
	for (size_t i = 0; i < n->n && (!s->limit || shown < s->limit); i++)
		if (is_shown(s, i))
			put_line(out, s, ++shown, &n->line[i], style);
	if (shown < k.wanted)
		text_add(out, " %zu more %s (-n 0 shows all)\n", k.wanted - shown,
			 k.wanted - shown == 1 ? "line" : "lines");
	remarks_text(out, &remarks, 1, style);
	memory_samples_unnamed_text(out, n->of, sharing_totals(n->s).used, style);
	remarks_free(&remarks);
}

/* ---- JSON ---- */

static void json_cell(struct json *j, const struct sharing_shown *s, size_t i)
{
	const struct sharing_cell *c = &sharing_cells(s->named->s)[i];
	const struct memory_samples_name *name = &s->named->name[i];

	json_object(j, NULL);
	json_uint(j, "offset", c->offset);
	json_uint_if(j, "size", c->size, c->size);
	json_string(j, "field", s->named->field[i] ? word(s, s->named->field[i]) : NULL);
	table_string(j, "align", s->named->aligned[i] ? word(s, s->named->aligned[i]) : NULL);
	json_uint(j, "pid", c->pid);
	json_uint(j, "tid", c->tid);
	json_string(j, "comm", memory_samples_comm(s->named->of, c->pid, c->tid));
	json_uint(j, "loads", c->loads);
	json_uint(j, "stores", c->stores);
	json_uint_if(j, "modified", sharing_totals(s->named->s).knows_hitm, c->hitm);
	json_real_if(j, "latency_mean", c->latency_n,
		     (double)c->latency_sum / (double)c->latency_n);
	json_hex(j, "ip", c->ip);
	json_string(j, "function", name->function ? word(s, name->function) : NULL);
	json_string(j, "module", word(s, name->module));
	json_string(j, "file", name->file ? word(s, name->file) : NULL);
	json_uint_if(j, "line", name->file, name->line);
	json_end(j);
}

static void json_padding(struct json *j, const struct sharing_shown *s,
			 const struct sharing_named_line *n)
{
	struct text means = { 0 };

	if (!n->cuts) {
		json_null(j, "padding");
		return;
	}
	json_object(j, "padding");
	json_array(j, "align");
	for (size_t i = n->line->cell; i < n->line->cell + n->line->n_cells; i++)
		if (s->named->aligned[i])
			json_string(j, NULL, word(s, s->named->aligned[i]));
	json_end(j);
	json_string(j, "keeps", word(s, n->keeps));
	put_padding(&means, s, n);
	json_string(j, "means", means.s);
	text_free(&means);
	json_end(j);
}

static void json_line(struct json *j, const struct sharing_shown *s,
		      const struct sharing_named_line *n)
{
	const struct sharing_line *l = n->line;
	struct text object = { 0 }, means = { 0 };
	struct remarks remarks = line_remarks(l);

	json_object(j, NULL);
	json_hex(j, "address", l->address);
	json_bool(j, "physical", l->physical);
	put_object(&object, s, n);
	json_string(j, "object", object.s);
	text_free(&object);
	if (n->object != SET_NONE &&
	    memory_samples_object_at(s->named->of, n->object)->kind == OBJECT_SYMBOL)
		json_string(j, "symbol",
			    word(s, memory_samples_object_at(s->named->of, n->object)->name));
	else
		json_null(j, "symbol");
	json_string(j, "verdict", verdicts[l->verdict].key);
	json_real_if(j, "sure", l->verdict != SHARING_UNCLEAR, l->confidence);
	json_bool(j, "in_turns", l->in_turns);
	json_bool(j, "few_turns", l->few_turns);
	json_bool(j, "few_bytes", l->few_bytes);
	json_bool(j, "seldom", l->seldom);
	json_uint_if(j, "part", l->part, l->part);
	json_bool(j, "sizes_known", !l->sizes_open);
	json_string(j, "kind", l->verdict == SHARING_UNTIMED ? verdicts[l->kind].key : NULL);
	put_means(&means, l);
	json_string(j, "means", means.s);
	text_free(&means);
	json_string(j, "fix", fix(s, l));
	remarks_json(j, &remarks);
	remarks_free(&remarks);
	json_padding(j, s, n);
	json_uint(j, "samples", l->samples);
	json_uint(j, "loads", l->loads);
	json_uint(j, "stores", l->stores);
	json_uint_if(j, "modified", sharing_totals(s->named->s).knows_hitm, l->hitm);
	json_uint(j, "threads", l->threads);
	if (l->verdict == SHARING_UNTIMED) {
		json_null(j, "switches_true");
		json_null(j, "switches_false");
	} else {
		json_uint(j, "switches_true", l->switches_true);
		json_uint(j, "switches_false", l->switches_false);
	}
	json_real_if(j, "switches_by_chance", l->expected > 0, l->expected);
	json_array(j, "cells");
	for (size_t i = l->cell; i < l->cell + l->n_cells; i++)
		json_cell(j, s, i);
	json_end(j);
	json_end(j);
}

static void json_group(struct json *j, const struct sharing_shown *s, const struct sharing_group *g)
{
	struct text name = { 0 };

	json_object(j, NULL);
	if (g->object != SET_NONE)
		memory_samples_object_name(
			s->named->of, memory_samples_object_at(s->named->of, g->object), &name);
	json_string(j, "object", name.s);
	text_free(&name);
	json_string(j, "verdict", verdicts[g->verdict].key);
	json_uint(j, "lines", g->lines);
	json_uint(j, "samples", g->samples);
	json_uint(j, "loads", g->loads);
	json_uint(j, "stores", g->stores);
	json_uint(j, "moves", g->switches_true + g->switches_false);
	json_uint_if(j, "modified", sharing_totals(s->named->s).knows_hitm, g->hitm);
	json_end(j);
}

void sharing_document(struct text *out, enum output_format format, const struct sharing_shown *s)
{
	static const struct table_layout rows = {
		.rows = "lines/cells",
		.columns =
			"line=../address,physical=../physical,object=../object,verdict=../verdict,"
			"sure=../sure,offset,size,pid,tid,loads,stores,modified,latency_mean,function,"
			"module,file,source_line=line,field,align,in_turns=../in_turns,"
			"few_turns=../few_turns,few_bytes=../few_bytes,seldom=../seldom,part=../part",
		.digits = 6,
	};
	struct json document = document_as(format, &rows), *j = &document;
	const struct sharing_named *n = s->named;
	struct sharing_totals t = sharing_totals(n->s);
	struct tally k = tally_of(s);
	struct remarks remarks = remarks_of(s, &k, true, &remarks_style);
	size_t shown = 0;

	json_object(j, NULL);
	json_string(j, "schema", "tare/sharing/1");
	json_string(j, "file", s->path);
	json_uint(j, "line_size", s->line_size);
	json_uint(j, "accesses", t.used);
	json_uint(j, "passed_over", t.passed_over);
	json_uint(j, "without_time", t.without_time);
	json_uint(j, "cut_short", t.cut_short);
	json_uint(j, "no_memory_operations", n->no_accesses);
	json_uint(j, "lines_in_all", t.lines);
	json_uint(j, "lines_of_too_few_samples", t.too_few);
	json_bool(j, "knows_modified", t.knows_hitm);
	json_bool(j, "knows_physical", t.knows_physical);
	json_uint(j, "processes", t.processes);
	json_array(j, "origins");
	for (unsigned i = 0; i < 32; i++)
		if (n->origins >> i & 1)
			json_string(j, NULL, tare_access_origin_name((enum tare_access_origin)i));
	json_end(j);
	json_array(j, "lines");
	for (size_t i = 0; i < n->n && (!s->limit || shown < s->limit); i++, shown++)
		json_line(j, s, &n->line[i]);
	json_end(j);
	json_array(j, "objects");
	for (size_t i = 0; i < n->groups; i++)
		json_group(j, s, &n->group[i]);
	json_end(j);
	memory_samples_quality_json(j, n->of, &remarks);
	remarks_free(&remarks);
	json_end(j);
	json_into(out, j);
}

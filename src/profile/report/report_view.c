/* SPDX-License-Identifier: MIT */
/* The table for people, with a header and with notes on its numbers below. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/path.h"
#include "perfdata/perfdata_features.h"
#include "output/escape.h"
#include "count/partial.h"
#include "profile/report/report_view.h"
#include "profile/report/traced_view.h"

enum {
	OTHER_EVENTS = 3, /* besides the sort column */
	FUNCTION_LEAST = 24,
	INLINED_MOST = 100,
	FIELDS_APART = 3, /* more fields of tracepoints than this share a column */
	FIELD_MOST = 40,
	MODULE_MOST = 28,
	REASONS_MOST = 5,
};

/* The first `room` characters (0: all), with dots if it is longer. */
static void put_cut(struct text *out, const char *name, size_t room,
		    void (*put)(struct text *out, const char *s, size_t n))
{
	size_t n = strlen(name), shown = 0, bytes = 0;

	while (room && bytes < n && shown < room) {
		bytes++;
		while (bytes < n && (name[bytes] & 0xc0) == 0x80)
			bytes++;
		shown++;
	}
	if (!room || bytes == n) {
		put(out, name, n);
		return;
	}
	for (int i = 0; i < 2 && bytes; i++) { /* room for the dots */
		while (bytes > 1 && (name[bytes - 1] & 0xc0) == 0x80)
			bytes--;
		bytes--;
	}
	put(out, name, bytes);
	text_add(out, "..");
}

void put_name(struct text *out, const char *name, size_t room)
{
	put_cut(out, name, room, escape);
}

static void put_amount(struct text *out, const struct style *s, const struct call_tree *of,
		       const struct call_tree_column *c, uint64_t amount)
{
	if (!strcmp(call_tree_name(of, c->unit), "ns"))
		put_time(out, s, amount);
	else
		put_count(out, s, amount);
}

static void put_share(struct text *out, uint64_t part, uint64_t whole)
{
	text_add(out, "%.2f %%", whole ? 100.0 * (double)part / (double)whole : 0.0);
}

/* ---- head ---- */

/* Quoted for a shell; the quotes stay even if the text is shortened. */
static void put_command(struct text *out, const struct perfdata_strings *words, size_t room)
{
	struct text line = { 0 };
	const char *s = "";

	escape_command(&line, (const char *const *)words->s, words->n);
	if (line.s)
		s = line.s;
	put_cut(out, s, room, text_put);
	text_free(&line);
}

void report_head_text(struct text *out, const struct report_shown *r, const struct style *s)
{
	const struct perfdata_features *f = perfdata_features(r->samples->file);
	const struct samples_quality *q = &r->samples->quality;
	const struct call_tree *st = r->samples->call_tree;
	size_t tasks, threads;
	uint32_t *thread_of;

	call_tree_tasks(st, &tasks);
	thread_of = calloc(tasks + 1, sizeof(*thread_of));
	threads = thread_of ? call_tree_threads(st, thread_of) : SIZE_MAX;
	free(thread_of);
	out->failed |= threads == SIZE_MAX;
	escape(out, r->path, strlen(r->path));
	if (f->version)
		text_add(out, ", by "), put_name(out, f->version, 40);
	if (f->hostname)
		text_add(out, ", on "), put_name(out, f->hostname, 40);
	if (f->arch)
		text_add(out, " ("), put_name(out, f->arch, 20), text_add(out, ")");
	text_add(out, "\n");
	if (f->cmdline.n) {
		text_add(out, "  ");
		put_command(out, &f->cmdline, s->width > 10 ? (size_t)s->width - 4 : 0);
		text_add(out, "\n");
	}
	text_add(out, "  ");
	put_count(out, s, q->used);
	text_add(out, q->used == 1 ? " sample" : " samples");
	if (q->used != q->samples)
		text_add(out, " of "), put_count(out, s, q->samples);
	text_add(out, ", %zu %s", threads, threads == 1 ? "thread" : "threads");
	if (q->last_ns > q->first_ns) {
		text_add(out, ", over ");
		put_time(out, s, q->last_ns - q->first_ns);
	}
	text_add(out, "\n");
	for (uint32_t c = 0; c < st->columns; c++) {
		text_add(out, "  ");
		put_name(out, call_tree_name(st, st->column[c].name), 60);
		text_add(out, ": ");
		put_count(out, s, st->column[c].samples);
		text_add(out, st->column[c].samples == 1 ? " sample" : " samples");
		if (!q->weightless) {
			text_add(out, ", ");
			put_amount(out, s, st, &st->column[c], st->column[c].amount);
		}
		if (st->column[c].counted)
			text_add(out, ", exact");
		else if (st->column[c].read)
			text_add(out, " (read at the samples of another event)");
		text_add(out, "\n");
	}
	text_add(out, "\n");
}

/* ---- notes on the numbers ---- */

void report_broke_off_text(struct text *out, bool broke_off, const struct style *s)
{
	if (broke_off)
		text_add(out, " %s" PERFDATA_BROKE_OFF "%s\n", ink_on(s, INK_CAREFUL), ink_off(s));
}

void report_partial_text(struct text *out, const struct samples *of, const char *indent,
			 const struct style *s)
{
	const struct exact_partial *p = of->file ? perfdata_features(of->file)->partial : NULL;
	struct text words = { 0 };

	for (unsigned i = 0; p && partial_sentence(&words, p, i); i++) {
		text_add(out, "%s%s%s%s\n", indent, ink_on(s, INK_CAREFUL),
			 words.failed ? "" : words.s, ink_off(s));
		text_free(&words);
	}
}

/* The remedy if callers are missing, or are addresses outside code. */
static void put_broken(struct text *out, const struct samples_quality *q, const struct style *s)
{
	if (!q->broken)
		return;
	text_add(out, " %sstacks that end outside mapped code: ", ink_on(s, INK_CAREFUL));
	put_count(out, s, q->broken);
	text_add(out, " (");
	put_percent(out, 100.0 * (double)q->broken / (double)q->chains);
	text_add(out, " of ");
	put_count(out, s, q->chains);
	text_add(
		out, " chains in user code)%s\n   %s\n", ink_off(s),
		q->lost ? "mappings may be among the lost records; or the code has no frame pointers, and callers are missing"
			: "the code has no frame pointers, and callers are missing: record --call-graph dwarf finds them");
}

bool report_leaf_callers(const struct report_shown *r)
{
	const struct call_tree *st = r->samples->call_tree;

	return r->samples->quality.chains && st->columns &&
		!st->column[r->options->column].asked.repeats;
}

/* Rows of the table that are by samples while others are counted. */
bool report_uncounted(const struct report_shown *r)
{
	for (size_t i = 0; r->report && r->samples->counted.used && i < r->report->n; i++)
		if (!r->report->row[i].counted && r->report->row[i].self[r->options->column])
			return true;
	return false;
}

/* The exact engine's samples of instructions show the counts of the code at their addresses. */
bool report_mixed(const struct report_shown *r, uint32_t column)
{
	const struct call_tree_column *c = &r->samples->call_tree->column[column];

	return c->read && !c->asked.by_code && (!c->counted || report_uncounted(r));
}

bool report_ratio_mixed(const struct report_shown *r)
{
	bool mixed = false;

	for (size_t i = 0; r->ratio && i < formula_names(r->ratio->formula); i++)
		mixed |= report_mixed(r, r->ratio->column[i]);
	return mixed;
}

static void put_leaf_callers(struct text *out, const struct report_shown *r, const struct style *s)
{
	const struct samples_quality *q = &r->samples->quality;
	bool said = q->broken && !q->lost; /* the remedy, by put_broken() */

	if (report_leaf_callers(r))
		text_add(
			out,
			" %scallers were found by frame pointers%s: the direct caller of a function "
			"without a frame may be missing%s\n",
			ink_on(s, INK_CAREFUL), ink_off(s),
			said ? "" : "; record --call-graph dwarf finds it");
}

static void put_losses(struct text *out, const struct samples_quality *q, const struct style *s)
{
	const struct {
		uint64_t n;
		const char *what;
	} rows[] = {
		{ q->lost > q->lost_samples ? q->lost : q->lost_samples,
		  "records lost because the buffer was full" },
		{ q->throttled, "times the kernel throttled an event; shares are wrong there" },
		{ q->undecodable, "records that could not be decoded" },
		{ q->unattributed, "samples left out: their event is unknown" },
		{ q->disordered,
		  "records too late for the order by time; names of samples among them may be wrong" },
		{ q->cut, "stacks truncated before their outermost caller" },
		{ q->unkept, "stacks truncated: too many different ones" },
		{ q->deferred, "deferred user stacks that are missing" },
		{ q->backwards, "readings of a group that decreased, taken as 0" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].n)
			continue;
		text_add(out, " %s%s: ", ink_on(s, INK_CAREFUL), rows[i].what);
		put_count(out, s, rows[i].n);
		text_add(out, "%s\n", ink_off(s));
	}
	if (q->cut_by_size) {
		text_add(out, "   in ");
		put_count(out, s, q->cut_by_size);
		text_add(
			out,
			" of them the copied part of the stack was too short: record --call-graph dwarf,BYTES copies more, up to 65528\n");
	}
}

static void put_unnamed(struct text *out, const struct report_shown *r, const struct style *s)
{
	const struct samples *of = r->samples;
	uint64_t rest = 0;

	for (size_t i = 0; i < of->n_unnamed; i++) {
		const struct samples_unnamed *u = &of->unnamed[i];

		if (i >= REASONS_MOST) {
			rest += u->samples;
			continue;
		}
		text_add(out, " no names for ");
		put_count(out, s, u->samples);
		text_add(out, u->samples == 1 ? " sample (" : " samples (");
		put_percent(out,
			    100.0 * (double)u->samples /
				    (double)(of->quality.used ? of->quality.used : 1));
		text_add(out, ") in ");
		put_name(out, path_base(u->module), 60);
		text_add(out, ": ");
		put_name(out, u->why, 0);
		text_add(out, "\n");
		if (u->remedy[0])
			text_add(out, "   %s\n", u->remedy);
	}
	if (rest) {
		text_add(out, " no names for ");
		put_count(out, s, rest);
		text_add(out, " samples in %zu more modules (--format json lists them)\n",
			 of->n_unnamed - REASONS_MOST);
	}
}

/* Next to the warning; for every event if requested. */
static void put_skid(struct text *out, const struct report_shown *r)
{
	const struct call_tree *st = r->samples->call_tree;
	bool places = r->report && r->report->keys & (REPORT_ADDRESS | REPORT_LINE);

	for (uint32_t c = 0; c < st->columns; c++)
		if (!st->column[c].read &&
		    (r->skid.asked || (places && c == r->options->column && st->column[c].skids)))
			skid_known_text(out, &r->skid, r->samples, c);
	if (r->shift)
		skid_shift_text(out, r->shift, r->samples);
	else if (r->skid.asked && st->columns > 1)
		text_add(
			out,
			"   the effect of skid on functions is unknown: no event was recorded both with and without :pp (-e cycles,cycles:pp)\n");
}

void report_by_name_text(struct text *out, const struct samples_by_name *file,
			 const struct style *s)
{
	const char *doubt = file->other ? "it is not the file that ran: its inode differs"
		: file->newer           ? "it is newer than the recording"
					: NULL;
	const char *how = file->kernel
		? " is named by the running kernel: release, machine and address match the recording, which has "
		  "no build id for it"
		: file->same_inode
		? " is identified by its inode: the recording has no build id for it"
		: " is identified only by its name: the recording has no build id for it";

	text_add(out, " %s", doubt ? ink_on(s, INK_BAD) : "");
	put_name(out, file->module, 0);
	text_add(out, "%s", how);
	if (doubt)
		text_add(out, "; %s: names and instructions may be of another build%s", doubt,
			 ink_off(s));
	text_add(out, "\n");
}

/* First those in doubt, then others. */
static void put_by_name(struct text *out, const struct samples *of, const struct style *s)
{
	size_t shown = 0;

	for (int doubted = 1; doubted >= 0; doubted--)
		for (size_t i = 0; i < of->n_by_name; i++)
			if ((of->by_name[i].newer || of->by_name[i].other) == doubted &&
			    shown++ < REASONS_MOST)
				report_by_name_text(out, &of->by_name[i], s);
	if (shown > REASONS_MOST)
		text_add(
			out,
			" %zu more files have no build id in the recording (--format json lists them)\n",
			shown - REASONS_MOST);
}

void report_clock_text(struct text *out, const struct samples *of, const struct style *s)
{
	if (of->quality.short_clock)
		text_add(
			out,
			" %sa clock event was requested with a period below 10 us, which the kernel does not provide: each sample represents more time than "
			"is shown here%s\n",
			ink_on(s, INK_CAREFUL), ink_off(s));
}

/* The limit of `tare record`: with this margin or more for a share of 10 %, no share is given. */
#define MARGIN_MOST 0.1

static void put_counted(struct text *out, const struct report_shown *r,
			const struct call_tree_column *c, const struct style *s)
{
	bool some = r->relatives ? !r->relatives->counted : report_uncounted(r);

	text_add(out, " Amounts are exact: the engine counted every instruction%s%s.\n",
		 some ? " of code in files; amounts of other code are from samples" : "",
		 r->samples->quality.with_stacks ? "; with callees they are from samples" : "");
	if (c->samples && (some || r->samples->quality.with_stacks))
		text_add(out,
			 " A share of 10 %% from samples is known to %s %.2f points (95 %%)%s.\n",
			 s->utf8 ? "±" : "+-", 100 * report_margin(c, 0.1),
			 call_tree_in_step(c) ? " unless a loop is in step with the fixed period"
					      : "");
}

static void put_sure(struct text *out, const struct report_shown *r,
		     const struct call_tree_column *c, const struct style *s)
{
	double share = 0, margin = report_margin(c, 0.1);

	if (r->samples->counted.why)
		text_add(
			out,
			" Amounts are from samples, although the recording has exact amounts: %s.\n",
			r->samples->counted.why);
	if (call_tree_census(c)) {
		text_add(out, " Every event was sampled, so shares are exact.\n");
		return;
	}
	if (c->counted) {
		put_counted(out, r, c, s);
		return;
	}
	if (r->report && r->report->n && c->amount)
		share = (double)r->report->row[0].self[r->options->column] / (double)c->amount;
	if (share <= 0 || share > 0.9)
		share = 0.1;
	if (c->lost > 0 && margin >= MARGIN_MOST && c->lost >= margin / 2)
		text_add(out,
			 " %sToo many samples are missing to estimate shares:%s the recording has ",
			 ink_on(s, INK_BAD), ink_off(s));
	else
		text_add(out, " A share of %.2f %% is known to %s %.2f points (95 %%)%s: it is of ",
			 100 * share, s->utf8 ? "±" : "+-", 100 * report_margin(c, share),
			 call_tree_in_step(c) ? " unless a loop is in step with the fixed period"
					      : "");
	put_count(out, s, c->samples);
	text_add(out, c->samples == 1 ? " sample" : " samples");
	if (c->lost > 0) {
		text_add(out, ", and ");
		put_percent(out, 100 * c->lost);
		text_add(out, " of all were lost");
	}
	text_add(out, ".\n");
}

void report_quality_text(struct text *out, const struct report_shown *r, const struct style *s)
{
	const struct samples_quality *q = &r->samples->quality;
	const struct call_tree *st = r->samples->call_tree;
	const struct call_tree_column *c = st->columns ? &st->column[r->options->column] : NULL;

	text_add(out, "\n");
	if (q->damage[0]) {
		text_add(out, " %spartial:%s ", ink_on(s, INK_BAD), ink_off(s));
		put_name(out, q->damage, 0);
		text_add(out, "; only the part before that is shown\n");
	}
	if (c && (c->samples || c->counted))
		put_sure(out, r, c, s);
	if (q->weightless)
		text_add(out, " The recording has no periods: every sample counts as 1.\n");
	report_clock_text(out, r->samples, s);
	report_broke_off_text(out, q->broke_off, s);
	report_partial_text(out, r->samples, " ", s);
	put_losses(out, q, s);
	put_broken(out, q, s);
	put_leaf_callers(out, r, s);
	if (report_ratio_mixed(r))
		text_add(
			out,
			" %sratios are mixed where functions are short%s: the counters of a group are read at each sample, and the counts since the previous sample are\n"
			"   attributed to the code of this sample; a ratio is right if each call of the function lasts longer than this\n",
			ink_on(s, INK_CAREFUL), ink_off(s));
	if (q->no_unwinding[0])
		text_add(out, " recorded stacks were not unwound: %s\n", q->no_unwinding);
	if (c && c->skids && r->report && r->report->keys & (REPORT_ADDRESS | REPORT_LINE))
		text_add(
			out,
			" %s%s is not precise: an address may be some instructions after the one that caused the "
			"event%s\n",
			ink_on(s, INK_CAREFUL), call_tree_name(st, c->name), ink_off(s));
	put_skid(out, r);
	put_unnamed(out, r, s);
	put_by_name(out, r->samples, s);
}

/* ---- table ---- */

struct columns {
	uint32_t other[OTHER_EVENTS];
	unsigned others;
	bool total;
	size_t module_room, function_room;
};

static struct columns choose(const struct report_shown *r, const struct style *s)
{
	const struct call_tree *st = r->samples->call_tree;
	struct columns c = { .total = r->samples->quality.with_stacks };
	unsigned numbers;

	for (uint32_t i = 0; i < st->columns && c.others < OTHER_EVENTS; i++)
		if (i != r->options->column)
			c.other[c.others++] = i;
	numbers = 10 + (c.total ? 10 : 0) + 14 + 14 * c.others + (r->ratio ? 10 : 0) +
		(r->report->keys & REPORT_COMM ? 18 : 0) +
		(r->report->keys & REPORT_MODULE ? MODULE_MOST : 0) +
		(r->report->keys & REPORT_ADDRESS ? 18 : 0) +
		(r->report->keys & REPORT_LINE ? 30 : 0) +
		(r->report->keys & (REPORT_PID | REPORT_TID) ? 16 : 0);
	c.module_room = MODULE_MOST;
	c.function_room = (unsigned)s->width > numbers + FUNCTION_LEAST
		? (unsigned)s->width - numbers
		: FUNCTION_LEAST;
	return c;
}

static bool fields_apart(const struct report_shown *r)
{
	return r->report->keys & REPORT_TRACE && r->samples->n_fields <= FIELDS_APART;
}

/* The values of fields of tracepoints: one per column, or all in one. */
static void put_fields(struct grid *g, const struct report_shown *r, const struct report_what *w)
{
	const struct call_tree *st = r->samples->call_tree;
	struct text t = { 0 };

	for (size_t i = 0; fields_apart(r) && i < r->samples->n_fields; i++) {
		const struct call_tree_trace *v = traced_value(st, w->trace, r->samples->field[i]);

		put_name(&t, v ? call_tree_name(st, v->value) : "-",
			 r->samples->n_fields == 1 ? 2 * FIELD_MOST : FIELD_MOST);
		grid_next(g, false, !v || v->kind == CALL_TREE_TRACE_ABSENT ? INK_FAINT : INK_PLAIN,
			  &t);
	}
	if (fields_apart(r))
		return;
	traced_text(&t, st, w->trace);
	if (!t.len)
		text_add(&t, "-");
	grid_next(g, false, INK_PLAIN, &t);
}

static void heads(struct grid *g, const struct report_shown *r, const struct columns *c)
{
	const struct call_tree *st = r->samples->call_tree;
	unsigned keys = r->report->keys;
	struct text t = { 0 };

	grid_row(g);
	grid_title(g, true, "self");
	if (c->total)
		grid_title(g, true, "total");
	put_name(&t, call_tree_name(st, st->column[r->options->column].name), 20);
	grid_next(g, true, INK_FAINT, &t);
	for (unsigned i = 0; i < c->others; i++) {
		put_name(&t, call_tree_name(st, st->column[c->other[i]].name), 20);
		grid_next(g, true, INK_FAINT, &t);
	}
	if (r->ratio) {
		put_name(&t, r->ratio->text, 24);
		grid_next(g, true, INK_FAINT, &t);
	}
	if (fields_apart(r))
		for (size_t i = 0; i < r->samples->n_fields; i++) {
			put_name(&t, call_tree_name(st, r->samples->field[i]), FIELD_MOST);
			grid_next(g, false, INK_FAINT, &t);
		}
	else if (keys & REPORT_TRACE)
		grid_title(g, false, "fields");
	if (keys & (REPORT_COMM | REPORT_PID | REPORT_TID))
		grid_title(g, false,
			   keys & REPORT_COMM          ? "command"
				   : keys & REPORT_TID ? "process/thread"
						       : "process");
	if (keys & (REPORT_MODULE | REPORT_ADDRESS))
		grid_title(g, false, "module");
	if (keys & (REPORT_FUNCTION | REPORT_LINE | REPORT_ADDRESS))
		grid_title(g, false,
			   keys & REPORT_FUNCTION       ? "function"
				   : keys & REPORT_LINE ? "line"
							: "address");
}

static void put_task(struct text *t, const struct report_shown *r, const struct report_what *w)
{
	unsigned keys = r->report->keys;

	if (keys & REPORT_COMM)
		put_name(t, call_tree_name(r->samples->call_tree, w->comm), 16);
	if (keys & REPORT_TID)
		text_add(t, "%s%u/%u", t->len ? " " : "", w->pid, w->tid);
	else if (keys & REPORT_PID)
		text_add(t, "%s%u", t->len ? " " : "", w->pid);
}

static void put_place(struct text *t, const struct report_shown *r, const struct report_what *w,
		      size_t room)
{
	const struct call_tree *st = r->samples->call_tree;
	unsigned keys = r->report->keys;

	if (keys & REPORT_FUNCTION) {
		put_name(t, call_tree_name(st, w->function), room);
		if (w->flags & CALL_TREE_INLINED)
			text_add(t, " (inlined)");
	}
	if (keys & REPORT_ADDRESS && !(w->flags & CALL_TREE_MARK))
		text_add(t, "%s0x%llx", t->len ? " " : "", (unsigned long long)w->address);
	if (keys & REPORT_LINE && w->file) {
		text_add(t, "%s", t->len ? "  " : "");
		put_name(t, path_base(call_tree_name(st, w->file)), 60);
		text_add(t, ":%u", w->line);
	} else if (keys & REPORT_LINE && !(keys & (REPORT_FUNCTION | REPORT_ADDRESS))) {
		text_add(t, "[unknown]");
	}
}

static void put_row(struct grid *g, const struct report_shown *r, const struct columns *c,
		    const struct report_row *row, const struct style *s)
{
	const struct call_tree *st = r->samples->call_tree;
	uint32_t by = r->options->column;
	const struct call_tree_column *column = &st->column[by];
	unsigned keys = r->report->keys;
	struct text t = { 0 };
	double ratio;

	grid_row(g);
	put_share(&t, row->self[by], column->amount);
	grid_next(g, true, INK_STRONG, &t);
	if (c->total) {
		put_share(&t, row->total[by], column->amount);
		grid_next(g, true, INK_PLAIN, &t);
	}
	put_amount(&t, s, st, column, row->self[by]);
	grid_next(g, true, INK_PLAIN, &t);
	for (unsigned i = 0; i < c->others; i++) {
		put_amount(&t, s, st, &st->column[c->other[i]], row->self[c->other[i]]);
		grid_next(g, true, INK_PLAIN, &t);
	}
	if (r->ratio) {
		if (derived_of(r->ratio, row->self, &ratio))
			put_significant(&t, s, ratio);
		else
			text_add(&t, "-");
		grid_next(g, true, INK_PLAIN, &t);
	}
	if (keys & REPORT_TRACE)
		put_fields(g, r, &row->what);
	if (keys & (REPORT_COMM | REPORT_PID | REPORT_TID)) {
		put_task(&t, r, &row->what);
		grid_next(g, false, INK_PLAIN, &t);
	}
	if (keys & (REPORT_MODULE | REPORT_ADDRESS)) {
		put_name(&t, path_base(call_tree_name(st, row->what.module)), c->module_room);
		grid_next(g, false, INK_PLAIN, &t);
	}
	put_place(&t, r, &row->what, c->function_room);
	if (t.len)
		grid_next(g, false,
			  row->what.flags &
					  (CALL_TREE_UNKNOWN | CALL_TREE_MARK | CALL_TREE_NAMELESS)
				  ? INK_FAINT
				  : INK_PLAIN,
			  &t);
	text_free(&t);
}

static bool is_shown(const struct report_shown *r, size_t i)
{
	const struct report_row *row = &r->report->row[i];
	uint32_t by = r->options->column;
	uint64_t all = r->samples->call_tree->column[by].amount;
	uint64_t amount = r->options->by_total ? row->total[by] : row->self[by];

	if (!amount && !(r->samples->quality.with_stacks && row->total[by] && r->options->by_total))
		return false;
	return !(r->least_percent > 0) || 100.0 * (double)amount >= r->least_percent * (double)all;
}

static void put_rest(struct text *out, const struct report_shown *r, size_t rows, uint64_t self,
		     const struct style *s)
{
	text_add(out, "\n %zu more %s with ", rows, rows == 1 ? "row" : "rows");
	put_share(out, self, r->samples->call_tree->column[r->options->column].amount);
	text_add(out, " together%s\n", r->limit ? " (-n 0 shows all)" : "");
	(void)s;
}

/* Functions that have no row, because they were inlined. */
static void put_inlined(struct text *out, const struct samples *of)
{
	for (size_t i = 0; i < of->n_inlined; i++) {
		text_add(out, "%s ", i ? "" : "\n");
		put_name(out, of->inlined[i].into, INLINED_MOST);
		text_add(out, " includes inlined functions, mainly ");
		put_name(out, of->inlined[i].function, INLINED_MOST);
		text_add(out, ".\n");
	}
	if (of->n_inlined)
		text_add(out, " --inline shows inlined functions as rows.\n");
}

static void put_table(struct text *out, const struct report_shown *r, const struct style *s)
{
	struct columns c = choose(r, s);
	struct grid g = { 0 };
	size_t shown = 0, left = 0;
	uint64_t left_self = 0;

	heads(&g, r, &c);
	for (size_t i = 0; i < r->report->n; i++) {
		if (is_shown(r, i) && (!r->limit || shown < r->limit)) {
			put_row(&g, r, &c, &r->report->row[i], s);
			shown++;
		} else if (r->report->row[i].self[r->options->column]) {
			left++;
			left_self += r->report->row[i].self[r->options->column];
		}
	}
	grid_end(out, &g, s, 1);
	if (left)
		put_rest(out, r, left, left_self, s);
	if (r->report->hidden)
		text_add(out, "\n the filter leaves %zu rows out; shares are of all samples\n",
			 r->report->hidden);
	put_inlined(out, r->samples);
}

/* ---- callers and callees ---- */

static void put_relatives(struct text *out, const char *title, const char *none,
			  const struct report_relative *row, size_t n, const struct report_shown *r,
			  const struct style *s)
{
	const struct call_tree *st = r->samples->call_tree;
	const struct call_tree_column *column = &st->column[r->options->column];
	struct grid g = { .columns = 4, .right = { true, true, false, false } };

	if (n)
		text_add(out, " %s\n", title);
	for (size_t i = 0; i < n && (!r->limit || i < r->limit); i++) {
		struct text t = { 0 };

		grid_row(&g);
		put_share(&t, row[i].amount, r->relatives->total);
		grid_put(&g, 0, INK_STRONG, &t);
		put_amount(&t, s, st, column, row[i].amount);
		grid_put(&g, 1, INK_PLAIN, &t);
		if (row[i].function)
			put_name(&t, path_base(call_tree_name(st, row[i].module)), MODULE_MOST);
		grid_put(&g, 2, INK_PLAIN, &t);
		put_name(&t, row[i].function ? call_tree_name(st, row[i].function) : none,
			 s->width > 70 ? (size_t)s->width - 60 : FUNCTION_LEAST);
		grid_put(&g, 3, INK_PLAIN, &t);
		text_free(&t);
	}
	grid_end(out, &g, s, 3);
	if (r->limit && n > r->limit)
		text_add(out, "   ... %zu more\n", n - r->limit);
}

static void put_butterfly(struct text *out, const struct report_shown *r, const struct style *s)
{
	const struct call_tree *st = r->samples->call_tree;
	const struct call_tree_column *column = &st->column[r->options->column];
	const struct report_relatives *f = r->relatives;

	put_relatives(out, "called by", "(none: the chain ends here)", f->caller, f->callers, r, s);
	text_add(out, "\n %s", ink_on(s, INK_STRONG));
	put_name(out, r->function, 0);
	text_add(out, "%s: ", ink_off(s));
	put_share(out, f->total, column->amount);
	text_add(out, " of ");
	put_name(out, call_tree_name(st, column->name), 60);
	text_add(out, ", ");
	put_share(out, f->self, column->amount);
	text_add(out, " in itself\n%s", f->callees ? "\n" : "");
	put_relatives(out, "calls", "", f->callee, f->callees, r, s);
}

void report_text(struct text *out, const struct report_shown *r, const struct style *s)
{
	report_head_text(out, r, s);
	if (r->relatives)
		put_butterfly(out, r, s);
	else if (r->report->n)
		put_table(out, r, s);
	else
		text_add(out, " no samples%s\n", r->samples->quality.samples ? " that match" : "");
	report_quality_text(out, r, s);
}

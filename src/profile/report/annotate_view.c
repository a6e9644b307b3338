/* SPDX-License-Identifier: MIT */
/*
 * Instructions in the order of their addresses with the counts of each event on the left, and the
 * source line above the first of the instructions that belong to it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "base/path.h"
#include "perfdata/perfdata_features.h"
#include "profile/report/annotate_view.h"
#include "profile/report/source_files.h"
#include "output/csv.h"
#include "output/escape.h"
#include "output/json.h"
#include "count/partial.h"
#include "profile/report/report_view.h"

enum {
	COLUMN_WIDTH = 14,
	NAME_NARROW = 12,
	WIDE = 100,
	TEXT_LEAST = 16,
	COLUMNS_MAX = 4,
	HOT_PERCENT = 5
};

static struct source_files sources_of(const struct annotate_shown *s)
{
	struct source_files all = {
		.root = s->root, .owned = s->of->owned, .owner = s->of->owner, .any = s->any_source
	};
	struct stat st;

	if (stat(s->of->module, &st) == 0)
		all.program = st.st_mtim;
	return all;
}

/* ---- text ---- */

/* Executions have no percentages: most instructions of a function have the same count. */
static bool has_shares(const struct annotate_shown *s)
{
	return s->samples || !s->of->column[s->column].exact;
}

static double share_of(const struct annotate_shown *s, const struct annotate_line *l)
{
	const struct annotate_column *c = &s->of->column[s->column];

	return c->here ? 100.0 * (double)l->amount[s->column] / (double)c->here : 0;
}

static void put_amount(struct text *out, const struct style *style, const struct annotate_column *c,
		       int64_t amount)
{
	if (amount < 0)
		text_add(out, "%lld", (long long)amount);
	else if (!strcmp(c->unit, "ns"))
		put_time(out, style, (uint64_t)amount);
	else
		put_count(out, style, (uint64_t)amount);
}

static void put_right(struct text *out, const struct text *t, size_t width)
{
	size_t n = t->s ? shown_width(t->s) : 0;

	text_add(out, "%*s%s", (int)(n < width ? width - n : 0), "", t->s ? t->s : "");
}

static uint32_t columns_shown(const struct annotate_shown *s)
{
	return s->of->columns < COLUMNS_MAX ? s->of->columns : COLUMNS_MAX;
}

/* As wide as necessary: a narrow terminal may shorten names, but not amounts. */
struct widths {
	size_t column[COLUMNS_MAX], address, instruction; /* address of the instruction */
};

static struct widths widths_of(const struct annotate_shown *s, const struct style *style)
{
	struct widths w = { .address = strlen("address") };

	for (uint32_t c = 0; c < columns_shown(s); c++) {
		struct text name = { 0 };

		put_name(&name, s->of->column[c].name,
			 style->width < WIDE ? NAME_NARROW : COLUMN_WIDTH - 1);
		w.column[c] = name.s ? shown_width(name.s) : 0;
		text_free(&name);
	}
	for (size_t i = 0; i < s->of->lines; i++) {
		const struct annotate_line *l = &s->of->line[i];
		int digits = snprintf(NULL, 0, "%llx", (unsigned long long)l->address);

		w.address = (size_t)digits > w.address ? (size_t)digits : w.address;
		for (uint32_t c = 0; c < columns_shown(s); c++) {
			struct text t = { 0 };

			put_amount(&t, style, &s->of->column[c], l->amount[c]);
			if (t.s && shown_width(t.s) > w.column[c])
				w.column[c] = shown_width(t.s);
			text_free(&t);
		}
	}
	w.instruction = 1 + (has_shares(s) ? 8 : 0) + 2 + w.address + 2;
	for (uint32_t c = 0; c < columns_shown(s); c++)
		w.instruction += w.column[c] += 2;
	return w;
}

static void put_counts(struct text *out, const struct annotate_shown *s,
		       const struct annotate_line *l, const struct widths *w,
		       const struct style *style)
{
	double share = share_of(s, l);
	struct text t = { 0 };

	text_put(out, " ", 1);
	if (has_shares(s)) {
		if (l->amount[s->column])
			text_add(&t, "%.2f %%", share);
		text_add(out, "%s", share >= HOT_PERCENT ? ink_on(style, INK_STRONG) : "");
		put_right(out, &t, 8);
		text_add(out, "%s", share >= HOT_PERCENT ? ink_off(style) : "");
		text_free(&t);
	}
	for (uint32_t c = 0; c < columns_shown(s); c++) {
		t = (struct text){ 0 };
		/* 0 executions is a fact; no samples means little. */
		if (l->amount[c] || s->of->column[c].exact)
			put_amount(&t, style, &s->of->column[c], l->amount[c]);
		put_right(out, &t, w->column[c]);
		text_free(&t);
	}
}

static void put_heads(struct text *out, const struct annotate_shown *s, const struct widths *w,
		      const struct style *style)
{
	text_add(out, " %s", ink_on(style, INK_FAINT));
	if (has_shares(s))
		text_add(out, "%8s", "share");
	for (uint32_t c = 0; c < columns_shown(s); c++) {
		struct text t = { 0 };

		put_name(&t, s->of->column[c].name, w->column[c] - 2);
		put_right(out, &t, w->column[c]);
		text_free(&t);
	}
	text_add(out, "  %*s  instruction%s\n", (int)w->address, "address", ink_off(style));
}

static void put_source(struct text *out, const struct annotate_shown *s,
		       struct source_files *sources, const struct annotate_line *l, unsigned indent,
		       const struct style *style)
{
	struct source_file *file = s->source ? source_files_find(sources, l->file) : NULL;

	text_add(out, "%*s%s", (int)indent, "", ink_on(style, INK_FAINT));
	put_name(out, path_base(l->file), 40);
	text_add(out, ":%u", l->line);
	if (file && l->line && l->line <= file->lines) {
		text_add(out, "  ");
		escape_source(out, file->line[l->line - 1]);
	}
	text_add(out, "%s\n", ink_off(style));
}

static void put_instruction(struct text *out, const struct annotate_line *l, const struct widths *w,
			    const struct style *style)
{
	size_t from, used;

	text_add(out, "  %*llx  ", (int)w->address, (unsigned long long)l->address);
	from = out->len;
	if (l->text[0]) {
		put_name(out, l->text, 0);
	} else {
		for (unsigned i = 0; l->bytes[0] && i < l->size && i < sizeof(l->bytes); i++)
			text_add(out, "%s%02x", i ? " " : "", l->bytes[i]);
	}
	if (l->target) {
		text_add(out, "  <");
		used = w->instruction + (out->s ? shown_width(out->s + from) : 0) + 1;
		put_name(out, l->target,
			 (size_t)style->width > used + TEXT_LEAST ? (size_t)style->width - used
								  : TEXT_LEAST);
		text_add(out, ">");
	}
	text_put(out, "\n", 1);
}

static void put_head(struct text *out, const struct annotate_shown *s, const struct style *style)
{
	const struct annotation *a = s->of;
	const struct annotate_column *c = &a->column[s->column];

	text_add(out, "%s", ink_on(style, INK_STRONG));
	put_name(out, a->function, 0);
	text_add(out, "%s in ", ink_off(style));
	put_name(out, a->module, 0);
	text_add(out, ", 0x%llx to 0x%llx\n  ", (unsigned long long)a->start,
		 (unsigned long long)a->end);
	if (c->exact && s->samples) {
		put_amount(out, style, c, c->here);
		text_add(out, " of ");
		put_name(out, c->name, 60);
		text_add(out, " in it, ");
	} else if (c->exact) {
		put_count(out, style, (uint64_t)(c->here > 0 ? c->here : 0));
		text_add(out, " instructions executed in it, ");
	} else {
		put_amount(out, style, c, c->here);
		text_add(out, " of ");
		put_name(out, c->name, 60);
		text_add(out, " in ");
		put_count(out, style, c->samples);
		text_add(out, c->samples == 1 ? " sample, " : " samples, ");
	}
	put_percent(out, c->all ? 100.0 * (double)c->here / (double)c->all : 0);
	text_add(out, c->exact ? " of all: every execution was counted\n\n" : " of all\n\n");
}

static const struct samples_by_name *by_name(const struct annotate_shown *s)
{
	return s->samples ? samples_by_name(s->samples, s->of->module) : NULL;
}

/*
 * As report_mixed(): the counter was read at another event's samples and counts the events since
 * the previous sample.
 */
static bool is_mixed(const struct annotate_shown *s, uint32_t column)
{
	const struct call_tree *st = s->samples ? s->samples->call_tree : NULL;

	return st && column < st->columns && st->column[column].read &&
		!st->column[column].asked.by_code && !s->of->column[column].exact;
}

void annotate_mixed(struct text *out, const struct annotate_shown *s, const struct style *style)
{
	unsigned n = 0;

	for (uint32_t c = 0; c < s->of->columns; c++) {
		if (!is_mixed(s, c))
			continue;
		text_add(out, "%s", n++ ? ", " : " ");
		if (n == 1)
			text_add(out, "%s", ink_on(style, INK_CAREFUL));
		put_name(out, s->of->column[c].name, 60);
	}
	if (n)
		text_add(
			out,
			" %s mixed where functions are short%s: the counters of a group are read at each sample, and the counts since the previous sample are\n"
			"   attributed to the instruction of this sample\n",
			n == 1 ? "is" : "are", ink_off(style));
}

static void put_notes(struct text *out, const struct annotate_shown *s,
		      const struct source_files *sources, const struct style *style)
{
	const struct annotation *a = s->of;
	const struct annotate_column *c = &a->column[s->column];

	text_put(out, "\n", 1);
	if (c->skids)
		text_add(
			out,
			" %s%s is not precise: a count may belong to an instruction shortly before the one it is shown at%s\n",
			ink_on(style, INK_CAREFUL), c->name, ink_off(style));
	if (s->samples && (c->skids || s->skid.asked) && s->column < s->samples->call_tree->columns)
		skid_known_text(out, &s->skid, s->samples, s->column);
	if (!c->exact && c->samples < 100)
		text_add(out,
			 " %sonly %llu sample%s: shares of single instructions mean little%s\n",
			 ink_on(style, INK_CAREFUL), (unsigned long long)c->samples,
			 c->samples == 1 ? "" : "s", ink_off(style));
	if (s->samples && s->samples->counted.why)
		text_add(out,
			 " counts are from samples, although the recording has exact counts: %s\n",
			 s->samples->counted.why);
	annotate_mixed(out, s, style);
	if (by_name(s))
		report_by_name_text(out, by_name(s), style);
	if (s->samples) {
		report_clock_text(out, s->samples, style);
		report_broke_off_text(out, s->samples->quality.broke_off, style);
		report_partial_text(out, s->samples, " ", style);
	}
	if (a->between)
		text_add(
			out,
			" %llu samples were not at the first byte of an instruction: they are shown at the instruction that contains them\n",
			(unsigned long long)a->between);
	if (a->no_code)
		text_add(out, " no instructions: %s\n", a->no_code);
	if (a->left_out)
		text_add(out, " %zu bytes of it are not shown\n", a->left_out);
	for (size_t i = 0; i < sources->n; i++)
		if (sources->file[i].newer) {
			text_add(out, " %s", ink_on(style, INK_CAREFUL));
			put_name(out, sources->file[i].file, 0);
			text_add(out, " is newer than the program: its lines may have moved%s\n",
				 ink_off(style));
		}
	for (size_t i = 0; i < sources->n; i++)
		if (sources->file[i].refused) {
			text_add(out, " %s", ink_on(style, INK_CAREFUL));
			put_name(out, sources->file[i].file, 0);
			text_add(
				out,
				" is not shown: the program names it, and it belongs to another user (--any-source shows it)%s\n",
				ink_off(style));
		}
	if (a->others) {
		text_add(out, " also counted: ");
		put_name(out, a->others, 0);
		text_add(out, " (--filter module=PATTERN chooses)\n");
	}
}

void annotate_text(struct text *out, const struct annotate_shown *s, const struct style *style)
{
	const struct annotation *a = s->of;
	struct source_files sources = sources_of(s);
	const struct widths w = widths_of(s, style);
	unsigned indent = (unsigned)(w.instruction - w.address - 2);
	const struct annotate_line *last = NULL;
	size_t cold = 0;

	put_head(out, s, style);
	put_heads(out, s, &w, style);
	for (size_t i = 0; i < a->lines; i++) {
		const struct annotate_line *l = &a->line[i];

		if (s->least_percent > 0 && share_of(s, l) < s->least_percent) {
			cold++;
			continue;
		}
		if (cold)
			text_add(out, "%*s%s... %zu with less%s\n", (int)indent, "",
				 ink_on(style, INK_FAINT), cold, ink_off(style));
		cold = 0;
		if (l->file &&
		    (!last || !last->file || last->line != l->line || strcmp(last->file, l->file)))
			put_source(out, s, &sources, l, indent, style);
		last = l;
		put_counts(out, s, l, &w, style);
		put_instruction(out, l, &w, style);
	}
	if (cold)
		text_add(out, "%*s%s... %zu with less%s\n", (int)indent, "",
			 ink_on(style, INK_FAINT), cold, ink_off(style));
	put_notes(out, s, &sources, style);
	source_files_free(&sources);
}

/* ---- for programs ---- */

static void hex_bytes(char out[40], const struct annotate_line *l)
{
	out[0] = '\0';
	for (unsigned i = 0; i < l->size && i < sizeof(l->bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", l->bytes[i]);
}

/* The most lines without instructions, between two with instructions, that are shown as context. */
enum { CONTEXT_LINES = 8 };

static bool mark_lines(const struct annotate_shown *s, struct source_files *sources)
{
	const struct annotation *a = s->of;

	for (size_t i = 0; s->source && i < a->lines; i++) {
		const struct annotate_line *l = &a->line[i];
		struct source_file *of = l->file ? source_files_find(sources, l->file) : NULL;

		if (!of || !l->line || l->line > of->lines)
			continue;
		if (!of->put && !(of->put = calloc(of->lines, sizeof(*of->put))))
			return false;
		of->put[l->line - 1] = true;
	}
	return true;
}

static void json_lines(struct json *j, const struct source_file *of)
{
	size_t last = of->lines; /* the last one that is marked */

	for (size_t i = 0; of->put && i < of->lines; i++) {
		size_t from = last < i && i - last <= CONTEXT_LINES + 1 ? last + 1 : i;

		if (!of->put[i])
			continue;
		for (last = i; from <= i; from++) {
			json_object(j, NULL);
			json_string(j, "file", of->file);
			json_uint(j, "line", from + 1);
			json_string(j, "text", of->line[from]);
			json_end(j);
		}
	}
}

/* The lines with instructions, and the files that are newer than the program or not shown. */
static void json_sources(struct json *j, const struct annotate_shown *s)
{
	struct source_files sources = sources_of(s);

	json_array(j, "source_lines");
	j->out.failed |= !mark_lines(s, &sources);
	for (size_t i = 0; i < sources.n; i++)
		json_lines(j, &sources.file[i]);
	json_end(j);
	json_array(j, "newer_sources");
	for (size_t i = 0; i < sources.n; i++)
		if (sources.file[i].newer)
			json_string(j, NULL, sources.file[i].file);
	json_end(j);
	json_array(j, "refused_sources");
	for (size_t i = 0; i < sources.n; i++)
		if (sources.file[i].refused)
			json_string(j, NULL, sources.file[i].file);
	json_end(j);
	source_files_free(&sources);
}

void annotate_json(struct text *out, const struct annotate_shown *s)
{
	const struct annotation *a = s->of;
	struct json j = { 0 };
	char word[40];

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/annotate/1");
	json_string(&j, "file", s->path);
	json_string(&j, "function", a->function);
	json_string(&j, "module", a->module);
	snprintf(word, sizeof(word), "0x%llx", (unsigned long long)a->start);
	json_string(&j, "start", word);
	snprintf(word, sizeof(word), "0x%llx", (unsigned long long)a->end);
	json_string(&j, "end", word);
	json_array(&j, "events");
	for (uint32_t c = 0; c < a->columns; c++) {
		json_object(&j, NULL);
		json_string(&j, "event", a->column[c].name);
		json_string(&j, "unit", a->column[c].unit);
		json_string(&j, "quality", a->column[c].exact ? "exact" : "sampled");
		json_bool(&j, "skids", a->column[c].skids);
		json_bool(&j, "mixed", is_mixed(s, c));
		if (s->samples)
			skid_known_json(&j, &s->skid, s->samples->file, a->column[c].name);
		json_int(&j, "here", a->column[c].here);
		json_int(&j, "all", a->column[c].all);
		json_uint(&j, "samples", a->column[c].samples);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "instructions");
	for (size_t i = 0; i < a->lines; i++) {
		const struct annotate_line *l = &a->line[i];

		json_object(&j, NULL);
		snprintf(word, sizeof(word), "0x%llx", (unsigned long long)l->address);
		json_string(&j, "address", word);
		hex_bytes(word, l);
		json_string(&j, "bytes", a->no_code ? NULL : word);
		json_string(&j, "text", l->text[0] ? l->text : NULL);
		json_string(&j, "target", l->target);
		json_string(&j, "file", l->file);
		json_uint_if(&j, "line", l->file, l->line);
		json_array(&j, "amounts");
		for (uint32_t c = 0; c < a->columns; c++)
			json_int(&j, NULL, l->amount[c]);
		json_end(&j);
		json_array(&j, "samples");
		for (uint32_t c = 0; c < a->columns; c++)
			json_uint(&j, NULL, l->samples[c]);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_sources(&j, s);
	json_string(&j, "by_samples_as", s->samples ? s->samples->counted.why : NULL);
	json_bool(&j, "build_verified", !by_name(s));
	json_bool(&j, "newer_than_recording", by_name(s) && by_name(s)->newer);
	json_bool(&j, "other_file", by_name(s) && by_name(s)->other);
	json_bool(&j, "broke_off", s->samples && s->samples->quality.broke_off);
	if (s->samples && perfdata_features(s->samples->file)->partial)
		partial_json(&j, perfdata_features(s->samples->file)->partial);
	json_string(&j, "no_instructions", a->no_code);
	json_uint(&j, "between_instructions", a->between);
	json_uint(&j, "bytes_left_out", a->left_out);
	json_string(&j, "others", a->others);
	json_end(&j);
	json_into(out, &j);
}

static void quoted(struct text *out, const char *name)
{
	struct text safe = { 0 };
	const char *value;

	csv_safe(&safe, name);
	out->failed |= safe.failed;
	value = safe.s ? safe.s : "";
	text_put(out, "\"", 1);
	for (; *value; value++) {
		if (*value == '"')
			text_put(out, "\"", 1);
		text_put(out, value, 1);
	}
	text_put(out, "\"", 1);
	text_free(&safe);
}

void annotate_csv(struct text *out, const struct annotate_shown *s)
{
	const struct annotation *a = s->of;

	text_add(out, "address,instruction,file,line");
	for (uint32_t c = 0; c < a->columns; c++) {
		text_put(out, ",", 1);
		quoted(out, a->column[c].name);
	}
	text_add(out, "\r\n");
	for (size_t i = 0; i < a->lines; i++) {
		const struct annotate_line *l = &a->line[i];

		text_add(out, "0x%llx,", (unsigned long long)l->address);
		quoted(out, l->text);
		text_put(out, ",", 1);
		quoted(out, l->file ? l->file : "");
		text_put(out, ",", 1);
		if (l->file)
			text_add(out, "%u", l->line);
		for (uint32_t c = 0; c < a->columns; c++)
			text_add(out, ",%lld", (long long)l->amount[c]);
		text_add(out, "\r\n");
	}
}

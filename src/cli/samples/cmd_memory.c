/* SPDX-License-Identifier: MIT */
/* tare memory: which memory accesses are slow, which data they touch, and which cache or memory
 * supplied it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/recordings.h"
#include "profile/report/tell_names.h"
#include "perfdata/dump/tell_partial.h"
#include "output/page_file.h"
#include "cli/samples/sample_options.h"
#include "memory/allocations_view.h"
#include "output/escape.h"
#include "memory/memory_view.h"

enum { ROWS_SHOWN = 30, ROWS_ON_A_PAGE = 2000 };

struct memory_cli {
	struct sample_options common;
	enum memory_by by;
	enum memory_sort sort;
	size_t limit;
	bool limit_set, by_set;
	const char *sort_word; /* NULL: not given */
	bool allocations, verbose;
};

static int set_by(void *options, const char *arg, struct tare_error *err)
{
	struct memory_cli *o = options;

	for (o->by = 0; o->by < MEMORY_BYS; o->by++)
		if (!strcmp(arg, memory_by_name(o->by))) {
			o->by_set = true;
			return 0;
		}
	tare_fail(err, EINVAL, "there is no '%.40s'", arg);
	if (!strncmp(arg, "alloc", 5) || !strcmp(arg, "block"))
		return tare_hint(
			       err,
			       "--allocations shows who allocates; accesses to blocks are rows of --by symbol where tare record --alloc was used"),
		       -EINVAL;
	tare_hint(err,
		  "one of line, function, instruction, symbol, page, level, tlb, node, thread");
	return -EINVAL;
}

static int set_sort(void *options, const char *arg, struct tare_error *err)
{
	struct memory_cli *o = options;

	o->sort_word = arg;
	for (enum memory_sort k = MEMORY_SORT_SAMPLES; k < MEMORY_SORTS; k++)
		if (!strcmp(arg, memory_sort_name(k)))
			return 0;
	for (enum allocations_sort k = 0; k < ALLOCATIONS_SORTS; k++)
		if (!strcmp(arg, allocations_sort_name(k)))
			return 0;
	tare_fail(err, EINVAL, "'%.40s' is not a sort key", arg);
	tare_hint(
		err,
		"one of samples, weight, latency, p50, p99, loads, stores, misses, remote, modified; with --allocations bytes, count, peak, live");
	return -EINVAL;
}

/* Accesses and allocations have different sort keys. */
static int find_sort(struct memory_cli *o, enum allocations_sort *sort, struct tare_error *err)
{
	if (!o->sort_word)
		return 0;
	for (*sort = 0;
	     *sort < ALLOCATIONS_SORTS && strcmp(o->sort_word, allocations_sort_name(*sort));)
		++*sort;
	if (o->allocations != (*sort < ALLOCATIONS_SORTS)) {
		tare_fail(err, EINVAL, "--sort %s: %s", o->sort_word,
			  o->allocations ? "accesses are sorted by that, not allocations"
					 : "allocations are sorted by that, not accesses");
		tare_hint(
			err,
			o->allocations
				? "one of bytes, count, peak, live"
				: "with --allocations, or one of samples, weight, latency, p50, p99, loads, stores, misses, remote, modified");
		return -EINVAL;
	}
	for (o->sort = MEMORY_SORT_SAMPLES;
	     !o->allocations && strcmp(o->sort_word, memory_sort_name(o->sort));)
		o->sort++;
	return 0;
}

#define OPTIONS struct memory_cli

static const struct option_row memory_opts[] = {
	{ 0, "allocations", NULL,
	  "who allocates, of tare record --alloc: rows by line (with caller) or function",
	  FLAG(allocations) },
	{ 0, "by", "WHAT",
	  "rows by line, function, instruction, symbol, page, level, tlb, node, thread",
	  SPECIAL_ALL(set_by) },
	{ 's', "sort", "BY",
	  "samples, weight, latency, p50, p99, loads, stores, misses, remote, modified; of --allocations: bytes, count, peak, live",
	  SPECIAL_ALL(set_sort) },
	{ 'n', "limit", "N", "show N rows; 0: all (default: 30, in json and csv all)",
	  NUMBER(limit, 0, UINT64_MAX), GIVEN(limit_set) },
	OUTPUT_HTML_ROW(common.out,
			"write an HTML page to FILE instead, with a table for each --by"),
	{ 'v', "verbose", NULL, "with --allocations: a line for each process", FLAG(verbose) },
	BLOCK_ROW(common, access_rows),
	{ 0 },
};

static int check(const struct memory_cli *o, struct tare_error *err)
{
	if (o->common.out.html &&
	    (o->common.out.path || o->common.out.format != FORMAT_TEXT || o->by_set))
		return tare_fail(err, EINVAL,
				 "--html cannot be combined with --by, --format or -o");
	if (o->verbose && !o->allocations)
		return tare_fail(err, EINVAL, "--verbose needs --allocations");
	if (o->allocations && o->common.out.html)
		return tare_fail(err, EINVAL, "--allocations has no page: text, json and csv");
	if (o->allocations && o->by_set && o->by != MEMORY_BY_LINE && o->by != MEMORY_BY_FUNCTION)
		return tare_fail(err, EINVAL,
				 "--allocations has rows by line or function, not by %s",
				 memory_by_name(o->by));
	return access_options_check(&o->common, err);
}

static const char *lacks(const struct memory *m, enum memory_sort sort)
{
	static const char *const what[MEMORY_SORTS] = {
		[MEMORY_SORT_LATENCY] = "latencies",
		[MEMORY_SORT_P50] = "latencies",
		[MEMORY_SORT_P99] = "latencies",
		[MEMORY_SORT_MISSES] = "the cache or memory level of the data",
		[MEMORY_SORT_REMOTE] = "the distance of the data",
		[MEMORY_SORT_HITM] = "modified lines in other caches",
	};
	bool has = what[sort] == NULL ||
		(sort <= MEMORY_SORT_P99              ? m->latency >= 0
			 : sort == MEMORY_SORT_MISSES ? m->total.placed
			 : sort == MEMORY_SORT_REMOTE ? m->total.distanced
						      : m->total.snooped);

	return has ? NULL : what[sort];
}

/* The data that rows of this kind need and that no access has. */
static const char *lacks_rows(const struct memory *m, const struct memory_table *t)
{
	enum memory_by by = t->by;
	bool node = m->total.distanced;

	for (size_t i = 0; i < t->n && by == MEMORY_BY_NODE; i++)
		node |= t->row[i].is.cpu_node >= 0 || t->row[i].is.memory_node >= 0;
	return by == MEMORY_BY_LEVEL && !m->total.placed && !m->total.distanced
		? "the cache or memory level of the data"
		: by == MEMORY_BY_TLB && !m->total.translated ? "the TLB level"
		: by == MEMORY_BY_NODE && !node ? "nodes of CPUs or memory, or the distance of data"
						: NULL;
}

static int write_page(const struct memory_cli *o, const struct memory_shown *shown,
		      struct tare_error *err)
{
	struct page_file p = PAGE_FILE_INIT;
	int ret = page_file_open(&p, o->common.out.html, NULL, err);

	if (ret == 0)
		ret = page_file_begin(&p, "tare memory", shown->path, 0, err);
	for (size_t i = 0; ret == 0 && i < shown->memory->tables; i++) {
		struct text table = { 0 };

		if (lacks_rows(shown->memory, &shown->memory->table[i])) /* as with --by */
			continue;

		memory_document(&table, FORMAT_JSON, shown, &shown->memory->table[i]);
		if (table.failed)
			ret = tare_fail_nomem(err);
		else
			page_add(&p.page, table.s, table.len);
		text_free(&table);
	}
	if (ret == 0)
		ret = page_file_end(&p, err);
	page_file_abandon(&p);
	return ret;
}

static int write_text(const struct memory_cli *o, const struct memory_shown *shown,
		      struct tare_error *err)
{
	struct opened_output to;
	struct text out = { 0 };
	int ret = sample_open(&to, &o->common, err);

	if (ret < 0)
		return ret;
	if (o->common.out.format == FORMAT_TEXT)
		memory_text(&out, shown, &to.style);
	else
		memory_document(&out, o->common.out.format, shown, shown->memory->table);
	ret = recording_close(&to, &out, err);
	text_free(&out);
	return ret;
}

static int show(const struct memory_cli *o, const char *path, bool *partial, struct tare_error *err)
{
	struct memory_options opts = { .sort = o->sort };
	struct memory_samples_options from = access_options(&o->common);
	struct memory_samples c;
	struct memory m = { 0 };
	enum memory_by all[MEMORY_BYS];
	int ret;

	for (int i = 0; i < MEMORY_BYS; i++)
		all[i] = (enum memory_by)i;
	ret = o->common.out.html ? page_available(err) : 0;
	if (ret < 0)
		return ret;
	ret = memory_samples_open(&c, path, &from, err);
	if (ret == 0)
		ret = memory_read(&m, &c, o->common.out.html ? all : &o->by,
				  o->common.out.html ? MEMORY_BYS : 1, &opts, err);
	if (ret == 0)
		*partial = tell_partial("memory", path, memory_samples_read(&c), c.damage, false);
	if (ret == 0)
		ret = access_any(&c, path, m.total.samples, m.no_accesses, err);
	if (ret == 0 && lacks(&m, o->sort)) {
		ret = tare_fail(err, ENODATA, "--sort %s: the recording does not have %s",
				memory_sort_name(o->sort), lacks(&m, o->sort));
		tare_hint(
			err,
			"its hardware or engine does not measure this; --sort samples always works");
	}
	if (ret == 0 && !o->common.out.html && lacks_rows(&m, m.table)) {
		ret = tare_fail(err, ENODATA, "--by %s: the recording does not have %s",
				memory_by_name(o->by), lacks_rows(&m, m.table));
		tare_hint(
			err,
			"its hardware or engine does not record this; --by line, symbol and page always work");
	}
	if (ret == 0) {
		struct memory_shown shown = { path, &m, o->sort,
					      o->limit_set                 ? o->limit
						      : o->common.out.html ? ROWS_ON_A_PAGE
						      : o->common.out.format == FORMAT_TEXT
						      ? ROWS_SHOWN
						      : 0 };

		if (o->common.out.format == FORMAT_CSV) {
			input_tell_broke_off("memory", path, c.loss.broke_off);
			tell_doubted_names("memory", path, c.unnamed, c.n_unnamed);
		}
		*partial |= c.blocks_damaged;
		ret = o->common.out.html ? write_page(o, &shown, err) : write_text(o, &shown, err);
	}
	memory_free(&m);
	memory_samples_close(&c);
	return ret;
}

/* --filter can only select processes: a process's allocations and frees belong together. */
static int check_filter(const struct samples_filter *f, struct tare_error *err)
{
	if (f->comm || f->from_ns || f->to_ns || f->tid >= 0 || f->cpu >= 0)
		return tare_fail(
			err, EINVAL,
			"--allocations: of --filter only pid= is possible, as blocks can be freed by another thread and at any time");
	return 0;
}

/* On standard error, as in every command, for all formats. */
static void tell_lacking(const char *path, const struct allocations *a)
{
	const struct alloc_loss *loss = &a->recording.blocks_lacking;
	struct text out = { 0 }, what = { 0 };

	alloc_loss_text(&what, loss);
	if (a->lost) {
		text_add(&out, "tare memory: ");
		escape(&out, path, strlen(path));
		text_add(&out, ".alloc: %" PRIu64 " records were lost when it was recorded\n",
			 a->lost);
	}
	if (what.len) {
		text_add(&out, "tare memory: ");
		escape(&out, path, strlen(path));
		text_add(&out, ".alloc: not decoded: %s\n", what.s);
	}
	if (!out.failed && out.len)
		fputs(out.s, stderr);
	text_free(&what);
	text_free(&out);
}

static int show_allocations(const struct memory_cli *o, enum allocations_sort sort,
			    const char *path, bool *partial, struct tare_error *err)
{
	struct allocations_options opts = { .from = access_options(&o->common),
					    .by_function = o->by_set && o->by == MEMORY_BY_FUNCTION,
					    .sort = sort };
	struct allocations_shown shown = { .path = path,
					   .by_function = opts.by_function,
					   .sort = sort,
					   .verbose = o->verbose,
					   .limit = o->limit_set ? o->limit
						   : o->common.out.format == FORMAT_TEXT
						   ? ROWS_SHOWN
						   : 0 };
	struct allocations a = { 0 };
	struct opened_output to;
	struct text out = { 0 };
	int ret = check_filter(&opts.from.filter, err);

	if (ret == 0)
		ret = allocations_read(&a, path, &opts, err);
	if (ret == 0 && !a.total.count && !a.lost) {
		ret = tare_fail(err, ENODATA, "%.200s: no allocation was recorded%s", path,
				opts.from.filter.pid >= 0 ? " of that process" : "");
		tare_hint(err,
			  "static programs and programs with their own malloc are not recorded");
	}
	shown.of = &a;
	if (ret == 0)
		ret = sample_open(&to, &o->common, err);
	if (ret == 0) {
		if (o->common.out.format == FORMAT_TEXT)
			allocations_text(&out, &shown, &to.style);
		else
			allocations_document(&out, o->common.out.format, &shown);
		ret = recording_close(&to, &out, err);
		text_free(&out);
	}
	if (ret == 0) {
		*partial = tell_partial("memory", path, a.recording.file, a.recording.damage,
					false);
		tell_lacking(path, &a);
	}
	*partial |= a.lost || a.damaged;
	allocations_free(&a);
	return ret;
}

static int memory_run(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct memory_cli o = { .common = SAMPLE_OPTIONS_INIT };
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;
	enum allocations_sort sort = ALLOCATIONS_BYTES;
	bool partial = false;

	if (rest >= 0) {
		ret = check(&o, &err);
		if (ret == 0)
			ret = find_sort(&o, &sort, &err);
		if (ret == 0)
			ret = access_one_file(&o.common, argc, argv, rest, &err);
		if (ret == 0)
			input_note_recording(self->name, sample_path(&o.common, argc, argv, rest));
		if (ret == 0 && o.allocations)
			ret = show_allocations(&o, sort, sample_path(&o.common, argc, argv, rest),
					       &partial, &err);
		else if (ret == 0)
			ret = show(&o, sample_path(&o.common, argc, argv, rest), &partial, &err);
		if (ret < 0)
			complain(self, &err, NULL);
		status = ret < 0 ? EXIT_CANNOT_MEASURE : partial ? EXIT_PARTIAL_FILE : 0;
	}
	sample_options_free(&o.common);
	return status;
}

const struct command cmd_memory = {
	.name = "memory",
	.about = "show slow memory accesses and their data, or allocations",
	.args = "[FILE]",
	.example = "  tare memory perf.data\n"
		   "  tare memory --by symbol --sort misses perf.data\n"
		   "  tare memory --html memory.html perf.data\n"
		   "  tare memory --allocations --sort live perf.data",
	.topic = TOPIC_WHERE,
	.common = true,
	.common_options = "allocations by sort limit html input filter format output",
	.words = WORDS_ANYWHERE,
	.options = memory_opts,
	.run = memory_run,
};

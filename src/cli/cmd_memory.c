/* SPDX-License-Identifier: MIT */
/* tare memory: which accesses to memory are slow, what they are to, and what serves them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "cli/input.h"
#include "cli/page_file.h"
#include "cli/sample_options.h"
#include "view/memory_view.h"

enum { ROWS_SHOWN = 30, ROWS_ON_A_PAGE = 2000 };

struct memory_cli {
	struct sample_options common; /* first */
	enum memory_by by;
	enum memory_sort sort;
	size_t limit;
	bool limit_set, by_set;
	const char *html;
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
		return tare_hint(err, "blocks, by the place that took them, are rows of --by symbol where tare record --alloc was used"), -EINVAL;
	tare_hint(err, "one of line, function, instruction, symbol, page, level, tlb, node, thread");
	return -EINVAL;
}

static int set_sort(void *options, const char *arg, struct tare_error *err)
{
	struct memory_cli *o = options;

	for (o->sort = MEMORY_SORT_SAMPLES; o->sort < MEMORY_SORTS; o->sort++)
		if (!strcmp(arg, memory_sort_name(o->sort)))
			return 0;
	tare_fail(err, EINVAL, "'%.40s' is nothing to sort by", arg);
	tare_hint(err, "one of samples, weight, latency, p50, p99, loads, stores, misses, remote, modified");
	return -EINVAL;
}

static int set_limit(void *options, const char *arg, struct tare_error *err)
{
	struct memory_cli *o = options;
	uint64_t n;
	int ret = num_parse(arg, &n, err);

	o->limit = (size_t)n;
	o->limit_set = true;
	return ret;
}

static int set_html(void *options, const char *arg, struct tare_error *err)
{
	((struct memory_cli *)options)->html = arg;
	return *arg ? 0 : tare_fail(err, EINVAL, "a file is wanted");
}

static const struct option_row memory_opts[] = {
	{ 0, "by", "WHAT", "rows by line, function, instruction, symbol, page, level, tlb, node, thread", set_by },
	{ 's', "sort", "BY", "samples, weight, latency, p50, p99, loads, stores, misses, remote, modified", set_sort },
	{ 'n', "limit", "N", "show N rows; 0: all (default: 30, in json and csv all)", set_limit },
	{ 0, "html", "FILE", "write a page there instead, with a table for each --by", set_html },
	ACCESS_OPTION_ROWS,
	{ 0 },
};

static int check(const struct memory_cli *o, struct tare_error *err)
{
	if (o->html && (o->common.output || o->common.format != SAMPLE_TEXT || o->by_set))
		return tare_fail(err, EINVAL, "--html is an output of its own: not with --by, --format or -o");
	return access_options_check(&o->common, err);
}

static const char *lacks(const struct memory *m, enum memory_sort sort)
{
	static const char *const what[MEMORY_SORTS] = {
		[MEMORY_SORT_LATENCY] = "latencies", [MEMORY_SORT_P50] = "latencies",	[MEMORY_SORT_P99] = "latencies",
		[MEMORY_SORT_MISSES] = "what served the data", [MEMORY_SORT_REMOTE] = "how far away the data was",
		[MEMORY_SORT_MODIFIED] = "other caches' modified lines",
	};
	bool has = what[sort] == NULL || (sort <= MEMORY_SORT_P99 ? m->latency >= 0
					  : sort == MEMORY_SORT_MISSES ? m->total.placed
					  : sort == MEMORY_SORT_REMOTE ? m->total.distanced
								       : m->total.snooped);

	return has ? NULL : what[sort];
}

/* What rows by that would have to be told and are not: of no access. */
static const char *lacks_rows(const struct memory *m, enum memory_by by)
{
	const struct memory_table *t = m->table;
	bool node = m->total.distanced;

	for (size_t i = 0; i < t->n && by == MEMORY_BY_NODE; i++)
		node |= t->row[i].is.cpu_node >= 0 || t->row[i].is.memory_node >= 0;
	return by == MEMORY_BY_LEVEL && !m->total.placed && !m->total.distanced ? "what served the data"
	       : by == MEMORY_BY_TLB && !m->total.translated			? "what translated addresses"
	       : by == MEMORY_BY_NODE && !node					? "nodes of CPUs, of memory or how far away data was"
										: NULL;
}

static int write_page(const struct memory_cli *o, const struct memory_shown *shown, struct tare_error *err)
{
	struct page_file p = PAGE_FILE_INIT;
	int ret = page_file_open(&p, o->html, NULL, err);

	if (ret == 0)
		ret = page_file_begin(&p, "tare memory", shown->path, 0, err);
	for (size_t i = 0; ret == 0 && i < shown->memory->tables; i++) {
		struct text table = { 0 };

		memory_json(&table, shown, &shown->memory->table[i]);
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

static int write_text(const struct memory_cli *o, const struct memory_shown *shown, struct tare_error *err)
{
	struct opened_output to;
	struct text out = { 0 };
	int ret = sample_open(&to, &o->common, err);

	if (ret < 0)
		return ret;
	if (o->common.format == SAMPLE_JSON)
		memory_json(&out, shown, shown->memory->table);
	else if (o->common.format == SAMPLE_CSV)
		memory_csv(&out, shown, shown->memory->table);
	else
		memory_text(&out, shown, &to.style);
	ret = form_close(&to, &out, err);
	text_free(&out);
	return ret;
}

static int show(const struct memory_cli *o, const char *path, bool *partial, struct tare_error *err)
{
	struct memory_options opts = { .sort = o->sort };
	struct accessed_options from = access_options(&o->common);
	struct accessed c;
	struct memory m = { 0 };
	enum memory_by all[MEMORY_BYS];
	int ret;

	for (int i = 0; i < MEMORY_BYS; i++)
		all[i] = (enum memory_by)i;
	ret = o->html ? page_available(err) : 0;
	if (ret < 0)
		return ret;
	ret = accessed_open(&c, path, &from, err);
	if (ret == 0)
		ret = memory_read(&m, &c, o->html ? all : &o->by, o->html ? MEMORY_BYS : 1, &opts, err);
	if (ret == 0)
		ret = access_any(&c, path, m.total.samples, m.no_accesses, err);
	if (ret == 0 && lacks(&m, o->sort)) {
		ret = tare_fail(err, ENODATA, "--sort %s: the recording does not tell %s", memory_sort_name(o->sort), lacks(&m, o->sort));
		tare_hint(err, "what recorded it does not measure that; --sort samples always works");
	}
	if (ret == 0 && !o->html && lacks_rows(&m, o->by)) {
		ret = tare_fail(err, ENODATA, "--by %s: the recording does not tell %s", memory_by_name(o->by), lacks_rows(&m, o->by));
		tare_hint(err, "what recorded it does not know that; --by line, symbol and page always work");
	}
	if (ret == 0) {
		struct memory_shown shown = { path, &m, o->sort, o->limit_set ? o->limit
							 : o->html	      ? ROWS_ON_A_PAGE
							 : o->common.format == SAMPLE_TEXT ? ROWS_SHOWN : 0 };

		if (o->common.format == SAMPLE_CSV)
			input_tell_broke_off("memory", path, c.loss.broke_off);
		*partial = c.damage[0] || c.blocks_damaged;
		ret = o->html ? write_page(o, &shown, err) : write_text(o, &shown, err);
	}
	memory_free(&m);
	accessed_close(&c);
	return ret;
}

static int memory_run(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct memory_cli o = { .common = SAMPLE_OPTIONS_INIT };
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;
	bool partial = false;

	if (rest >= 0) {
		ret = check(&o, &err);
		if (ret == 0)
			ret = access_one_file(&o.common, argc, argv, rest, &err);
		if (ret == 0)
			input_note_recording(self->name, sample_path(&o.common, argc, argv, rest));
		if (ret == 0)
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
	.about = "accesses to memory: which are slow, what they are to, what serves them",
	.args = "[FILE]",
	.example = "  tare memory perf.data\n"
		   "  tare memory --by symbol --sort misses perf.data\n"
		   "  tare memory --html memory.html perf.data",
	.topic = TOPIC_WHERE,
	.words = WORDS_ANYWHERE,
	.options = memory_opts,
	.run = memory_run,
};

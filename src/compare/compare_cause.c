/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/path.h"
#include "base/signal_name.h"
#include "compare/compare_cause.h"
#include "launch/environment.h"
#include "launch/output_hash.h"
#include "sample/perfdata_write.h"

/* The amounts are counted; samples only give callers. */
enum { SAMPLES = 4000, PERIOD_LEAST = 1009, STACK_BYTES = 8192 };

/* ---- recording ---- */

static int encode(struct machine *m, struct encoding_list *list, struct tare_error *err)
{
	const struct encode_options how = { .keep_unavailable = true };
	const struct engine_question q = { .wish = ENGINE_EXACT };
	struct event_list events = { 0 };
	int ret = event_list_parse("instructions:u", &events, err);

	if (ret == 0)
		ret = pmu_encode(m, &events, &how, list, err);
	event_list_free(&events);
	if (ret == 0)
		ret = engine_choose(list, &q, err);
	return ret < 0 ? ret : 0;
}

static int sample_to(struct perfdata_writer *w, struct sample_plan *plan, int *by_signal,
		     struct tare_error *err)
{
	struct sample_outcome outcome = { 0 };
	char by[SIGNAL_NAME_ROOM];
	struct output_hash hidden;
	int ret = output_hash_begin(&hidden, err);

	if (ret < 0)
		return ret;
	ret = sample_exact(plan, perfdata_writer_sink(w), &outcome, err);
	output_hash_end(&hidden);
	*by_signal = outcome.by_signal;
	if (outcome.by_signal)
		ret = tare_fail(err, EINTR, "stopped by %s", signal_name(outcome.by_signal, by));
	if (ret == 0 && outcome.uncounted[0])
		ret = tare_fail(err, ENOTSUP, "%.200s", outcome.uncounted);
	if (ret == 0)
		ret = perfdata_writer_finish(w, &outcome, err);
	sample_outcome_free(&outcome);
	return ret;
}

int compare_record(const struct compare_plan *p, enum compare_side side, const char *path,
		   bool stacks, uint64_t instructions, int *by_signal, struct tare_error *err)
{
	const struct perfdata_write_options file = {
		.path = path, .argv = p->argv[side], .build_ids = true, .clockid = -1
	};
	struct determinism usual = { .set = FIXED_LAYOUT }, *fixed = p->fixed ? p->fixed : &usual;
	struct environment environment = { 0 };
	struct encoding_list list = { 0 };
	struct sample_plan plan = {
		.events = &list,
		.how = { .period = instructions / SAMPLES > PERIOD_LEAST ? instructions / SAMPLES
									 : PERIOD_LEAST,
			 .jitter = true,
			 .inherit = true,
			 .clockid = -1,
			 .calls = stacks ? CALLS_DWARF : CALLS_NONE,
			 .stack_bytes = stacks ? STACK_BYTES : 0 },
		.argv = p->argv[side],
		.launcher = &launch_plain,
		.fixed = fixed,
		.target = { .inherit = true },
		.timeout_ns = p->timeout_ns,
		.kills = true,
		.ring_bytes = 512 << 10,
		.ring_most = 512 << 10,
	};
	struct machine *machine = machine_open(NULL, err);
	struct perfdata_writer *w = NULL;
	int back = -1, ret = machine ? compare_enter(p, side, &back, err) : -err->code, left;

	if (ret == 0 && p->input)
		ret = stdin_replay_again(p->input, err);
	if (ret == 0)
		ret = encode(machine, &list, err);
	if (ret == 0)
		ret = environment_fix(&environment, fixed->set, fixed->kept, p->argv[side], environ,
				      err);
	plan.envp = environment.envp;
	if (ret == 0)
		ret = perfdata_writer_open(&w, &file, err);
	if (ret == 0)
		ret = sample_to(w, &plan, by_signal, err);
	perfdata_writer_close(w);
	left = compare_leave(back, ret < 0 ? NULL : err);
	environment_free(&environment);
	encoding_list_free(&list);
	machine_close(machine);
	return ret < 0 ? ret : left;
}

/* ---- both sides as one ---- */

static int by_name(const void *a, const void *b)
{
	const struct compare_row *x = a, *y = b;
	int d = strcmp(x->function, y->function);

	return d ? d : strcmp(x->module, y->module);
}

static int largest_first(const void *a, const void *b)
{
	const struct compare_row *x = a, *y = b;
	uint64_t m = (uint64_t)llabs(x->change), n = (uint64_t)llabs(y->change);

	return m != n ? (m > n ? -1 : 1) : by_name(a, b);
}

/* A function that is inlined in one place, or in one build only, has one row. */
static void merge_inlined(struct compare_cause *c)
{
	size_t n = 0;

	qsort(c->row, c->n, sizeof(*c->row), by_name);
	for (size_t i = 0; i < c->n; i++) {
		struct compare_row *into = n ? &c->row[n - 1] : NULL;

		if (!into || by_name(into, &c->row[i])) {
			c->row[n++] = c->row[i];
			continue;
		}
		for (int side = 0; side < COMPARE_SIDES; side++)
			into->amount[side] += c->row[i].amount[side];
		into->change += c->row[i].change;
		into->inlined |= c->row[i].inlined;
	}
	c->n = n;
}

static int rows(struct compare_cause *c, struct tare_error *err)
{
	const struct report *r = &c->diff.report;

	c->row = calloc(r->n + 1, sizeof(*c->row));
	if (!c->row)
		return tare_fail_nomem(err);
	for (int side = 0; side < COMPARE_SIDES; side++) {
		const struct call_tree_column *column = &c->pair->column[side];

		c->total[side] = column->has_total ? column->total : column->amount;
		c->rest[side] = (int64_t)c->total[side];
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct report_row *from = &r->row[i];
		struct compare_row *row = &c->row[c->n++];

		*row = (struct compare_row){
			.function = call_tree_name(c->pair, from->what.function),
			.module = call_tree_name(c->pair, from->what.module),
			.inlined = from->what.flags & CALL_TREE_INLINED,
			.change = (int64_t)(from->self[COMPARE_AFTER] - from->self[COMPARE_BEFORE]),
		};
		for (int side = 0; side < COMPARE_SIDES; side++) {
			row->amount[side] = from->self[side];
			c->rest[side] -= (int64_t)from->self[side];
		}
		c->by_samples |= !from->counted && (row->amount[0] || row->amount[1]);
	}
	merge_inlined(c);
	for (size_t i = 0; i < c->n; i++)
		c->changed += c->row[i].change != 0;
	qsort(c->row, c->n, sizeof(*c->row), largest_first);
	return 0;
}

/* ---- lines of a function ---- */

struct counted_lines {
	struct compare_counted_line *line;
	size_t n;
};

static int by_line(const void *a, const void *b)
{
	const struct compare_counted_line *x = a, *y = b;
	int d = strcmp(x->file, y->file);

	return d ? d : (x->line > y->line) - (x->line < y->line);
}

static void merge_lines(struct counted_lines *l)
{
	size_t n = 0;

	qsort(l->line, l->n, sizeof(*l->line), by_line);
	for (size_t i = 0; i < l->n; i++)
		if (n && by_line(&l->line[n - 1], &l->line[i]) == 0)
			l->line[n - 1].amount += l->line[i].amount;
		else
			l->line[n++] = l->line[i];
	l->n = n;
}

/* False: there is no line information. */
static bool find_line(struct modules *m, const struct samples_place *p,
		      struct source_files *sources, struct compare_counted_line *l)
{
	struct symbol function;
	struct module *of;
	struct stat st;

	if (!modules_find(m, p->module, p->offset, &function))
		return false;
	of = &m->module[p->module];
	if (!of->symbols || !symbols_line(of->symbols, p->offset, &l->file, &l->line))
		return false;
	if (!sources->n && of->kind == MODULE_FILE && fstat(of->fd, &st) == 0) {
		sources->owned = true;
		sources->owner = st.st_uid;
		sources->program = st.st_mtim;
	}
	return true;
}

static void find_text(struct source_files *sources, struct compare_counted_line *l)
{
	const struct source_file *s = source_files_find(sources, l->file);

	if (s && !s->newer && l->line && l->line <= s->lines)
		l->text = s->line[l->line - 1];
}

/* The lines of a row's function in one recording, by exact counts. */
static int count_lines(struct counted_lines *out, const struct samples *s,
		       struct source_files *sources, const struct compare_row *row,
		       const char *module, struct tare_error *err)
{
	const struct call_tree *t = s->call_tree;
	size_t frames;
	const struct call_tree_frame *frame = call_tree_frames(t, &frames);

	for (size_t i = 0; i < s->places; i++) {
		const struct call_tree_frame *f = &frame[s->place[i].frame];
		struct compare_counted_line l = { .amount = s->place[i].amount };

		if (!l.amount || strcmp(call_tree_name(t, f->function), row->function) != 0 ||
		    strcmp(path_base(call_tree_name(t, f->module)), module) != 0 ||
		    !find_line(s->modules, &s->place[i], sources, &l))
			continue;
		if (!array_one_more(&out->line, out->n, sizeof(*out->line)))
			return tare_fail_nomem(err);
		out->line[out->n++] = l;
	}
	merge_lines(out);
	for (size_t i = 0; i < out->n; i++)
		find_text(sources, &out->line[i]);
	return 0;
}

/* `program`: names of one module before and after, or NULL. */
static int find_lines(struct compare_cause *c, const char *const program[COMPARE_SIDES],
		      struct tare_error *err)
{
	const struct compare_row *row = c->row;
	struct counted_lines of[COMPARE_SIDES] = { { 0 } };
	int ret = 0;

	if (c->by_samples || !c->changed)
		return 0;
	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++) {
		bool renamed = program[0] && program[1] &&
			!strcmp(row->module, program[COMPARE_AFTER]);

		ret = count_lines(&of[side], &c->samples[side], &c->sources[side], row,
				  renamed ? program[side] : row->module, err);
	}
	if (ret == 0)
		ret = compare_lines_match(&c->lines, of[0].line, of[0].n, of[1].line, of[1].n, err);
	for (int side = 0; side < COMPARE_SIDES; side++)
		free(of[side].line);
	return ret;
}

int compare_cause_read(struct compare_cause *out, const char *const path[COMPARE_SIDES],
		       const char *const program[COMPARE_SIDES], struct tare_error *err)
{
	const struct samples_options read = { .filter = SAMPLES_ALL,
					      .counted = true,
					      .inlined = true,
					      .detail = SAMPLES_FUNCTION,
					      .places = true };
	const struct report_options opts = { .keys = REPORT_FUNCTION | REPORT_MODULE,
					     .column = REPORT_AFTER };
	const struct call_tree *from[COMPARE_SIDES];
	const uint32_t column[COMPARE_SIDES] = { 0, 0 };
	int ret = 0;

	*out = (struct compare_cause){ 0 };
	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++) {
		ret = samples_read(&out->samples[side], path[side], &read, err);
		from[side] = out->samples[side].call_tree;
		if (ret == 0 && !from[side]->columns)
			ret = tare_fail(err, ENODATA, "the recording of %s has no samples",
					compare_side_name(side));
		if (ret == 0 && !out->samples[side].counted.used)
			out->why = out->samples[side].counted.why;
	}
	if (ret < 0)
		return ret;
	out->pair = report_pair(from, column, opts.keys, program, err);
	if (!out->pair)
		return -err->code;
	ret = report_diff_make(&out->diff, out->pair, &opts, false, err);
	if (ret == 0)
		ret = rows(out, err);
	return ret < 0 ? ret : find_lines(out, program, err);
}

void compare_cause_free(struct compare_cause *c)
{
	free(c->row);
	compare_lines_free(&c->lines);
	report_diff_free(&c->diff);
	call_tree_free(c->pair);
	for (int side = 0; side < COMPARE_SIDES; side++) {
		source_files_free(&c->sources[side]);
		samples_free(&c->samples[side]);
	}
	*c = (struct compare_cause){ 0 };
}

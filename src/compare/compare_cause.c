/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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
		.ring_bytes = 512 << 10,
		.ring_most = 512 << 10,
	};
	struct machine *machine = machine_open(NULL, err);
	struct perfdata_writer *w = NULL;
	int ret = machine ? compare_enter(p, side, err) : -err->code;

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
	environment_free(&environment);
	encoding_list_free(&list);
	machine_close(machine);
	return ret;
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

int compare_cause_read(struct compare_cause *out, const char *const path[COMPARE_SIDES],
		       const char *const program[COMPARE_SIDES], struct tare_error *err)
{
	const struct samples_options read = {
		.filter = SAMPLES_ALL, .counted = true, .inlined = true, .detail = SAMPLES_FUNCTION
	};
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
	return ret < 0 ? ret : rows(out, err);
}

void compare_cause_free(struct compare_cause *c)
{
	free(c->row);
	report_diff_free(&c->diff);
	call_tree_free(c->pair);
	for (int side = 0; side < COMPARE_SIDES; side++)
		samples_free(&c->samples[side]);
	*c = (struct compare_cause){ 0 };
}

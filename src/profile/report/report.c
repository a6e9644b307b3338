/* SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "profile/report/report.h"

/* The parts of a row's key: from its frame, and from its task. */
struct frame_part {
	uint64_t address;
	uint32_t module, function, file, line, flags, zero;
};

struct task_part {
	uint32_t comm, pid, tid;
};

struct pair {
	uint32_t frame, task, trace;
};

struct making {
	const struct call_tree *s;
	struct set frame_parts, task_parts, pairs;
	uint32_t *frame_part, *task_part; /* per frame, per task */
	bool by_trace;
	/*
	 * per pair: self, total, samples of each column; then the part of self that is by samples
	 */
	uint64_t *values;
	size_t room;
	size_t *seen; /* per frame part: the last stack that contained it, plus 1 */
};

bool report_matches(const char *pattern, const char *name)
{
	return !pattern || !strcmp(pattern, name) || fnmatch(pattern, name, 0) == 0;
}

bool report_matches_function(const char *pattern, const char *name)
{
	size_t n = pattern ? strlen(pattern) : 0;

	return report_matches(pattern, name) || (!strncmp(pattern, name, n) && name[n] == '(');
}

static int sort_parts(struct making *m, unsigned keys)
{
	size_t frames, tasks;
	const struct call_tree_frame *f = call_tree_frames(m->s, &frames);
	const struct call_tree_task *t = call_tree_tasks(m->s, &tasks);

	m->frame_part = calloc(frames + 1, sizeof(*m->frame_part));
	m->task_part = calloc(tasks + 1, sizeof(*m->task_part));
	if (!m->frame_part || !m->task_part)
		return -ENOMEM;
	for (size_t i = 0; i < frames; i++) {
		struct frame_part p = { 0 };

		if (keys & REPORT_MODULE)
			p.module = f[i].module;
		if (keys & REPORT_FUNCTION) {
			p.function = f[i].function;
			p.flags = f[i].flags;
		} else if (keys & (REPORT_MODULE | REPORT_ADDRESS)) {
			p.flags = f[i].flags &
				(CALL_TREE_KERNEL | CALL_TREE_GUEST | CALL_TREE_MARK);
		}
		if (keys & REPORT_LINE) {
			p.file = f[i].file;
			p.line = f[i].line;
		}
		if (keys & REPORT_ADDRESS) {
			p.address = f[i].address;
			p.module = f[i].module;
		}
		m->frame_part[i] = set_add(&m->frame_parts, &p, sizeof(p), sizeof(p), NULL);
		if (m->frame_part[i] == SET_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; i < tasks; i++) {
		struct task_part p = { keys & REPORT_COMM ? t[i].comm : 0,
				       keys & (REPORT_PID | REPORT_TID) ? t[i].pid : 0,
				       keys & REPORT_TID ? t[i].tid : 0 };

		m->task_part[i] = set_add(&m->task_parts, &p, sizeof(p), sizeof(p), NULL);
		if (m->task_part[i] == SET_NONE)
			return -ENOMEM;
	}
	m->seen = calloc(m->frame_parts.n + 1, sizeof(*m->seen));
	return m->seen ? 0 : -ENOMEM;
}

static uint64_t *values_of(struct making *m, uint32_t frame, uint32_t task, uint32_t trace)
{
	struct pair p = { frame, task, m->by_trace ? trace : 0 };
	uint32_t at = set_add(&m->pairs, &p, sizeof(p), sizeof(p), NULL);
	size_t each = 3 * (size_t)m->s->columns + 1;

	if (at == SET_NONE)
		return NULL;
	if (!array_reserve_zeroed(&m->values, &m->room, at + 1ull, each * sizeof(*m->values)))
		return NULL;
	return m->values + at * each;
}

static int add_up(struct making *m)
{
	size_t nodes, rows, n = m->s->columns;
	const struct call_tree_node *node = call_tree_nodes(m->s, &nodes);
	const struct call_tree_row *row = call_tree_rows(m->s, &rows);

	for (size_t i = 0; i < rows; i++) {
		uint32_t task = m->task_part[row[i].task];
		bool leaf = true;

		for (uint32_t at = row[i].node; at != 0; at = node[at].parent) {
			uint32_t part = m->frame_part[node[at].frame];
			uint64_t *v;

			if (m->seen[part] == i + 1)
				continue;
			m->seen[part] = i + 1;
			v = values_of(m, part, task, row[i].trace);
			if (!v)
				return -ENOMEM;
			if (leaf) {
				v[row[i].column] += row[i].amount;
				v[2 * n + row[i].column] += row[i].samples;
				v[3 * n] += !m->s->by_samples || m->s->by_samples[node[at].frame];
			}
			v[n + row[i].column] += row[i].amount;
			leaf = false;
		}
	}
	return 0;
}

struct order {
	const struct report_options *opts;
	const struct call_tree *s;
};

static int by_name(const struct call_tree *s, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(call_tree_name(s, a), call_tree_name(s, b));
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Largest first; equal rows are sorted by name, so that the output is reproducible. */
static int most_first(const void *a, const void *b, void *arg)
{
	const struct report_row *x = a, *y = b;
	const struct order *o = arg;
	uint32_t c = o->opts->column;
	const struct report_what *v = &x->what, *w = &y->what;
	int d = o->opts->by_total ? compare(y->total[c], x->total[c]) : 0;

	d = d ? d : compare(y->self[c], x->self[c]);
	d = d ? d : compare(y->total[c], x->total[c]);
	for (uint32_t i = 0; !d && i < o->s->columns; i++)
		d = compare(y->self[i], x->self[i]);
	d = d ? d : by_name(o->s, v->comm, w->comm);
	d = d ? d : by_name(o->s, v->module, w->module);
	d = d ? d : by_name(o->s, v->function, w->function);
	d = d ? d : by_name(o->s, v->file, w->file);
	d = d ? d : compare(v->line, w->line);
	d = d ? d : compare(v->address, w->address);
	d = d ? d : compare(v->pid, w->pid);
	d = d ? d : compare(v->tid, w->tid);
	d = d ? d : compare(v->trace, w->trace); /* the order of insertion */
	return d ? d : compare(v->flags, w->flags);
}

static int take_rows(struct report *out, struct making *m, const struct report_options *opts)
{
	size_t n = m->s->columns;
	const struct pair *pair = m->pairs.item;
	const struct frame_part *frames = m->frame_parts.item;
	const struct task_part *tasks = m->task_parts.item;
	struct order order = { opts, m->s };

	out->row = calloc(m->pairs.n + 1, sizeof(*out->row));
	if (!out->row)
		return -ENOMEM;
	for (size_t i = 0; i < m->pairs.n; i++) {
		const struct frame_part *f = &frames[pair[i].frame];
		const struct task_part *t = &tasks[pair[i].task];
		const uint64_t *v = m->values + i * (3 * n + 1);

		if (!report_matches(opts->module, call_tree_name(m->s, f->module)) ||
		    !report_matches_function(opts->function, call_tree_name(m->s, f->function))) {
			out->hidden++;
			continue;
		}
		out->row[out->n++] = (struct report_row){ { f->address, f->module, f->function,
							    f->file, f->line, f->flags, t->comm,
							    t->pid, t->tid, pair[i].trace },
							  v,
							  v + n,
							  v + 2 * n,
							  v[3 * n] == 0 };
	}
	qsort_r(out->row, out->n, sizeof(*out->row), most_first, &order);
	return 0;
}

int report_make(struct report *out, const struct call_tree *s, const struct report_options *opts,
		struct tare_error *err)
{
	struct making m = { .s = s, .by_trace = opts->keys & REPORT_TRACE };
	int ret;

	*out = (struct report){ .call_tree = s, .keys = opts->keys };
	ret = sort_parts(&m, opts->keys);
	if (ret == 0)
		ret = add_up(&m);
	if (ret == 0)
		ret = take_rows(out, &m, opts);
	out->values = m.values;
	set_free(&m.frame_parts);
	set_free(&m.task_parts);
	set_free(&m.pairs);
	free(m.frame_part);
	free(m.task_part);
	free(m.seen);
	if (ret < 0) {
		report_free(out);
		return tare_fail_nomem(err);
	}
	return 0;
}

void report_free(struct report *r)
{
	free(r->row);
	free(r->values);
	*r = (struct report){ 0 };
}

/*
 * Wilson's interval, which behaves well for shares near 0 and 1. Samples with different amounts
 * count as fewer: (sum of weights) squared over the sum of squares. The lost samples may all belong
 * to one row, or none of them.
 */
double report_margin(const struct call_tree_column *c, double share)
{
	const double z = 1.96;
	double amount = (double)call_tree_sampled(c);
	double n = c->squares > 0 ? amount * amount / c->squares : (double)c->samples;

	if (n <= 0)
		return 1;
	if (call_tree_census(c))
		return 0;
	return fmin(1,
		    c->lost +
			    z / (1 + z * z / n) *
				    sqrt(share * (1 - share) / n + z * z / (4 * n * n)));
}

/* ---- neighbours ---- */

struct relative_key {
	uint32_t function, module, flags, side; /* side 0: caller, 1: callee */
	uint64_t amount, samples;
	uint64_t seen;
};

enum { RELATIVE_KEY = 16 };

static int count_relative(struct set *set, const struct call_tree_frame *f, uint32_t side,
			  const struct call_tree_row *row, uint64_t stack)
{
	struct relative_key key = {
		f ? f->function : 0, f ? f->module : 0, f ? f->flags : 0, side, 0, 0, 0
	};
	uint32_t at = set_add(set, &key, sizeof(key), RELATIVE_KEY, NULL);
	struct relative_key *k;

	if (at == SET_NONE)
		return -ENOMEM;
	k = (struct relative_key *)set->item + at;
	if (k->seen == stack)
		return 0;
	k->seen = stack;
	k->amount += row->amount;
	k->samples += row->samples;
	return 0;
}

static int by_amount(const void *a, const void *b)
{
	const struct report_relative *x = a, *y = b;

	if (x->amount != y->amount)
		return x->amount < y->amount ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int take_relatives(struct report_relatives *out, const struct set *set)
{
	const struct relative_key *k = set->item;

	out->caller = calloc(set->n + 1, sizeof(*out->caller));
	out->callee = calloc(set->n + 1, sizeof(*out->callee));
	if (!out->caller || !out->callee)
		return -ENOMEM;
	for (size_t i = 0; i < set->n; i++) {
		struct report_relative r = { k[i].function, k[i].module, k[i].flags, k[i].amount,
					     k[i].samples };

		if (k[i].side == 0)
			out->caller[out->callers++] = r;
		else
			out->callee[out->callees++] = r;
	}
	qsort(out->caller, out->callers, sizeof(*out->caller), by_amount);
	qsort(out->callee, out->callees, sizeof(*out->callee), by_amount);
	return 0;
}

int report_relatives(struct report_relatives *out, const struct call_tree *s, const char *pattern,
		     uint32_t column, struct tare_error *err)
{
	size_t frames, nodes, rows;
	const struct call_tree_frame *frame = call_tree_frames(s, &frames);
	const struct call_tree_node *node = call_tree_nodes(s, &nodes);
	const struct call_tree_row *row = call_tree_rows(s, &rows);
	bool *is_it = calloc(frames + 1, sizeof(*is_it)), any = false;
	struct set set = { 0 };
	int ret = is_it ? 0 : -ENOMEM;

	*out = (struct report_relatives){ .counted = s->by_samples };
	for (size_t i = 0; ret == 0 && i < frames; i++) {
		is_it[i] = !(frame[i].flags & CALL_TREE_MARK) &&
			report_matches_function(pattern, call_tree_name(s, frame[i].function));
		any |= is_it[i];
	}
	for (size_t i = 0; ret == 0 && i < rows; i++) {
		const struct call_tree_frame *below = NULL;
		bool found = false;

		if (row[i].column != column)
			continue;
		for (uint32_t at = row[i].node; ret == 0 && at != 0; at = node[at].parent) {
			const struct call_tree_frame *f = &frame[node[at].frame];
			uint32_t above = node[at].parent;

			if (is_it[node[at].frame]) {
				if (at == row[i].node) {
					out->self += row[i].amount;
					out->counted &= s->by_samples &&
						!s->by_samples[node[at].frame];
				} else {
					ret = count_relative(&set, below, 1, &row[i], i + 1);
				}
				if (ret == 0)
					ret = count_relative(
						&set, above ? &frame[node[above].frame] : NULL, 0,
						&row[i], i + 1);
				found = true;
			}
			below = f;
		}
		if (found) {
			out->total += row[i].amount;
			out->samples += row[i].samples;
		}
	}
	if (ret == 0)
		ret = take_relatives(out, &set);
	set_free(&set);
	free(is_it);
	if (ret == 0 && !any) {
		report_relatives_free(out);
		return tare_fail(err, ENOENT, "no function '%.100s' is in any stack", pattern);
	}
	if (ret < 0) {
		report_relatives_free(out);
		return tare_fail_nomem(err);
	}
	return 0;
}

void report_relatives_free(struct report_relatives *r)
{
	free(r->caller);
	free(r->callee);
	*r = (struct report_relatives){ 0 };
}

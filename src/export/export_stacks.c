/* SPDX-License-Identifier: MIT */
/*
 * Pass a profile to an exporter, stack by stack, or thread by thread and sample by sample. The
 * labels are its frames, then its threads, then the program.
 */
#include <stdlib.h>
#include <string.h>
#include "export/export_private.h"

struct profile_names {
	const struct call_tree *s;
	const char *program;
	size_t n_frames, n_threads;
	const struct timeline_thread *thread;
	struct timeline_label label;
	char room[EXPORT_NAME_ROOM];
};

static const struct timeline_label *label_of(void *with, uint32_t index)
{
	struct profile_names *n = with;
	size_t ignored;
	const struct call_tree_frame *f = call_tree_frames(n->s, &ignored);

	n->label = (struct timeline_label){ .name = "?", .kind = "", .group = index };
	if (index < n->n_frames) {
		f += index;
		n->label.name = export_shorten(call_tree_name(n->s, f->function), n->room);
		n->label.kind = call_tree_name(n->s, f->module);
		n->label.file = f->file ? call_tree_name(n->s, f->file) : NULL;
		n->label.line = f->line;
	} else if (index < n->n_frames + n->n_threads) {
		n->label.name = export_thread_name(&n->thread[index - n->n_frames], n->room);
	} else if (index == n->n_frames + n->n_threads) {
		n->label.name = n->program;
	}
	return &n->label;
}

struct row_at {
	uint32_t thread, node, trace, row;
};

static int order(const void *a, const void *b)
{
	const struct row_at *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->trace < y->trace ? -1 : x->trace > y->trace;
}

/* The labels from the outermost frame to the node's, into room[0..]; returns their number. */
static size_t path_of(const struct call_tree_node *node, uint32_t at, uint32_t *room, size_t most)
{
	size_t n = 0;

	for (uint32_t up = at; up && n < most; up = node[up].parent)
		room[n++] = node[up].frame;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t swap = room[i];

		room[i] = room[n - 1 - i];
		room[n - 1 - i] = swap;
	}
	return n;
}

/* The maximum depth of the nodes. */
static size_t depth_of(const struct call_tree_node *node, size_t n)
{
	uint32_t *depth = calloc(n + 1, sizeof(*depth));
	size_t most = 0;

	/* a parent's number is lower than its children's */
	for (size_t i = 1; depth && i < n; i++) {
		depth[i] = depth[node[i].parent] + 1;
		most = depth[i] > most ? depth[i] : most;
	}
	free(depth);
	return depth ? most : SIZE_MAX;
}

static int each_stack(struct export *x, const struct call_tree *s, const uint32_t *thread_of,
		      size_t n_frames, struct tare_error *err)
{
	size_t n, n_rows, columns = s->columns, deepest;
	const struct call_tree_node *node = call_tree_nodes(s, &n);
	const struct call_tree_row *row = call_tree_rows(s, &n_rows);
	struct row_at *at = calloc(n_rows + 1, sizeof(*at));
	uint64_t *sum = calloc(2 * columns + 1, sizeof(*sum));
	const bool by_thread = thread_of != NULL;
	uint32_t *path = NULL;
	int ret = 0;

	deepest = depth_of(node, n);
	if (deepest != SIZE_MAX)
		path = calloc(deepest + 2, sizeof(*path));
	if (!at || !sum || !path)
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < n_rows; i++)
		at[i] = (struct row_at){ by_thread ? thread_of[row[i].task] : 0, row[i].node,
					 row[i].trace, (uint32_t)i };
	if (ret == 0)
		qsort(at, n_rows, sizeof(*at), order);
	for (size_t i = 0, next; ret == 0 && i < n_rows && !x->out->error; i = next) {
		struct export_stack e = {
			.label = path, .trace = at[i].trace, .samples = sum, .self = sum + columns
		};

		memset(sum, 0, 2 * columns * sizeof(*sum));
		for (next = i; next < n_rows && order(&at[i], &at[next]) == 0; next++) {
			const struct call_tree_row *r = &row[at[next].row];

			sum[r->column] += r->samples;
			sum[columns + r->column] += r->amount;
		}
		if (by_thread)
			path[0] = (uint32_t)n_frames + at[i].thread;
		e.n = path_of(node, at[i].node, path + by_thread, deepest) + by_thread;
		x->how->stack(x, &e);
	}
	free(at);
	free(sum);
	free(path);
	return ret;
}

struct samples_walk {
	struct export *x;
	uint64_t first_ns;
	const struct call_tree *s;
	const uint32_t *thread_of;
};

static int hand_sample(void *with, const struct logged_sample *m)
{
	struct samples_walk *w = with;
	struct export *x = w->x;
	size_t ignored;
	struct export_sample e = { .at = m->time_ns > w->first_ns ? m->time_ns - w->first_ns : 0,
				   .amount = m->amount,
				   .counter = m->column,
				   .node = m->node,
				   .cpu = m->cpu,
				   .trace = m->trace,
				   .command = call_tree_name(
					   w->s, call_tree_tasks(w->s, &ignored)[m->task].comm) };

	if (x->thread != w->thread_of[m->task]) {
		x->thread = w->thread_of[m->task];
		if (x->how->thread)
			x->how->thread(x);
	}
	x->how->sample(x, &e);
	return x->out->error;
}

static int each_sample(struct export *x, struct call_tree *s, const uint32_t *thread_of,
		       uint64_t first_ns, struct tare_error *err)
{
	struct samples_walk w = { x, first_ns, s, thread_of };
	int ret;

	x->thread = SIZE_MAX;
	s->sample_log.thread = thread_of;
	ret = sample_log_each(&s->sample_log, hand_sample, &w, err);
	s->sample_log.thread = NULL;
	x->thread = x->of->info->n_threads;
	return x->out->error ? 0 : ret; /* the caller reports the error */
}

static int hand_over(struct export *x, struct call_tree *s, const struct export_options *opt,
		     const uint32_t *thread_of, size_t n_frames, struct tare_error *err)
{
	if (x->how->profile)
		return x->how->profile(x, s, err);
	if (x->how->sample)
		return each_sample(x, s, thread_of, opt->first_ns, err);
	return each_stack(x, s, opt->by_thread ? thread_of : NULL, n_frames, err);
}

int export_stacks(struct out *out, const struct exporter *how, struct call_tree *s,
		  const struct timeline_info *head, const struct export_options *opt,
		  struct tare_error *err)
{
	struct timeline_info info = *head;
	struct profile_names names = { .s = s };
	struct export_source of = {
		.info = &info,
		.label = label_of,
		.with = &names,
		.call_tree = s,
		.has_quality = head->n_counters == s->columns,
		.regions = opt->regions,
	};
	struct timeline_counter *counter = calloc(s->columns + 1, sizeof(*counter));
	struct timeline_thread *thread = NULL;
	size_t tasks;
	const struct call_tree_task *task = call_tree_tasks(s, &tasks);
	uint32_t *thread_of = calloc(tasks + 1, sizeof(*thread_of));
	struct export x = {
		.how = how, .of = &of, .out = out, .own = calloc(1, how->own_size + 1)
	};
	char program[256];
	int ret;

	thread = calloc(tasks + 1, sizeof(*thread));
	names.n_threads = thread_of ? call_tree_threads(s, thread_of) : SIZE_MAX;
	names.thread = thread;
	ret = counter && thread && names.n_threads != SIZE_MAX && x.own ? 0 : tare_fail_nomem(err);
	if (ret == 0 && !how->profile && !how->sample && !how->stack) {
		ret = tare_fail(err, ENOTSUP,
				"%s shows regions, and this is a recording of samples", how->name);
		tare_hint(
			err,
			"perfetto, firefox, speedscope, folded, pprof, csv and html show samples");
	}

	for (uint32_t c = 0; ret == 0 && c < s->columns; c++) {
		/* the recording has more details about its counters */
		if (head->n_counters == s->columns)
			counter[c] = head->counter[c];
		counter[c].name = call_tree_name(s, s->column[c].name);
		counter[c].unit = call_tree_name(s, s->column[c].unit);
	}
	call_tree_frames(s, &names.n_frames);
	for (size_t i = 0; ret == 0 && i < tasks; i++) /* by its last name, from its last exec */
		thread[thread_of[i]] = (struct timeline_thread){ .pid = task[i].pid,
								 .tid = task[i].tid,
								 .name = call_tree_name(
									 s, task[i].comm) };
	of.program = names.program = opt->program
		? opt->program
		: export_program_of(head->command, program, sizeof(program));
	info.counter = counter;
	info.n_counters = s->columns;
	info.n_labels = names.n_frames;
	info.thread = thread;
	info.n_threads = names.n_threads;
	if (ret == 0)
		ret = export_counter_of(&info, opt->counter, err);
	of.counter = ret < 0 ? 0 : (size_t)ret;
	if (ret >= 0)
		ret = how->begin(&x, err);
	if (ret == 0)
		ret = hand_over(&x, s, opt, thread_of, names.n_frames, err);
	if (ret == 0)
		how->end(&x);
	if (how->free && x.own)
		how->free(&x);
	if (ret == 0 && out->error)
		ret = tare_fail(err, -out->error, "cannot write: %s", strerror(-out->error));
	free(x.own);
	free(counter);
	free(thread);
	free(thread_of);
	return ret;
}

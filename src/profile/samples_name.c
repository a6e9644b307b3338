/* SPDX-License-Identifier: MIT */
/*
 * Names for the frames of a profile. Frames are looked up once each, module by module in the order
 * of their addresses; a module's symbols are freed before the next one's are read. Then the tree is
 * rebuilt with the names, which merges equal frames.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "profile/counted.h"
#include "profile/inlined_parts.h"
#include "profile/samples_private.h"

struct naming {
	struct samples *out;
	struct raw *raw;
	const struct samples_options *opts;
	struct call_tree *to;
	const struct call_tree_frame *from; /* frames without names */
	size_t n;
	uint64_t *leaf_samples; /* per frame without a name */
	uint64_t all_samples;   /* the sum of these */

	/*
	 * The frames that each raw frame becomes: a range of indices in `made`, the outermost
	 * first.
	 */
	uint32_t *first, *count, *made;
	size_t n_made, made_room;
	struct tare_error *err;
};

static bool make(struct naming *t, const struct call_tree_frame *f)
{
	uint32_t number = call_tree_add_frame(t->to, f);

	if (number == SET_NONE)
		return false;
	if (!array_reserve(&t->made, &t->made_room, t->n_made + 1, sizeof(*t->made)))
		return false;
	t->made[t->n_made++] = number;
	return true;
}

static const char *shown_module(const struct module *of, const char *path)
{
	switch (of->kind) {
	case MODULE_MEMORY:
		return "[anonymous memory]";
	case MODULE_SYMBOL:
		return "[bpf]";
	default:
		return path;
	}
}

/* Looks up the line of the instruction, and the functions inlined around it. */
static bool make_inlined(struct naming *t, struct module *of, uint64_t offset,
			 struct call_tree_frame *f)
{
	struct symbol_inlined in[SYMBOL_INLINED_MAX];
	const char *file = NULL;
	unsigned line = 0, n = 0;
	uint32_t file_word = 0;

	if (t->opts->lines && of->symbols && symbols_line(of->symbols, offset, &file, &line))
		file_word = call_tree_add_name(t->to, file);
	if (t->opts->inlined && of->symbols)
		n = symbols_inlined(of->symbols, offset, in);
	/* Each outer frame's line is the call site of the next inner one. */
	for (unsigned i = n; i > 0; i--) {
		if (t->opts->lines) {
			f->file = in[i - 1].call_file
				? call_tree_add_name(t->to, in[i - 1].call_file)
				: 0;
			f->line = in[i - 1].call_file ? in[i - 1].call_line : 0;
		}
		if (!make(t, f))
			return false;
		f->function = call_tree_add_name(t->to, in[i - 1].name);
		f->flags |= CALL_TREE_INLINED;
	}
	f->file = file_word;
	f->line = file_word ? line : 0;
	return make(t, f);
}

/*
 * The name of code without a symbol, in the form that exports use: "libfoo.so+0x1234" for a file;
 * `otherwise` for other code. The address is its own, or the start of its function if call frame
 * information has it.
 */
static uint32_t name_of_unknown(struct naming *t, const struct module *of, const char *address,
				const char *otherwise)
{
	const char *path = words_at(&t->raw->modules.words, of->path), *slash = strrchr(path, '/');
	char name[NAME_MAX + 32];

	if (!t->opts->offsets || of->kind != MODULE_FILE || !slash)
		return call_tree_add_name(t->to, otherwise);
	snprintf(name, sizeof(name), "%.*s+%s", NAME_MAX, slash + 1, address);
	return call_tree_add_name(t->to, name);
}

static bool name_frame(struct naming *t, const struct call_tree_frame *raw)
{
	struct call_tree_frame f = { .flags = raw->flags };
	struct module *of;
	struct symbol symbol;
	uint64_t address;
	char hex[24];

	if (raw->flags & CALL_TREE_MARK) {
		f.function = call_tree_add_name(t->to,
						call_tree_name(t->raw->call_tree, raw->function));
		return make(t, &f);
	}
	of = &t->raw->modules.module[raw->module];
	if (modules_find(&t->raw->modules, raw->module, raw->address, &symbol) && symbol.name[0]) {
		f.function = symbol.nameless ? name_of_unknown(t, of, symbol.name, symbol.name)
					     : call_tree_add_name(t->to, symbol.name);
		f.flags |= symbol.nameless ? CALL_TREE_NAMELESS : 0;
	} else {
		f.flags |= CALL_TREE_UNKNOWN;
	}
	if (of->fd < 0 || !elf_offset_to_address(&of->head, raw->address, &address))
		address = raw->address;
	if (f.flags & CALL_TREE_UNKNOWN) {
		snprintf(hex, sizeof(hex), "0x%" PRIx64, address);
		f.function = name_of_unknown(t, of, hex, "[unknown]");
	}
	f.module = call_tree_add_name(t->to,
				      shown_module(of, words_at(&t->raw->modules.words, of->path)));
	if (t->opts->detail == SAMPLES_ADDRESS) {
		f.address = address;
		f.code = raw->module;
	}
	if (f.function == WORDS_NONE || f.module == WORDS_NONE)
		return false;
	return make_inlined(t, of, raw->address, &f);
}

/* Mappings may be among the lost records: then the program is not to blame for unmapped code. */
static int blame_loss(struct naming *t, struct samples_unnamed *row)
{
	const struct samples_quality *q = &t->out->quality;
	uint64_t lost = q->lost > q->lost_samples ? q->lost : q->lost_samples;
	int n;

	if (!lost)
		return 0;
	free(row->why);
	free(row->remedy);
	row->why = row->remedy = NULL;
	n = asprintf(&row->why,
		     "no mapping was recorded for it; %" PRIu64
		     " records were lost, possibly with mappings",
		     lost);
	if (n >= 0)
		row->remedy = strdup(
			"record again with a larger buffer (-m) or fewer samples (-F, -c)");
	else
		row->why = NULL;
	return row->why && row->remedy ? 0 : tare_fail_nomem(t->err);
}

/* Adds the samples with an unnamed innermost frame to the module's row. */
static int add_unnamed(struct naming *t, uint32_t module, uint64_t samples)
{
	const struct module *why = modules_why(&t->raw->modules, module);
	struct samples_unnamed *row;

	if (!array_one_more(&t->out->unnamed, t->out->n_unnamed, sizeof(*t->out->unnamed)))
		return tare_fail_nomem(t->err);
	row = &t->out->unnamed[t->out->n_unnamed];
	*row = (struct samples_unnamed){
		strdup(shown_module(why, words_at(&t->raw->modules.words, why->path))),
		strdup(why->why), strdup(why->remedy), samples, why->doubted
	};
	t->out->n_unnamed++;
	if (!row->module || !row->why || !row->remedy)
		return tare_fail_nomem(t->err);
	return why->kind == MODULE_UNKNOWN ? blame_loss(t, row) : 0;
}

/* Used although the recording has no build id for it. */
static int add_by_name(struct naming *t, const struct module *of)
{
	struct samples *out = t->out;
	if (!array_one_more(&out->by_name, out->n_by_name, sizeof(*out->by_name)))
		return tare_fail_nomem(t->err);
	out->by_name[out->n_by_name] = (struct samples_by_name){
		.module = strdup(shown_module(of, words_at(&t->raw->modules.words, of->path))),
		.kernel = of->kind == MODULE_KERNEL,
		.same_inode = of->same_inode && !of->newer,
		.newer = of->newer,
		.other = of->other_inode,
	};
	if (!out->by_name[out->n_by_name].module)
		return tare_fail_nomem(t->err);
	out->n_by_name++;
	out->quality.unverified = true;
	return 0;
}

static int by_module(const void *a, const void *b, void *frames)
{
	const struct call_tree_frame *x = (struct call_tree_frame *)frames + *(const uint32_t *)a,
				     *y = (struct call_tree_frame *)frames + *(const uint32_t *)b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void count_leaves(struct naming *t)
{
	size_t rows, nodes;
	const struct call_tree_row *row = call_tree_rows(t->raw->call_tree, &rows);
	const struct call_tree_node *node = call_tree_nodes(t->raw->call_tree, &nodes);

	for (size_t i = 0; i < rows; i++)
		/* Values read along with another event's sample are not samples of their own. */
		if (node[row[i].node].frame != SET_NONE &&
		    !t->raw->call_tree->column[row[i].column].read)
			t->leaf_samples[node[row[i].node].frame] += row[i].samples;
	for (size_t i = 0; i < t->n; i++)
		t->all_samples += t->leaf_samples[i];
}

/* Its largest executable segment: linkers usually make one. */
static void place_module(struct naming *t, const struct module *of, uint32_t number)
{
	const struct elf_segment *code = NULL;

	for (size_t i = 0; of->fd >= 0 && i < of->head.segments; i++)
		if (of->head.segment[i].executable &&
		    (!code || of->head.segment[i].memory_size > code->memory_size))
			code = &of->head.segment[i];
	if (code)
		call_tree_place_module(t->to, number, code->address, code->memory_size,
				       code->offset, of->head.segment[0].address & ~UINT64_C(4095));
}

static int name_module(struct naming *t, uint32_t module)
{
	const struct module *of = &t->raw->modules.module[module];
	uint32_t name = call_tree_add_name(
		t->to, shown_module(of, words_at(&t->raw->modules.words, of->path)));

	uint32_t at = name == WORDS_NONE
		? SET_NONE
		: call_tree_add_module(t->to, name, modules_recorded_id(&t->raw->modules, module));

	if (at == SET_NONE)
		return tare_fail_nomem(t->err);
	place_module(t, of, at);
	if (module == t->raw->main)
		t->to->main = name;
	return 0;
}

static const struct call_tree_frame *outer_frame(const struct naming *t, uint32_t raw)
{
	return (const struct call_tree_frame *)t->to->frame_set.item + t->made[t->first[raw]];
}

static int add_inlined(struct naming *t, uint32_t into, const struct inlined_parts *parts)
{
	const char *most = inlined_parts_most(parts, t->all_samples);
	struct samples *out = t->out;
	struct samples_inlined *row;

	if (parts->failed)
		return tare_fail_nomem(t->err);
	if (!most)
		return 0;
	if (!array_one_more(&out->inlined, out->n_inlined, sizeof(*out->inlined)))
		return tare_fail_nomem(t->err);
	row = &out->inlined[out->n_inlined++];
	*row = (struct samples_inlined){ strdup(most), strdup(call_tree_name(t->to, into)) };
	return row->function && row->into ? 0 : tare_fail_nomem(t->err);
}

/*
 * The frames of one module, in the order of their addresses: only of functions with many samples,
 * because the first lookup in a compilation unit reads it whole.
 */
static int find_large_inlined(struct naming *t, const struct module *of, const uint32_t *order,
			      size_t n)
{
	int ret = 0;

	for (size_t from = 0, to; ret == 0 && of->symbols && from < n; from = to) {
		uint32_t function = outer_frame(t, order[from])->function;
		struct inlined_parts parts = { 0 };
		uint64_t samples = 0;

		for (to = from; to < n && outer_frame(t, order[to])->function == function; to++)
			samples += t->leaf_samples[order[to]];
		if (!samples || samples < t->all_samples / INLINED_SHARE)
			continue;
		for (size_t i = from; i < to; i++)
			if (!(t->from[order[i]].flags & CALL_TREE_MARK))
				inlined_parts_add(&parts, of->symbols, t->from[order[i]].address,
						  t->leaf_samples[order[i]]);
		ret = add_inlined(t, function, &parts);
		inlined_parts_free(&parts);
	}
	return ret;
}

static int name_frames(struct naming *t, const uint32_t *order)
{
	uint64_t unnamed = 0;
	size_t begin = 0; /* of the module's frames */
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < t->n; i++) {
		const struct call_tree_frame *f = &t->from[order[i]];
		bool last = i + 1 == t->n || t->from[order[i + 1]].module != f->module;

		t->first[order[i]] = (uint32_t)t->n_made;
		if (!name_frame(t, f))
			return tare_fail_nomem(t->err);
		t->count[order[i]] = (uint32_t)(t->n_made - t->first[order[i]]);
		if (!(f->flags & CALL_TREE_MARK) &&
		    ((struct call_tree_frame *)t->to->frame_set.item)[t->made[t->first[order[i]]]]
				    .flags &
			    (CALL_TREE_UNKNOWN | CALL_TREE_NAMELESS))
			unnamed += t->leaf_samples[order[i]];
		if (!last)
			continue;
		if (unnamed)
			ret = add_unnamed(t, f->module, unnamed);
		unnamed = 0;
		if (!(f->flags & CALL_TREE_MARK)) {
			const struct module *of = &t->raw->modules.module[f->module];

			if (ret == 0)
				ret = name_module(t, f->module);
			if (ret == 0 && t->opts->large_inlined && !t->opts->inlined)
				ret = find_large_inlined(t, of, order + begin, i + 1 - begin);
			if (ret == 0 &&
			    ((of->kind == MODULE_FILE && of->symbols && !of->verified) ||
			     (of->kind == MODULE_KERNEL && of->opened &&
			      t->raw->modules.kernel_by_place)))
				ret = add_by_name(t, of);
			modules_close(&t->raw->modules, f->module);
		}
		begin = i + 1;
	}
	return ret;
}

/* Rebuilds the tree with the new frames. A parent comes before its children. */
static int build(struct naming *t, uint32_t *node_now, uint32_t *task_now, uint32_t *column_now)
{
	size_t n, rows, tasks;
	const struct call_tree_node *node = call_tree_nodes(t->raw->call_tree, &n);
	const struct call_tree_row *row = call_tree_rows(t->raw->call_tree, &rows);
	const struct call_tree_task *task = call_tree_tasks(t->raw->call_tree, &tasks);
	struct call_tree *from = t->raw->call_tree;
	int ret = 0;

	/* In the file's order of events: the order of their first samples is random. */
	for (size_t i = 0; i < t->raw->n_columns; i++) {
		uint32_t c = t->raw->column[i], now;

		if (c == SET_NONE)
			continue;
		now = call_tree_add_column(t->to, call_tree_name(from, from->column[c].name),
					   call_tree_name(from, from->column[c].unit));

		if (now == SET_NONE)
			return tare_fail_nomem(t->err);
		column_now[c] = now;
		t->to->column[now].read = from->column[c].read;
		t->to->column[now].skids = from->column[c].skids;
		t->to->column[now].asked = from->column[c].asked;
		t->to->column[now].squares = from->column[c].squares;
		t->to->column[now].has_total = from->column[c].has_total;
		t->to->column[now].total = from->column[c].total;
	}
	node_now[0] = 0;
	for (size_t i = 1; i < n; i++) {
		uint32_t at = node_now[node[i].parent];

		for (uint32_t k = 0; k < t->count[node[i].frame] && at != SET_NONE; k++)
			at = call_tree_add_node(t->to, at, t->made[t->first[node[i].frame] + k]);
		if (at == SET_NONE)
			return tare_fail_nomem(t->err);
		node_now[i] = at;
	}
	for (size_t i = 0; i < tasks; i++) {
		struct call_tree_task now = task[i];

		now.comm = call_tree_add_name(t->to, call_tree_name(from, task[i].comm));
		task_now[i] = call_tree_add_task_of(t->to, &now);
		if (task_now[i] == SET_NONE)
			return tare_fail_nomem(t->err);
	}
	/* distinct traces remain distinct: their numbers stay */
	for (size_t i = 1; i < from->trace_set.n; i++) {
		struct call_tree_trace now = ((const struct call_tree_trace *)
						      from->trace_set.item)[i];

		now.name = call_tree_add_name(t->to, call_tree_name(from, now.name));
		now.value = call_tree_add_name(t->to, call_tree_name(from, now.value));
		if (now.name == WORDS_NONE || now.value == WORDS_NONE ||
		    call_tree_add_trace(t->to, &now) != i)
			return tare_fail_nomem(t->err);
	}
	for (size_t i = 0; ret == 0 && i < rows; i++) {
		struct call_tree_row now = row[i];

		now.node = node_now[now.node];
		now.task = task_now[now.task];
		now.column = column_now[now.column];
		ret = call_tree_count(t->to, &now, 0, t->err);
	}
	if (ret == 0)
		ret = sample_log_renumber(&from->sample_log, node_now, task_now, column_now,
					  t->err);
	t->to->sample_log = from->sample_log;
	from->sample_log = (struct sample_log){ 0 };
	return ret;
}

static int keep_places(struct naming *t)
{
	const struct exact_places *p = t->raw->places;
	struct samples_place *place = malloc((p->n + 1) * sizeof(*place));

	if (!place)
		return tare_fail_nomem(t->err);
	for (size_t i = 0; i < p->n; i++) {
		uint32_t raw = t->raw->place_frame[i];

		place[i] = (struct samples_place){
			.frame = t->made[t->first[raw] + t->count[raw] - 1],
			.module = t->from[raw].module,
			.offset = p->offset[i],
			.amount = p->value[i * p->events],
		};
	}
	t->out->place = place;
	t->out->places = p->n;
	return 0;
}

static int most_first(const void *a, const void *b)
{
	const struct samples_unnamed *x = a, *y = b;

	return x->samples < y->samples    ? 1
		: x->samples > y->samples ? -1
					  : strcmp(x->module, y->module);
}

int samples_name(struct samples *out, struct raw *raw, const struct samples_options *opts,
		 struct tare_error *err)
{
	struct naming t = { .out = out, .raw = raw, .opts = opts, .err = err };
	uint32_t *order, *node_now, *task_now, *column_now;
	int ret;

	t.from = call_tree_frames(raw->call_tree, &t.n);
	out->call_tree = t.to = call_tree_new(err);
	order = calloc(t.n + 1, sizeof(*order));
	t.first = calloc(t.n + 1, sizeof(*t.first));
	t.count = calloc(t.n + 1, sizeof(*t.count));
	t.leaf_samples = calloc(t.n + 1, sizeof(*t.leaf_samples));
	node_now = calloc(raw->call_tree->node_set.n, sizeof(*node_now));
	task_now = calloc(raw->call_tree->task_set.n + 1, sizeof(*task_now));
	column_now = calloc(raw->call_tree->columns + 1, sizeof(*column_now));
	if (!t.to || !order || !t.first || !t.count || !t.leaf_samples || !node_now || !task_now ||
	    !column_now) {
		ret = tare_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < t.n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, t.n, sizeof(*order), by_module, raw->call_tree->frame_set.item);
	count_leaves(&t);
	ret = name_frames(&t, order);
	if (ret == 0)
		ret = build(&t, node_now, task_now, column_now);
	if (ret == 0 && raw->places)
		ret = counted_apply(
			raw, &(struct counted_names){ t.to, t.first, t.count, t.made, column_now },
			err);
	if (ret == 0 && raw->places && opts->places)
		ret = keep_places(&t);
	if (out->n_unnamed)
		qsort(out->unnamed, out->n_unnamed, sizeof(*out->unnamed), most_first);
out:
	free(order);
	free(t.first);
	free(t.count);
	free(t.leaf_samples);
	free(t.made);
	free(node_now);
	free(task_now);
	free(column_now);
	return ret;
}

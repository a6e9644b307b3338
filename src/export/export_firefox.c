/* SPDX-License-Identifier: MIT */
/*
 * The Firefox Profiler's processed profile, version 48 (profiler.firefox.com upgrades older
 * versions when it opens them): regions are markers, and each counter of a thread is a counter of
 * the profile. Its tables are stored by column, so a thread's columns are spooled until the thread
 * ends.
 *
 * Source: github.com/firefox-devtools/profiler, docs-developer/processed-profile-format.md,
 * CHANGELOG-formats.md and src/types/profile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "export/export.h"
#include "export/firefox_stacks.h"
#include "profile/report/traced_view.h"

enum { MS_DECIMALS = 6, KINDS_MAX = 32 };
enum column { DATA, NAME, START, END, PHASE, CATEGORY, STRINGS, TIMES, COUNTERS_OF_ALL, N_FIXED };
enum { PHASE_INSTANT = 0, PHASE_INTERVAL = 1 };

struct firefox {
	struct spool column[N_FIXED], count[TIMELINE_COUNTERS_MAX];
	struct firefox_stacks call_tree;
	struct export_ids names;
	/* category 1 + i; 0 is for regions without a kind, and for kinds beyond the maximum */
	char *kind[KINDS_MAX];
	size_t n_kinds, n_threads;
	uint64_t markers, samples;
	uint64_t at[TIMELINE_COUNTERS_MAX]; /* counters at the previous sample */
	uint8_t known;                      /* bit i: at[i] is known */
	uint64_t first, last;
	bool in_thread, any_counter, failed;
};

static struct out *column(struct firefox *f, enum column c)
{
	return &f->column[c].out;
}

/* The number of a category, by its name. */
static uint64_t category(struct firefox *f, const char *kind)
{
	size_t i = 0;

	if (!*kind)
		return 0;
	while (i < f->n_kinds && strcmp(f->kind[i], kind))
		i++;
	if (i == KINDS_MAX)
		return 0;
	if (i == f->n_kinds) {
		f->kind[i] = strdup(kind);
		if (!f->kind[i]) {
			f->failed = true;
			return 0;
		}
		f->n_kinds++;
	}
	return i + 1;
}

static int begin_firefox(struct export *x, struct tare_error *err)
{
	struct firefox *f = x->own;

	(void)err;
	for (int i = 0; i < N_FIXED; i++)
		spool_open(&f->column[i]);
	for (int i = 0; i < TIMELINE_COUNTERS_MAX; i++)
		spool_open(&f->count[i]);
	firefox_stacks_open(&f->call_tree);
	if (x->of->call_tree) /* FIREFOX_KERNEL */
		category(f, "Kernel");
	out_text(x->out, "{\"threads\":[");
	return 0;
}

/* ---- a thread ---- */

static void pour(struct export *x, const char *name, struct spool *s)
{
	out_text(x->out, ",\"");
	out_text(x->out, name);
	out_text(x->out, "\":[");
	spool_pour(s, x->out);
	out_text(x->out, "]");
}

/* The counters of this thread, as a part of the profile's list after the threads. */
static void keep_counters(struct export *x)
{
	struct firefox *f = x->own;
	const struct timeline_info *info = x->of->info;
	const struct timeline_thread *t = &info->thread[x->thread - 1];
	struct out *o = column(f, COUNTERS_OF_ALL);
	char room[EXPORT_THREAD_ROOM];

	for (size_t c = 0; c < info->n_counters && f->samples; c++) {
		if (c == x->of->counter)
			continue;
		out_text(o, f->any_counter ? ",\n{\"name\":" : "\n{\"name\":");
		out_json(o, info->counter[c].name);
		out_text(o, ",\"category\":\"tare\",\"description\":");
		out_json(o, export_thread_name(t, room));
		out_add(o,
			",\"pid\":\"%llu\",\"mainThreadIndex\":%zu,\"samples\":{\"length\":%llu,\"time\":[",
			(unsigned long long)t->pid, x->thread - 1, (unsigned long long)f->samples);
		spool_copy(&f->column[TIMES], o);
		out_text(o, "],\"count\":[");
		spool_pour(&f->count[c], o);
		out_text(o, "]}}");
		f->any_counter = true;
	}
	spool_clear(&f->column[TIMES]);
}

static void end_thread(struct export *x)
{
	struct firefox *f = x->own;
	struct out *o = x->out;

	if (!f->in_thread)
		return;
	firefox_stacks_pour(x, &f->call_tree);
	out_add(o, "\"markers\":{\"length\":%llu", (unsigned long long)f->markers);
	pour(x, "data", &f->column[DATA]);
	pour(x, "name", &f->column[NAME]);
	pour(x, "startTime", &f->column[START]);
	pour(x, "endTime", &f->column[END]);
	pour(x, "phase", &f->column[PHASE]);
	pour(x, "category", &f->column[CATEGORY]);
	out_text(o, "}");
	pour(x, "stringArray", &f->column[STRINGS]);
	out_text(o, ",\"unregisterTime\":");
	out_fixed(o, f->last, MS_DECIMALS);
	out_text(o, "}");
	keep_counters(x);
	f->in_thread = false;
}

static void thread(struct export *x)
{
	struct firefox *f = x->own;
	const struct timeline_thread *t = &x->of->info->thread[x->thread];
	struct out *o = x->out;
	char room[EXPORT_THREAD_ROOM];

	end_thread(x);
	out_text(o, f->n_threads++ ? ",\n{\"name\":" : "\n{\"name\":");
	out_json(o, export_thread_name(t, room));
	out_add(o, ",\"isMainThread\":%s,\"processType\":\"default\",\"processName\":",
		t->pid == t->tid ? "true" : "false");
	out_json(o, x->of->program);
	out_add(o,
		",\"pid\":\"%llu\",\"tid\":%llu,\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
		"\"pausedRanges\":[],\"showMarkersInTimeline\":true,\n",
		(unsigned long long)t->pid, (unsigned long long)t->tid);
	export_ids_clear(&f->names);
	f->in_thread = true;
	f->markers = f->samples = 0;
	f->known = 0;
	f->last = 0;
}

/* ---- markers ---- */

static void separate(struct firefox *f, enum column c)
{
	if (f->markers)
		out_text(column(f, c), ",");
}

/* The thread's number of a string. */
static uint64_t put_string(struct export *x, uint32_t key, const char *text)
{
	struct firefox *f = x->own;
	bool fresh;
	uint32_t string = export_id(&f->names, key, &fresh);

	if (!fresh)
		return string;
	if (string)
		out_text(column(f, STRINGS), ",");
	out_json(column(f, STRINGS), text);
	return string;
}

/* All columns except `data`, which the caller has written before. */
static void put_marker(struct export *x, const char *name, uint32_t group, const char *kind,
		       uint64_t begin, uint64_t end, bool interval)
{
	struct firefox *f = x->own;
	uint64_t string = put_string(x, group, name);

	for (enum column c = NAME; c <= CATEGORY; c++)
		separate(f, c);
	out_u64(column(f, NAME), string);
	out_fixed(column(f, START), begin, MS_DECIMALS);
	if (interval)
		out_fixed(column(f, END), end, MS_DECIMALS);
	else
		out_text(column(f, END), "null");
	out_u64(column(f, PHASE), interval ? PHASE_INTERVAL : PHASE_INSTANT);
	out_u64(column(f, CATEGORY), category(f, kind));
	f->markers++;
	if (end > f->last)
		f->last = end;
}

static void put_key(struct out *o, const char *key)
{
	out_text(o, ",");
	out_json(o, key);
	out_text(o, ":");
}

static void put_arguments(struct out *o, const struct timeline_label *l)
{
	struct text all = { 0 };

	if (!l->arg || !l->arg[0])
		return;
	for (size_t i = 0; l->arg[i]; i++)
		text_add(&all, "%s%s", i ? ", " : "", l->arg[i]);
	put_key(o, "arguments");
	out_json(o, all.s ? all.s : "");
	text_free(&all);
}

/* The increase of every counter since the previous point. */
static void put_counts(struct export *x, uint64_t at, const uint64_t *value, uint8_t missing)
{
	struct firefox *f = x->own;

	if (x->of->info->n_counters < 2)
		return;
	if (f->samples)
		out_text(column(f, TIMES), ",");
	out_fixed(column(f, TIMES), at, MS_DECIMALS);
	for (size_t c = 0; c < x->of->info->n_counters; c++) {
		bool known = f->known >> c & 1;

		if (c == x->of->counter)
			continue;
		if (f->samples)
			out_text(&f->count[c].out, ",");
		/*
		 * A counter that was not read keeps its value here, and catches up at the next
		 * read.
		 */
		out_u64(&f->count[c].out, known && !(missing >> c & 1) ? value[c] - f->at[c] : 0);
		if (missing >> c & 1)
			continue;
		f->at[c] = value[c];
		f->known |= (uint8_t)(1u << c);
	}
	f->samples++;
}

static void open_span(struct export *x, const struct export_span *s)
{
	put_counts(x, s->begin, s->from, s->missing);
}

static void close_span(struct export *x, const struct export_span *s)
{
	struct firefox *f = x->own;
	const struct timeline_info *info = x->of->info;
	const struct timeline_label *l = export_label(x, s->label);
	struct out *o = column(f, DATA);

	put_counts(x, s->end, s->to, s->to_missing);
	separate(f, DATA);
	out_text(o, "{\"type\":\"region\"");
	for (size_t c = 0; c < info->n_counters; c++) {
		if (c == x->of->counter || s->missing >> c & 1)
			continue;
		put_key(o, info->counter[c].name);
		out_json_u64(o, s->to[c] - s->from[c]);
	}
	put_arguments(o, l);
	if (s->repaired || s->begin_unknown || s->end_unknown) {
		put_key(o, "note");
		out_text(
			o,
			s->at_gap
				? "\"may be a piece of a region that was open where points were lost\""
				: s->repaired ? "\"begin or end is not in the recording\""
					      : "\"begin or end could not be read\"");
	}
	out_text(o, "}");
	put_marker(x, l->name, l->group, l->kind, s->begin, s->end, true);
}

static void mark(struct export *x, const struct export_mark *m)
{
	static const char *const types[] = {
		[TIMELINE_INSTANT] = "instant", [TIMELINE_INTEGER] = "integer",
		[TIMELINE_START] = "start",     [TIMELINE_FINISH] = "finish",
		[TIMELINE_LOST] = "lost",
	};
	struct firefox *f = x->own;
	bool lost = m->kind == TIMELINE_LOST;
	const struct timeline_label *l = export_label(x, m->label);
	struct out *o = column(f, DATA);

	separate(f, DATA);
	out_text(o, "{\"type\":\"");
	out_text(o, types[m->kind]);
	out_text(o, "\"");
	if (m->kind != TIMELINE_INSTANT && !(lost && !m->number)) {
		put_key(o, "number");
		out_json_u64(o, m->number);
	}
	if (!lost)
		put_arguments(o, l);
	out_text(o, "}");
	if (lost)
		put_marker(x, "lost points", export_program(x), "", m->at, m->at, false);
	else
		put_marker(x, l->name, l->group, l->kind, m->at, m->at, false);
}

/* A sample of a tracepoint, of any event: a marker with its fields. */
static void put_tracepoint(struct export *x, const struct export_sample *e)
{
	const struct call_tree *s = x->of->call_tree;
	const uint32_t event = s->column[e->counter].name;
	struct out *o = column(x->own, DATA);
	struct text all = { 0 };

	separate(x->own, DATA);
	traced_text(&all, s, e->trace);
	out_text(o, "{\"type\":\"tracepoint\"");
	put_key(o, "fields");
	out_json(o, all.s ? all.s : "");
	out_text(o, "}");
	text_free(&all);
	put_marker(x, call_tree_name(s, event), export_program(x) + 2 + event, "Tracepoint", e->at,
		   e->at, false);
}

/* Only samples of the selected event have stacks. */
static void sample(struct export *x, const struct export_sample *e)
{
	struct firefox *f = x->own;

	if (e->trace)
		put_tracepoint(x, e);
	if (e->counter != x->of->counter)
		return;
	firefox_stacks_add(x, &f->call_tree, e, put_string);
	if (e->at > f->last)
		f->last = e->at;
}

/* ---- the profile ---- */

static void put_field(struct out *o, const char *key, const char *label, const char *format)
{
	out_text(o, "{\"key\":");
	out_json(o, key);
	out_text(o, ",\"label\":");
	out_json(o, label);
	out_add(o, ",\"format\":\"%s\",\"searchable\":true}", format);
}

static void put_schema(struct export *x)
{
	static const char *const marks[] = { "instant", "integer", "start", "finish", "lost" };
	const struct timeline_info *info = x->of->info;
	struct out *o = x->out;

	out_text(
		o,
		"\"markerSchema\":[\n{\"name\":\"region\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
		"\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.arguments}\",\"data\":[");
	for (size_t c = 0; c < info->n_counters; c++) {
		if (c == x->of->counter)
			continue;
		put_field(o, info->counter[c].name, info->counter[c].name, "integer");
		out_text(o, ",");
	}
	put_field(o, "arguments", "Arguments", "string");
	out_text(o, ",");
	put_field(o, "note", "Note", "string");
	out_text(o, "]}");
	if (x->of->call_tree) {
		out_text(
			o,
			",\n{\"name\":\"tracepoint\",\"display\":[\"marker-chart\",\"marker-table\"],\"tooltipLabel\":\"{marker.name}\","
			"\"tableLabel\":\"{marker.data.fields}\",\"data\":[");
		put_field(o, "fields", "Fields", "string");
		out_text(o, "]}");
	}
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		out_add(o,
			",\n{\"name\":\"%s\",\"display\":[\"marker-chart\",\"marker-table\"],\"tooltipLabel\":\"{marker.name}\","
			"\"tableLabel\":\"{marker.data.number} {marker.data.arguments}\",\"data\":[",
			marks[i]);
		put_field(o, "number", "Number", "integer");
		out_text(o, ",");
		put_field(o, "arguments", "Arguments", "string");
		out_text(o, "]}");
	}
	out_text(o, "]");
}

static void put_categories(struct export *x)
{
	static const char *const colours[] = { "blue", "green",  "orange",    "purple",
					       "red",  "yellow", "lightblue", "brown" };
	struct firefox *f = x->own;

	out_text(
		x->out,
		"\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}");
	for (size_t i = 0; i < f->n_kinds; i++) {
		out_text(x->out, ",{\"name\":");
		out_json(x->out, f->kind[i]);
		out_add(x->out, ",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			colours[i % (sizeof(colours) / sizeof(colours[0]))]);
	}
	out_text(x->out, "],\n");
}

static void end(struct export *x)
{
	struct firefox *f = x->own;
	const struct timeline_info *info = x->of->info;
	struct out *o = x->out;

	end_thread(x);
	out_text(o, "],\n\"counters\":[");
	spool_pour(&f->column[COUNTERS_OF_ALL], o);
	out_text(o, "],\n\"libs\":[");
	firefox_stacks_libs(x, &f->call_tree);
	out_text(
		o,
		"],\"pages\":[],\n\"meta\":{\"version\":27,\"preprocessedProfileVersion\":48,\"product\":");
	out_json(o, info->command ? info->command : x->of->program);
	out_text(o, ",\"importedFrom\":\"tare " TARE_VERSION "\",\"startTime\":");
	out_fixed(o, info->start_ns, MS_DECIMALS);
	out_text(
		o,
		",\"interval\":1,\"processType\":0,\"stackwalk\":0,\"debug\":false,\"symbolicated\":true,"
		"\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},\n");
	put_categories(x);
	put_schema(x);
	out_text(o, "}}\n");
	if ((f->failed || f->names.failed) && o->error == 0)
		o->error = -ENOMEM;
}

static void release(struct export *x)
{
	struct firefox *f = x->own;

	for (int i = 0; i < N_FIXED; i++)
		spool_close(&f->column[i]);
	for (int i = 0; i < TIMELINE_COUNTERS_MAX; i++)
		spool_close(&f->count[i]);
	for (size_t i = 0; i < f->n_kinds; i++)
		free(f->kind[i]);
	export_ids_free(&f->names);
	firefox_stacks_close(&f->call_tree);
}

const struct exporter export_firefox = {
	.name = "firefox",
	.about = "Firefox Profiler (JSON): profiler.firefox.com, markers and counters",
	.ending = ".firefox.json",
	.by_address = true,
	.fields = true,
	.own_size = sizeof(struct firefox),
	.begin = begin_firefox,
	.thread = thread,
	.open = open_span,
	.close = close_span,
	.mark = mark,
	.sample = sample,
	.end = end,
	.free = release,
};

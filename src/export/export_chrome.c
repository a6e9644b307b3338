/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format, for chrome://tracing, ui.perfetto.dev and others: "X" for a region,
 * with its counts as arguments. Times are microseconds with three decimals, so they keep nanosecond
 * precision.
 *
 * Source: "Trace Event Format", "JSON Object Format", "Complete Events", "Async Events".
 */
#include <stdio.h>
#include "export/export.h"

enum { NS_DECIMALS = 3 };

static void comma(struct export *x)
{
	out_text(x->out, ",\n");
}

static void head(struct export *x, const char *phase)
{
	const struct timeline_thread *t = &x->of->info->thread[x->thread];

	comma(x);
	out_text(x->out, "{\"ph\":\"");
	out_text(x->out, phase);
	out_text(x->out, "\",\"pid\":");
	out_u64(x->out, t->pid);
	out_text(x->out, ",\"tid\":");
	out_u64(x->out, t->tid);
}

static void field(struct export *x, const char *name, const char *value)
{
	out_text(x->out, ",\"");
	out_text(x->out, name);
	out_text(x->out, "\":");
	out_json(x->out, value);
}

static void time_field(struct export *x, const char *name, uint64_t ns)
{
	out_text(x->out, ",\"");
	out_text(x->out, name);
	out_text(x->out, "\":");
	out_fixed(x->out, ns, NS_DECIMALS);
}

static void key(struct out *o, bool *first, const char *name)
{
	out_text(o, *first ? "" : ",");
	out_json(o, name);
	out_text(o, ":");
	*first = false;
}

static void name_and_category(struct export *x, const struct timeline_label *l)
{
	field(x, "name", l->name);
	field(x, "cat", *l->kind ? l->kind : "region");
}

static void arguments(struct out *o, const struct timeline_label *l, bool *first)
{
	for (size_t i = 0; l->arg && l->arg[i]; i++) {
		char name[16] = "arg";

		snprintf(name, sizeof(name), "arg%zu", i);
		key(o, first, name);
		out_json(o, l->arg[i]);
	}
}

static void metadata(struct export *x, const char *what, const char *name)
{
	head(x, "M");
	field(x, "name", what);
	out_text(x->out, ",\"args\":{\"name\":");
	out_json(x->out, name);
	out_text(x->out, "}}");
}

static int begin_chrome(struct export *x, struct tare_error *err)
{
	const struct timeline_info *info = x->of->info;

	(void)err;
	out_text(x->out,
		 "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"tare " TARE_VERSION
		 "\"");
	if (info->command)
		field(x, "command", info->command);
	field(x, "axis", info->counter[x->of->counter].name);
	out_text(x->out, ",\"start_ns\":\"");
	out_u64(x->out, info->start_ns);
	out_text(x->out, "\"");
	if (info->damage)
		field(x, "damage", info->damage);
	out_text(
		x->out,
		"},\n\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":0,\"name\":\"trace_name\",\"args\":{\"name\":\"tare\"}}");
	return 0;
}

static void thread(struct export *x)
{
	const struct timeline_thread *t = &x->of->info->thread[x->thread];
	char room[EXPORT_THREAD_ROOM];

	metadata(x, "process_name", x->of->program);
	metadata(x, "thread_name", export_thread_name(t, room));
}

static void close_span(struct export *x, const struct export_span *s)
{
	const struct timeline_info *info = x->of->info;
	const struct timeline_label *l = export_label(x, s->label);
	bool first = true;

	head(x, "X");
	time_field(x, "ts", s->begin);
	time_field(x, "dur", s->end > s->begin ? s->end - s->begin : 0);
	name_and_category(x, l);
	out_text(x->out, ",\"args\":{");
	for (size_t c = 0; c < info->n_counters; c++) {
		if (c == x->of->counter)
			continue;
		key(x->out, &first, info->counter[c].name);
		if (s->missing >> c & 1)
			out_text(x->out, "null");
		else
			out_json_u64(x->out, s->to[c] - s->from[c]);
	}
	arguments(x->out, l, &first);
	if (s->begin_unknown || s->end_unknown) {
		key(x->out, &first, "unknown");
		out_json(x->out,
			 s->begin_unknown && s->end_unknown ? "begin and end"
				 : s->begin_unknown         ? "begin"
							    : "end");
	}
	if (s->repaired) {
		key(x->out, &first, "repaired");
		out_text(x->out, "true");
	}
	if (s->at_gap) {
		key(x->out, &first, "at_gap");
		out_json(x->out, s->at_gap);
	}
	out_text(x->out, "}}");
}

static void mark(struct export *x, const struct export_mark *m)
{
	const struct timeline_label *l = export_label(x, m->label);
	bool first = true;

	if (m->kind == TIMELINE_INTEGER) {
		head(x, "C");
		time_field(x, "ts", m->at);
		field(x, "name", l->name);
		out_text(x->out, ",\"args\":{\"value\":");
		/* a counter track supports numbers only; a viewer may round those above 2^53 */
		out_u64(x->out, m->number);
		out_text(x->out, "}}");
		return;
	}
	head(x, m->kind == TIMELINE_START ? "b" : m->kind == TIMELINE_FINISH ? "e" : "i");
	time_field(x, "ts", m->at);
	if (m->kind == TIMELINE_START || m->kind == TIMELINE_FINISH) {
		out_text(x->out, ",\"id\":\"");
		out_u64(x->out, m->number);
		out_text(x->out, "\"");
	} else {
		out_text(x->out, ",\"s\":\"t\"");
	}
	if (m->kind == TIMELINE_LOST) {
		field(x, "name", "lost points");
		field(x, "cat", "tare");
		out_text(x->out, ",\"args\":{\"lost\":");
		out_json_u64(x->out, m->number);
	} else {
		name_and_category(x, l);
		out_text(x->out, ",\"args\":{");
		arguments(x->out, l, &first);
	}
	out_text(x->out, "}}");
}

static void end(struct export *x)
{
	out_text(x->out, "\n]}\n");
}

const struct exporter export_chrome = {
	.name = "chrome",
	.about = "Chrome's trace events (JSON): ui.perfetto.dev, chrome://tracing",
	.ending = ".trace.json",
	.begin = begin_chrome,
	.thread = thread,
	.close = close_span,
	.mark = mark,
	.end = end,
};

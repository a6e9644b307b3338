/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's native trace: track events in ns, interned names, a counter track per counter below
 * its thread, with a value at each begin and end. There is one packet sequence per thread, so
 * interned data is limited to its thread.
 *
 * Source: perfetto.dev, protos/perfetto/trace/trace_packet.proto and track_event/.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "export/export.h"
#include "output/json.h"
#include "output/protobuf.h"

enum { TRACE_PACKET = 1 };
enum { /* fields of TracePacket */
       CLOCK_SNAPSHOT = 6,
       TIMESTAMP = 8,
       SEQUENCE_ID = 10,
       TRACK_EVENT = 11,
       INTERNED_DATA = 12,
       SEQUENCE_FLAGS = 13,
       PACKET_DEFAULTS = 59,
       TRACK_DESCRIPTOR = 60,
};
enum { PERF_SAMPLE = 66 }; /* of TracePacket, too */
enum {                     /* of InternedData */
       FUNCTION_NAMES = 5,
       FRAMES = 6,
       CALLSTACKS = 7,
       MAPPING_PATHS = 17,
       MAPPINGS = 19,
};
enum { MODE_KERNEL = 1, MODE_USER = 2 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { /* of TrackDescriptor */
       UUID = 1,
       NAME = 2,
       PROCESS = 3,
       THREAD = 4,
       PARENT_UUID = 5,
       COUNTER = 8,
};
enum { /* of TrackEvent, and of its defaults */
       CATEGORY_IIDS = 3,
       DEBUG_ANNOTATIONS = 4,
       TYPE = 9,
       NAME_IID = 10,
       TRACK_UUID = 11,
       EXTRA_VALUES = 12,
       CATEGORIES = 22,
       EVENT_NAME = 23,
       COUNTER_VALUE = 30,
       EXTRA_UUIDS = 31,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER_EVENT = 4 };
enum { UNIT_TIME_NS = 1, UNIT_COUNT = 2 };
enum { CLOCK_REALTIME = 1, CLOCK_BOOTTIME = 6 };
enum { PATH_MAX_FRAMES = 4096 }; /* the innermost frames of a deeper stack */
enum { UUIDS_PER_THREAD = 16 };  /* the thread's own, then its counters' */

struct perfetto {
	struct export_ids names, numbers;         /* interned labels; labels with a counter track */
	struct export_ids frames, nodes, modules; /* of samples: the thread's tables */
	struct pb a, b, event, packet;
};

/* String fields of the proto are UTF-8. */
static void put_text(struct pb *m, unsigned field, const char *s)
{
	struct text t = { 0 };

	text_utf8(&t, s);
	m->failed |= t.failed;
	pb_bytes(m, field, t.s ? t.s : "", t.len);
	text_free(&t);
}

static uint64_t thread_uuid(const struct export *x)
{
	return UUIDS_PER_THREAD * (uint64_t)(x->thread + 1);
}

/* For ids not covered by the numbers above, which are below 2^63. */
static uint64_t made_uuid(uint64_t a, uint64_t b)
{
	uint64_t h = (a + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
		(b + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);

	return (h ^ h >> 29) | UINT64_C(1) << 63;
}

static uint64_t process_uuid(const struct export *x)
{
	return made_uuid(UINT64_MAX - 1, x->of->info->thread[x->thread].pid);
}

static void write_packet(struct export *x)
{
	struct perfetto *p = x->own;

	pb_int(&p->packet, SEQUENCE_ID, x->thread + 1);
	pb_write(x->out, TRACE_PACKET, &p->packet);
	pb_clear(&p->packet);
}

/* Write the descriptor in p->b as a packet. */
static void write_track(struct export *x)
{
	struct perfetto *p = x->own;

	pb_message(&p->packet, TRACK_DESCRIPTOR, &p->b);
	write_packet(x);
	pb_clear(&p->b);
}

static int begin_perfetto(struct export *x, struct tare_error *err)
{
	struct perfetto *p = x->own;
	uint64_t clock[][2] = { { CLOCK_BOOTTIME, 0 }, { CLOCK_REALTIME, x->of->info->start_ns } };

	(void)err;
	if (!x->of->info->start_ns || !export_is_time(x->of))
		return 0;
	for (int i = 0; i < 2; i++) { /* the page computes the time of day from it */
		pb_clear(&p->a);
		pb_int(&p->a, 1, clock[i][0]);
		pb_int(&p->a, 2, clock[i][1]);
		pb_message(&p->b, 1, &p->a);
	}
	pb_message(&p->packet, CLOCK_SNAPSHOT, &p->b);
	write_packet(x);
	pb_clear(&p->a);
	pb_clear(&p->b);
	return 0;
}

static void counter_track(struct export *x, uint64_t uuid, const char *name, const char *unit)
{
	struct perfetto *p = x->own;

	pb_clear(&p->a);
	if (!strcmp(unit, "ns"))
		pb_int(&p->a, 3, UNIT_TIME_NS);
	else if (*unit)
		put_text(&p->a, 6, unit);
	else
		pb_int(&p->a, 3, UNIT_COUNT);
	pb_int(&p->b, UUID, uuid);
	put_text(&p->b, NAME, name);
	pb_int(&p->b, PARENT_UUID, thread_uuid(x));
	pb_message(&p->b, COUNTER, &p->a);
	write_track(x);
}

static void thread(struct export *x)
{
	struct perfetto *p = x->own;
	const struct timeline_info *info = x->of->info;
	const struct timeline_thread *t = &info->thread[x->thread];
	char room[EXPORT_THREAD_ROOM];
	const char *name = export_thread_name(t, room);
	uint64_t uuids[TIMELINE_COUNTERS_MAX], id = thread_uuid(x);
	size_t n = 0;

	pb_int(&p->a, 1, t->pid);
	put_text(&p->a, 6, x->of->program);
	pb_int(&p->b, UUID, process_uuid(x));
	pb_message(&p->b, PROCESS, &p->a);
	pb_clear(&p->a);
	write_track(x);

	/*
	 * Perfetto treats thread 0 as the idle task, so such a thread becomes a track with a name.
	 */
	pb_int(&p->b, UUID, id);
	pb_int(&p->b, PARENT_UUID, process_uuid(x));
	if (t->pid && t->tid) {
		pb_int(&p->a, 1, t->pid);
		pb_int(&p->a, 2, t->tid);
		put_text(&p->a, 5, name);
		pb_message(&p->b, THREAD, &p->a);
		pb_clear(&p->a);
	} else {
		put_text(&p->b, NAME, name);
	}
	write_track(x);
	for (size_t c = 0; c < info->n_counters; c++) {
		if (c == x->of->counter || x->of->call_tree)
			continue;
		uuids[n++] = id + 1 + c;
		counter_track(x, id + 1 + c, info->counter[c].name, info->counter[c].unit);
	}

	export_ids_clear(&p->names);
	export_ids_clear(&p->numbers);
	export_ids_clear(&p->frames);
	export_ids_clear(&p->nodes);
	export_ids_clear(&p->modules);
	pb_clear(&p->a);
	pb_int(&p->a, TRACK_UUID, id);
	for (size_t i = 0; i < n; i++)
		pb_int(&p->a, EXTRA_UUIDS, uuids[i]);
	pb_message(&p->b, TRACK_EVENT, &p->a);
	pb_message(&p->packet, PACKET_DEFAULTS, &p->b);
	pb_int(&p->packet, SEQUENCE_FLAGS, STATE_CLEARED);
	pb_clear(&p->a);
	pb_clear(&p->b);
	write_packet(x);
}

/* The event's name and category, interned with this packet if new in the thread. */
static void put_name(struct export *x, const struct timeline_label *l)
{
	struct perfetto *p = x->own;
	uint32_t group = l->group;
	bool fresh;
	uint64_t iid = export_id(&p->names, group, &fresh) + UINT64_C(1);

	pb_int(&p->event, NAME_IID, iid);
	pb_int(&p->event, CATEGORY_IIDS, iid); /* each name has its category */
	if (!fresh)
		return;
	l = export_label(x, group);
	for (unsigned what = 1; what <= 2;
	     what++) { /* InternedData: event_categories, event_names */
		pb_clear(&p->a);
		pb_int(&p->a, 1, iid);
		put_text(&p->a, 2, what == 2 ? l->name : *l->kind ? l->kind : "region");
		pb_message(&p->b, what, &p->a);
	}
	pb_message(&p->packet, INTERNED_DATA, &p->b);
	pb_clear(&p->a);
	pb_clear(&p->b);
}

static void annotate(struct export *x, const char *name, const char *text, uint64_t number)
{
	struct perfetto *p = x->own;

	pb_clear(&p->a);
	pb_string(&p->a, 10, name);
	if (text)
		put_text(&p->a, 6, text);
	else
		pb_int(&p->a, 3, number);
	pb_message(&p->event, DEBUG_ANNOTATIONS, &p->a);
	pb_clear(&p->a);
}

static void put_arguments(struct export *x, const struct timeline_label *l)
{
	for (size_t i = 0; l->arg && l->arg[i]; i++) {
		char name[24];

		snprintf(name, sizeof(name), "arg%zu", i);
		annotate(x, name, l->arg[i], 0);
	}
}

static void put_counters(struct export *x, const uint64_t *value, uint8_t missing)
{
	struct perfetto *p = x->own;

	missing &= (uint8_t) ~(1u << x->of->counter);
	for (size_t c = 0; c < x->of->info->n_counters; c++) {
		if (c == x->of->counter || missing >> c & 1)
			continue;
		if (missing) /* the defaults list all tracks */
			pb_int(&p->event, EXTRA_UUIDS, thread_uuid(x) + 1 + c);
		pb_int(&p->event, EXTRA_VALUES, value[c]);
	}
}

static void write_event(struct export *x, uint64_t at)
{
	struct perfetto *p = x->own;

	pb_int(&p->packet, TIMESTAMP, at);
	pb_int(&p->packet, SEQUENCE_FLAGS, NEEDS_STATE);
	pb_message(&p->packet, TRACK_EVENT, &p->event);
	pb_clear(&p->event);
	write_packet(x);
}

static void open_span(struct export *x, const struct export_span *s)
{
	struct perfetto *p = x->own;
	const struct timeline_label *l = export_label(x, s->label);

	pb_int(&p->event, TYPE, SLICE_BEGIN);
	put_arguments(x, l);
	put_name(x, l);
	put_counters(x, s->from, s->missing);
	if (s->begin_unknown)
		annotate(x, "begin", "not known", 0);
	write_event(x, s->begin);
}

static void close_span(struct export *x, const struct export_span *s)
{
	struct perfetto *p = x->own;

	pb_int(&p->event, TYPE, SLICE_END);
	put_counters(x, s->to, s->to_missing);
	if (s->end_unknown)
		annotate(x, "end", "not known", 0);
	if (s->repaired)
		annotate(x, "repaired", "begin or end is not in the recording", 0);
	if (s->at_gap)
		annotate(x, "at_gap", s->at_gap, 0);
	write_event(x, s->end);
}

/* A value on a separate counter track. */
static void put_number(struct export *x, const struct export_mark *m,
		       const struct timeline_label *l)
{
	struct perfetto *p = x->own;
	uint64_t uuid = made_uuid(l->group, thread_uuid(x));
	bool fresh;

	export_id(&p->numbers, l->group, &fresh);
	if (fresh)
		counter_track(x, uuid, l->name, "");
	pb_int(&p->event, TYPE, COUNTER_EVENT);
	pb_int(&p->event, TRACK_UUID, uuid);
	pb_int(&p->event, COUNTER_VALUE, m->number);
	write_event(x, m->at);
}

/* An async span has a separate track: it begins here and may end on any thread. */
static void put_async_span(struct export *x, const struct export_mark *m,
			   const struct timeline_label *l)
{
	struct perfetto *p = x->own;
	uint64_t uuid = made_uuid(m->number, process_uuid(x));

	pb_int(&p->b, UUID, uuid);
	put_text(&p->b, NAME, l->name);
	pb_int(&p->b, PARENT_UUID, process_uuid(x));
	write_track(x);
	pb_int(&p->event, TYPE, m->kind == TIMELINE_START ? SLICE_BEGIN : SLICE_END);
	if (m->kind == TIMELINE_START) {
		l = export_label(x, m->label);
		put_arguments(x, l);
		put_name(x, l);
	}
	pb_int(&p->event, TRACK_UUID, uuid);
	write_event(x, m->at);
}

static void mark(struct export *x, const struct export_mark *m)
{
	struct perfetto *p = x->own;
	const struct timeline_label *l = export_label(x, m->label);

	switch (m->kind) {
	case TIMELINE_INTEGER:
		put_number(x, m, l);
		return;
	case TIMELINE_START:
	case TIMELINE_FINISH:
		put_async_span(x, m, l);
		return;
	case TIMELINE_LOST:
		pb_int(&p->event, TYPE, INSTANT);
		pb_string(&p->event, EVENT_NAME, "lost points");
		pb_string(&p->event, CATEGORIES, "tare");
		if (m->number)
			annotate(x, "lost", NULL, m->number);
		break;
	default:
		pb_int(&p->event, TYPE, INSTANT);
		put_arguments(x, l);
		put_name(x, l);
		break;
	}
	write_event(x, m->at);
}

/* {1: iid, 2: text} as `field` of the interned data in p->b. */
static void intern(struct perfetto *p, unsigned field, uint64_t iid, const char *text)
{
	pb_clear(&p->a);
	pb_int(&p->a, 1, iid);
	put_text(&p->a, 2, text);
	pb_message(&p->b, field, &p->a);
	pb_clear(&p->a);
}

/* A frame, with its function and mapping if new in the thread. */
static uint64_t put_frame(struct export *x, uint32_t index)
{
	struct perfetto *p = x->own;
	size_t n;
	const struct call_tree_frame *f = call_tree_frames(x->of->call_tree, &n) + index;
	bool fresh;
	uint64_t iid = export_id(&p->frames, index, &fresh) + UINT64_C(1), module;

	if (!fresh)
		return iid;
	module = f->module ? export_id(&p->modules, f->module, &fresh) + UINT64_C(1) : 0;
	if (module && fresh) {
		intern(p, MAPPING_PATHS, module, call_tree_name(x->of->call_tree, f->module));
		pb_int(&p->a, 1, module);
		pb_int(&p->a, 7, module);
		pb_message(&p->b, MAPPINGS, &p->a);
	}
	intern(p, FUNCTION_NAMES, iid, export_label(x, index)->name);
	pb_int(&p->a, 1, iid);
	pb_int(&p->a, 2, iid);
	if (module) { /* placeholders for missing frames have no module */
		pb_int(&p->a, 3, module);
		pb_int(&p->a, 4, f->address);
	}
	pb_message(&p->b, FRAMES, &p->a);
	pb_clear(&p->a);
	return iid;
}

static uint64_t put_callstack(struct export *x, uint32_t node)
{
	struct perfetto *p = x->own;
	size_t n;
	const struct call_tree_node *nodes = call_tree_nodes(x->of->call_tree, &n);
	bool fresh;
	uint64_t iid = export_id(&p->nodes, node, &fresh) + UINT64_C(1), frame[PATH_MAX_FRAMES];
	size_t depth = 0;

	if (!fresh)
		return iid;
	for (uint32_t up = node; up && depth < PATH_MAX_FRAMES; up = nodes[up].parent)
		frame[depth++] = put_frame(x, nodes[up].frame);
	pb_clear(&p->a);
	pb_int(&p->a, 1, iid);
	while (depth)
		pb_int(&p->a, 2, frame[--depth]);
	pb_message(&p->b, CALLSTACKS, &p->a);
	pb_clear(&p->a);
	return iid;
}

/* A sample of a tracepoint, of any event: an instant of its thread, with its fields. */
static void put_tracepoint(struct export *x, const struct export_sample *e)
{
	enum { UINT_VALUE = 3, INT_VALUE = 4, STRING_VALUE = 6, ANNOTATION_NAME = 10 };
	struct perfetto *p = x->own;
	const struct call_tree *s = x->of->call_tree;
	const struct call_tree_trace *value[CALL_TREE_TRACE_MOST];
	size_t n = call_tree_trace_values(s, e->trace, value);

	pb_int(&p->event, TYPE, INSTANT);
	put_text(&p->event, EVENT_NAME, call_tree_name(s, s->column[e->counter].name));
	pb_string(&p->event, CATEGORIES, "tracepoint");
	for (size_t i = 0; i < n; i++) {
		const char *is = call_tree_name(s, value[i]->value);

		pb_clear(&p->a);
		put_text(&p->a, ANNOTATION_NAME, call_tree_name(s, value[i]->name));
		if (value[i]->kind != CALL_TREE_TRACE_NUMBER)
			put_text(&p->a, STRING_VALUE, is);
		else if (*is == '-')
			pb_int(&p->a, INT_VALUE, (uint64_t)strtoll(is, NULL, 10));
		else
			pb_int(&p->a, UINT_VALUE, strtoull(is, NULL, 10));
		pb_message(&p->event, DEBUG_ANNOTATIONS, &p->a);
	}
	pb_clear(&p->a);
	write_event(x, e->at);
}

/* Only samples of the selected event have stacks. */
static void sample(struct export *x, const struct export_sample *e)
{
	struct perfetto *p = x->own;
	const struct timeline_thread *t = &x->of->info->thread[x->thread];
	size_t n;
	const struct call_tree_node *nodes = call_tree_nodes(x->of->call_tree, &n);
	const struct call_tree_frame *frames = call_tree_frames(x->of->call_tree, &n);
	uint64_t callstack;

	if (e->trace)
		put_tracepoint(x, e);
	if (e->counter != x->of->counter || e->node == 0)
		return;
	callstack = put_callstack(x, e->node);
	if (p->b.n) {
		pb_message(&p->packet, INTERNED_DATA, &p->b);
		pb_clear(&p->b);
	}
	if (e->cpu != UINT32_MAX)
		pb_int(&p->a, 1, e->cpu);
	pb_int(&p->a, 2, t->pid);
	pb_int(&p->a, 3, t->tid);
	pb_int(&p->a, 4, callstack);
	pb_int(&p->a, 5,
	       frames[nodes[e->node].frame].flags & CALL_TREE_KERNEL ? MODE_KERNEL : MODE_USER);
	pb_int(&p->packet, TIMESTAMP, e->at);
	pb_int(&p->packet, SEQUENCE_FLAGS, NEEDS_STATE);
	pb_message(&p->packet, PERF_SAMPLE, &p->a);
	pb_clear(&p->a);
	write_packet(x);
}

static void end(struct export *x)
{
	struct perfetto *p = x->own;

	if ((p->names.failed || p->numbers.failed || p->frames.failed || p->nodes.failed ||
	     p->modules.failed) &&
	    x->out->error == 0)
		x->out->error = -ENOMEM;
}

static void release(struct export *x)
{
	struct perfetto *p = x->own;

	export_ids_free(&p->names);
	export_ids_free(&p->numbers);
	export_ids_free(&p->frames);
	export_ids_free(&p->nodes);
	export_ids_free(&p->modules);
	pb_free(&p->a);
	pb_free(&p->b);
	pb_free(&p->event);
	pb_free(&p->packet);
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.about = "Perfetto's trace (protobuf): ui.perfetto.dev, with counter tracks",
	.ending = ".pftrace",
	.binary = true,
	.own_size = sizeof(struct perfetto),
	.by_address = true,
	.fields = true,
	.begin = begin_perfetto,
	.thread = thread,
	.open = open_span,
	.close = close_span,
	.mark = mark,
	.sample = sample,
	.end = end,
	.free = release,
};

/* SPDX-License-Identifier: MIT */
/*
 * The events of a recording: their attributes, their names, and which ids are theirs.
 *
 * perf_event_attr, as far as its own `size` says it was filled (64, 72, 80, 96, 104, 112, 120, 128,
 * 136 and later; 0 means 64). A longer one is read as far as it is known here.
 *
 *   offset  size  meaning
 *        0     4  type
 *        4     4  size
 *        8     8  config
 *       16     8  sample_period or sample_freq
 *       24     8  sample_type
 *       32     8  read_format
 *       40     8  bit fields, from disabled up
 *       48     4  wakeup_events or wakeup_watermark
 *       52     4  bp_type
 *       56     8  config1
 *       64     8  config2
 *       72     8  branch_sample_type
 *       80     8  sample_regs_user
 *       88     4  sample_stack_user
 *       92     4  clockid
 *       96     8  sample_regs_intr
 *      104     4  aux_watermark
 *      108     2  sample_max_stack
 *      110     2  reserved
 *      112     4  aux_sample_size
 *      116     4  aux_action
 *      120     8  sig_data
 *      128     8  config3
 *
 * Source: linux/perf_event.h, struct perf_event_attr.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/text.h"
#include "perfdata/perfdata_private.h"

/*
 * On a big-endian machine bit fields start at the top of the word. precise_ip is two bits wide and
 * keeps their order.
 */
static uint64_t flags_from_big_endian(uint64_t v)
{
	uint64_t out = 0;

	for (int i = 0; i < 64; i++)
		out |= (v >> i & 1) << (63 - i);

	uint64_t precise = out >> PD_ATTR_PRECISE_SHIFT & 3;

	out &= ~(3ull << PD_ATTR_PRECISE_SHIFT);
	return out | (precise >> 1 | (precise & 1) << 1) << PD_ATTR_PRECISE_SHIFT;
}

void attr_read(struct perfdata_attr *out, const unsigned char *bytes, size_t n, bool swap)
{
	unsigned char whole[136] = { 0 };
	uint32_t size = n >= 8 ? load32(bytes + 4, swap) : 0;
	size_t filled = size ? size : 64;

	/* Fields beyond the writer's size may contain garbage. */
	if (filled > n)
		filled = n;
	memcpy(whole, bytes, filled < sizeof(whole) ? filled : sizeof(whole));
	*out = (struct perfdata_attr){
		.type = load32(whole, swap),
		.size = size,
		.config = load64(whole + 8, swap),
		.period = load64(whole + 16, swap),
		.sample_type = load64(whole + 24, swap),
		.read_format = load64(whole + 32, swap),
		.flags = load64(whole + 40, swap),
		.wakeup = load32(whole + 48, swap),
		.bp_type = load32(whole + 52, swap),
		.config1 = load64(whole + 56, swap),
		.config2 = load64(whole + 64, swap),
		.branch_sample_type = load64(whole + 72, swap),
		.regs_user = load64(whole + 80, swap),
		.stack_user = load32(whole + 88, swap),
		.clockid = (int32_t)load32(whole + 92, swap),
		.regs_intr = load64(whole + 96, swap),
		.aux_watermark = load32(whole + 104, swap),
		.max_stack = load16(whole + 108, swap),
		.aux_sample_size = load32(whole + 112, swap),
		.sig_data = load64(whole + 120, swap),
		.config3 = load64(whole + 128, swap),
	};
	/* tare runs on little-endian machines: swapped means big-endian. */
	if (swap)
		out->flags = flags_from_big_endian(out->flags);
}

/* The modifiers as shown by perf. Source: perf-list(1), "EVENT MODIFIERS". */
static void add_modifiers(struct text *t, const struct perfdata_attr *a)
{
	unsigned precise = a->flags >> PD_ATTR_PRECISE_SHIFT & 3;
	bool some = a->flags & (PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV);
	bool guest_out = a->flags & PD_ATTR_EXCLUDE_GUEST,
	     host_out = a->flags & PD_ATTR_EXCLUDE_HOST;
	char mods[12];
	size_t n = 0;

	if (some && !(a->flags & PD_ATTR_EXCLUDE_KERNEL))
		mods[n++] = 'k';
	if (some && !(a->flags & PD_ATTR_EXCLUDE_USER))
		mods[n++] = 'u';
	if (some && !(a->flags & PD_ATTR_EXCLUDE_HV))
		mods[n++] = 'h';
	for (unsigned i = 0; i < precise; i++)
		mods[n++] = 'p';
	/*
	 * Without other modifiers perf's default excludes nothing; with them, guests. Differences
	 * are shown.
	 */
	if (host_out || guest_out == (some || precise)) {
		if (!host_out)
			mods[n++] = 'H';
		if (!guest_out)
			mods[n++] = 'G';
	}
	if (n)
		text_add(t, ":%.*s", (int)n, mods);
}

static char *name_from_attr(const struct perfdata_attr *a)
{
	static const char *const hardware[] = { "cycles",
						"instructions",
						"cache-references",
						"cache-misses",
						"branches",
						"branch-misses",
						"bus-cycles",
						"stalled-cycles-frontend",
						"stalled-cycles-backend",
						"ref-cycles" };
	static const char *const software[] = {
		"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"
	};
	static const char *const cache[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
					     "iTLB",      "branch",    "node" };
	static const char *const op[] = { "load", "store", "prefetch" };
	struct text t = { 0 };
	/* On hybrid machines the upper half of config is the PMU type. */
	uint64_t c = a->type == 0 || a->type == 3 ? a->config & 0xffffffff : a->config;

	if (a->type == 0 && c < ARRAY_SIZE(hardware))
		text_add(&t, "%s", hardware[c]);
	else if (a->type == 1 && c < ARRAY_SIZE(software))
		text_add(&t, "%s", software[c]);
	else if (a->type == 3 && (c & 0xff) < ARRAY_SIZE(cache) &&
		 (c >> 8 & 0xff) < ARRAY_SIZE(op) && c >> 16 < 2)
		text_add(&t, c >> 16 ? "%s-%s-misses" : "%s-%ss", cache[c & 0xff],
			 op[c >> 8 & 0xff]);
	else if (a->type == 4)
		text_add(&t, "raw 0x%llx", (unsigned long long)a->config);
	else
		text_add(&t, "type %u config 0x%llx", a->type, (unsigned long long)a->config);
	add_modifiers(&t, a);
	return text_take(&t);
}

int event_rename(struct perfdata_event *ev, const char *name, struct tare_error *err)
{
	char *copy = strdup(name);

	if (!copy)
		return tare_fail_nomem(err);
	free(ev->name);
	ev->name = copy;
	ev->named = true;
	return 0;
}

/* The position of the id among a sample's words, or -1. */
static int id_word_of(uint64_t type)
{
	if (type & PD_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & PD_SAMPLE_ID))
		return -1;
	return __builtin_popcountll(
		type & (PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ADDR));
}

static int id_tail_of(const struct perfdata_attr *a)
{
	if (!(a->flags & PD_ATTR_SAMPLE_ID_ALL))
		return -1;
	if (a->sample_type & PD_SAMPLE_IDENTIFIER)
		return 1;
	if (!(a->sample_type & PD_SAMPLE_ID))
		return -1;
	return 1 + __builtin_popcountll(a->sample_type & (PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU));
}

static bool alike(const struct perfdata_attr *a, const struct perfdata_attr *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
		a->branch_sample_type == b->branch_sample_type && a->regs_user == b->regs_user &&
		a->regs_intr == b->regs_intr;
}

/* The offset of the time in a sample, header included; 0: none. */
static unsigned time_at_of(uint64_t type)
{
	const uint64_t before = PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP | PD_SAMPLE_TID;

	return type & PD_SAMPLE_TIME
		? RECORD_HEADER + 8 * (unsigned)__builtin_popcountll(type & before)
		: 0;
}

/* Updates the common properties of all events after adding one. */
static void agree(struct perfdata *r, const struct perfdata_attr *a)
{
	int word = id_word_of(a->sample_type), tail = id_tail_of(a);

	if (r->n_events == 1) {
		r->id_word = word;
		r->id_tail = tail;
		r->one_layout = true;
		r->time_at = time_at_of(a->sample_type);
		return;
	}
	if (r->id_word != word)
		r->id_word = -2;
	if (r->id_tail != tail)
		r->id_tail = -2;
	r->one_layout &= alike(a, &r->events[0]->attr);
}

static struct id_slot *slot_of(const struct perfdata *r, uint64_t id)
{
	size_t i = (size_t)(id * 0x9e3779b97f4a7c15ull >> 20);

	for (;; i++) {
		struct id_slot *s = &r->slots[i & (r->n_slots - 1)];

		if (!s->event || s->id == id)
			return s;
	}
}

static int id_add(struct perfdata *r, uint64_t id, struct perfdata_event *ev)
{
	if (id == 0)
		return 0; /* means "none" in every record */
	if (2 * r->used_slots >= r->n_slots) {
		struct id_slot *old = r->slots;
		size_t n = r->n_slots;

		r->n_slots = n ? 2 * n : 64;
		r->slots = calloc(r->n_slots, sizeof(*r->slots));
		if (!r->slots) {
			r->slots = old;
			r->n_slots = n;
			return -ENOMEM;
		}
		for (size_t i = 0; i < n; i++)
			if (old[i].event)
				*slot_of(r, old[i].id) = old[i];
		free(old);
	}

	struct id_slot *s = slot_of(r, id);

	if (!s->event) {
		*s = (struct id_slot){ id, ev };
		r->used_slots++;
	}
	return 0;
}

struct perfdata_event *event_of(struct perfdata *r, uint64_t id)
{
	if (id == r->last.id && r->last.event)
		return r->last.event;
	if (!r->n_slots || !id)
		return NULL;

	struct perfdata_event *ev = slot_of(r, id)->event;

	if (ev)
		r->last = (struct id_slot){ id, ev };
	return ev;
}

struct perfdata_event *event_add(struct perfdata *r, const struct perfdata_attr *attr,
				 const unsigned char *ids, size_t n_ids, struct tare_error *err)
{
	struct perfdata_event *ev = calloc(1, sizeof(*ev));
	bool failed;

	if (!ev || !array_one_more(&r->events, r->n_events, sizeof(*r->events)))
		goto nomem;
	ev->attr = *attr;
	ev->scale = 1;
	ev->index = r->n_events;
	ev->least_sample = RECORD_HEADER +
		8 * (uint32_t)__builtin_popcountll(attr->sample_type & PD_SAMPLE_PLAIN);
	ev->name = name_from_attr(attr);
	ev->ids = malloc(sizeof(*ev->ids) * (n_ids ? n_ids : 1));
	if (!ev->name || !ev->ids)
		goto nomem;
	ev->n_ids = n_ids;
	r->events[r->n_events++] = ev; /* the reader frees it from here on */
	r->n_event_ids += n_ids;
	failed = false;
	for (size_t i = 0; i < n_ids; i++) {
		ev->ids[i] = load64(ids + 8 * i, r->swap);
		failed |= id_add(r, ev->ids[i], ev) < 0;
	}
	if (failed) {
		tare_fail_nomem(err);
		return NULL;
	}
	agree(r, attr);
	return ev;
nomem:
	if (ev) {
		free(ev->name);
		free(ev->ids);
	}
	free(ev);
	tare_fail_nomem(err);
	return NULL;
}

void events_free(struct perfdata *r)
{
	for (size_t i = 0; i < r->n_events; i++) {
		struct perfdata_event *ev = r->events[i];

		free(ev->name);
		free(ev->ids);
		free(ev->unit);
		free(ev->cpus);
		free(ev);
	}
	free(r->events);
	free(r->slots);
}

size_t perfdata_event_count(const struct perfdata *r)
{
	return r->n_events;
}

const struct perfdata_event *perfdata_event_at(const struct perfdata *r, size_t i)
{
	return i < r->n_events ? r->events[i] : NULL;
}

const struct perfdata_event *perfdata_event_of(const struct perfdata *r, uint64_t id)
{
	return r->n_slots && id ? slot_of(r, id)->event : NULL;
}

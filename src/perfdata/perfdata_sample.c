/* SPDX-License-Identifier: MIT */
/*
 * SAMPLE records, and the counter values that SAMPLE and READ share.
 *
 * After the 8 bytes of header, each field only when its bit is set in the event's sample_type.
 * Words are u64 in the recording machine's byte order; "u32 a, b" are two halves swapped one by
 * one.
 *
 *   IDENTIFIER      u64
 *   IP              u64
 *   TID             u32 pid, tid
 *   TIME            u64 ns
 *   ADDR            u64
 *   ID              u64
 *   STREAM_ID       u64
 *   CPU             u32 cpu, reserved
 *   PERIOD          u64
 *   READ            see below
 *   CALLCHAIN       u64 nr; u64 ips[nr]
 *   RAW             u32 size; bytes[size]; 4 + size is a multiple of 8
 *   BRANCH_STACK    u64 nr; [u64 hw_idx]; {u64 from, to, flags}[nr]; [u64 counters[nr]]
 *   REGS_USER       u64 abi; if abi: u64 reg[bits set in regs_user]
 *   STACK_USER      u64 size; bytes[size]; if size: u64 dyn_size
 *   WEIGHT, WEIGHT_STRUCT (one of them)  u64
 *   DATA_SRC        u64
 *   TRANSACTION     u64
 *   REGS_INTR       as REGS_USER, by regs_intr
 *   PHYS_ADDR       u64
 *   CGROUP          u64
 *   DATA_PAGE_SIZE  u64
 *   CODE_PAGE_SIZE  u64
 *   AUX             u64 size; bytes[size]
 *
 * READ without GROUP: u64 value; [enabled]; [running]; [id]; [lost]
 * READ with GROUP:    u64 nr; [enabled]; [running]; {u64 value; [id]; [lost]}[nr]
 *
 * Source: linux/perf_event.h, enum perf_event_type and perf_event_read_format; the order of the
 * last five from kernel/events/core.c, perf_output_sample().
 */
#include "perfdata/perfdata_private.h"

/*
 * On a big-endian machine bit fields start at the top of the word, so fields are in reverse order,
 * each with its own bits in order. data_src and weight need no conversion: the header defines them
 * for both byte orders.
 */
static uint64_t branch_flags_from_big_endian(uint64_t v)
{
	static const unsigned char width[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };
	uint64_t out = 0;
	unsigned at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(width); i++) {
		uint64_t field = v >> (64 - at - width[i]) & ((1u << width[i]) - 1);

		out |= field << at;
		at += width[i];
	}
	return out;
}

const uint64_t *words_of(struct perfdata *r, struct bytes *b, uint64_t n)
{
	const unsigned char *p = bytes_array(b, n, 8);

	if (!p)
		return NULL;
	if (!b->swap && !((uintptr_t)p & 7))
		return (const uint64_t *)(const void *)p;

	/* All arrays of a record together are shorter than the record. */
	uint64_t *to = r->scratch + r->scratch_used;

	for (uint64_t i = 0; i < n; i++)
		to[i] = load64(p + 8 * i, b->swap);
	r->scratch_used += n;
	return to;
}

bool read_decode(struct perfdata *r, struct perfdata_read *out, struct bytes *b, uint64_t format)
{
	unsigned times = !!(format & PD_READ_ENABLED) + !!(format & PD_READ_RUNNING);
	unsigned each = 1 + !!(format & PD_READ_ID) + !!(format & PD_READ_LOST);
	const uint64_t *w;
	uint64_t n;

	out->format = format;
	out->n = 1;
	out->enabled_ns = out->running_ns = 0;
	if (format & PD_READ_GROUP)
		out->n = bytes_u64(b);
	else if (!(w = out->words = words_of(r, b, times + each)))
		return false;
	else
		w++; /* the value comes before the times */
	if (format & PD_READ_GROUP && !(w = words_of(r, b, times)))
		return false;
	if (format & PD_READ_ENABLED)
		out->enabled_ns = *w++;
	if (format & PD_READ_RUNNING)
		out->running_ns = *w++;
	if (!(format & PD_READ_GROUP))
		return true;
	if (__builtin_mul_overflow(out->n, (uint64_t)each, &n))
		n = UINT64_MAX;
	return (out->words = words_of(r, b, n)) != NULL;
}

struct perfdata_value perfdata_read_at(const struct perfdata_read *read, uint64_t i)
{
	bool id = read->format & PD_READ_ID, lost = read->format & PD_READ_LOST;
	struct perfdata_value v = { 0 };
	const uint64_t *w = read->words;

	if (read->format & PD_READ_GROUP) {
		w += i * (1u + id + lost);
		v.value = *w++;
	} else {
		v.value = *w++;
		w += !!(read->format & PD_READ_ENABLED) + !!(read->format & PD_READ_RUNNING);
	}
	if (id)
		v.id = *w++;
	if (lost)
		v.lost = *w;
	return v;
}

static const char *branches(struct perfdata *r, struct perfdata_sample *s, struct bytes *b,
			    uint64_t kind)
{
	uint64_t n = bytes_u64(b), n_words;
	const uint64_t *w;

	s->has_hw_index = kind & PD_BRANCH_HW_INDEX;
	s->branch_hw_index = s->has_hw_index ? bytes_u64(b) : 0;
	if (__builtin_mul_overflow(n, (uint64_t)3, &n_words))
		n_words = UINT64_MAX;
	w = words_of(r, b, n_words);
	if (!w)
		return "its branch stack does not fit";
	if (b->swap) /* then w is our own copy, at the end of scratch */
		for (uint64_t i = 0; i < n; i++) {
			uint64_t *flags = r->scratch + (w - r->scratch) + 3 * i + 2;

			*flags = branch_flags_from_big_endian(*flags);
		}
	s->n_branches = n;
	s->branches = (const struct perfdata_branch *)(const void *)w;
	s->branch_counters = NULL;
	if (kind & PD_BRANCH_COUNTERS && !(s->branch_counters = words_of(r, b, n)))
		return "its branch counters do not fit";
	return NULL;
}

static const char *regs(struct perfdata *r, struct perfdata_regs *out, struct bytes *b,
			uint64_t mask)
{
	out->abi = bytes_u64(b);
	out->mask = mask;
	out->n = 0;
	out->reg = NULL;
	if (out->abi > 2)
		return "its registers have an unknown ABI";
	if (out->abi == 0)
		return NULL;
	out->n = (unsigned)__builtin_popcountll(mask);
	out->reg = words_of(r, b, out->n);
	return out->reg ? NULL : "its registers do not fit";
}

static const char *stack(struct perfdata_sample *s, struct bytes *b)
{
	s->stack_size = bytes_u64(b);
	s->stack = bytes_take(b, s->stack_size);
	s->stack_dyn_size = s->stack && s->stack_size ? bytes_u64(b) : 0;
	if (!s->stack || b->bad)
		return "its user stack does not fit";
	return s->stack_dyn_size > s->stack_size ? "its user stack has more valid bytes than bytes"
						 : NULL;
}

/* The variable-size and rare fields; the fixed words are already read. */
static const char *heavy_fields(struct perfdata *r, struct perfdata_sample *s, struct bytes *b,
				const struct perfdata_attr *attr, uint32_t type)
{
	const char *bad = NULL;

	if (type & PD_SAMPLE_READ) {
		if (attr->read_format & ~(uint64_t)PD_READ_ALL)
			return "its read_format has unknown bits";
		if (!read_decode(r, &s->read, b, attr->read_format))
			return "its counter values do not fit";
	}
	if (type & PD_SAMPLE_CALLCHAIN) {
		s->n_chain = bytes_u64(b);
		if (!(s->chain = words_of(r, b, s->n_chain)))
			return "its call chain does not fit";
	}
	if (!(type & ~(uint32_t)(PD_SAMPLE_PLAIN | PD_SAMPLE_READ | PD_SAMPLE_CALLCHAIN)))
		return NULL; /* the common case */
	if (type & PD_SAMPLE_RAW) {
		s->raw_size = bytes_u32(b);
		if (!(s->raw = bytes_take(b, s->raw_size)))
			return "its raw data does not fit";
	}
	if (type & PD_SAMPLE_BRANCH_STACK)
		bad = branches(r, s, b, attr->branch_sample_type);
	if (!bad && type & PD_SAMPLE_REGS_USER)
		bad = regs(r, &s->regs_user, b, attr->regs_user);
	if (!bad && type & PD_SAMPLE_STACK_USER)
		bad = stack(s, b);
	if (bad)
		return bad;
	if (type & (PD_SAMPLE_WEIGHT | PD_SAMPLE_WEIGHT_STRUCT))
		s->weight = bytes_u64(b);
	if (type & PD_SAMPLE_DATA_SRC)
		s->data_src = bytes_u64(b);
	if (type & PD_SAMPLE_TRANSACTION)
		s->transaction = bytes_u64(b);
	if (type & PD_SAMPLE_REGS_INTR && (bad = regs(r, &s->regs_intr, b, attr->regs_intr)))
		return bad;
	if (type & PD_SAMPLE_PHYS_ADDR)
		s->phys_addr = bytes_u64(b);
	if (type & PD_SAMPLE_CGROUP)
		s->cgroup = bytes_u64(b);
	if (type & PD_SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = bytes_u64(b);
	if (type & PD_SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = bytes_u64(b);
	if (type & PD_SAMPLE_AUX) {
		s->aux_size = bytes_u64(b);
		if (!(s->aux = bytes_take(b, s->aux_size)))
			return "its AUX data does not fit";
	}
	return NULL;
}

static inline __attribute__((always_inline)) void decode(struct perfdata *r,
							 struct perfdata_record *rec,
							 const struct perfdata_event *ev, bool swap)
{
	const struct perfdata_attr *attr = &ev->attr;
	uint32_t type = (uint32_t)attr->sample_type;
	struct perfdata_sample *s = &rec->sample;
	const unsigned char *p = rec->bytes + RECORD_HEADER;

	if (rec->size < ev->least_sample) {
		rec->bad = "its fields do not fit";
		return;
	}
	if (type & PD_SAMPLE_IDENTIFIER) {
		rec->id = load64(p, swap);
		p += 8;
	}
	if (type & PD_SAMPLE_IP) {
		s->ip = load64(p, swap);
		p += 8;
	}
	if (type & PD_SAMPLE_TID) {
		rec->pid = load32(p, swap);
		rec->tid = load32(p + 4, swap);
		p += 8;
	}
	if (type & PD_SAMPLE_TIME) {
		rec->time = load64(p, swap);
		p += 8;
	}
	if (type & PD_SAMPLE_ADDR) {
		s->addr = load64(p, swap);
		p += 8;
	}
	if (type & PD_SAMPLE_ID) {
		rec->id = load64(p, swap);
		p += 8;
	}
	if (type & PD_SAMPLE_STREAM_ID) {
		rec->stream_id = load64(p, swap);
		p += 8;
	}
	if (type & PD_SAMPLE_CPU) {
		rec->cpu = load32(p, swap);
		p += 8;
	}
	if (type & PD_SAMPLE_PERIOD) {
		s->period = load64(p, swap);
		p += 8;
	} else {
		s->period = attr->flags & PD_ATTR_FREQ ? 0 : attr->period;
	}

	struct bytes b = { p, rec->bytes + rec->size, swap, false };

	if (type & ~(uint32_t)PD_SAMPLE_PLAIN)
		rec->bad = heavy_fields(r, s, &b, attr, type);
	if (!rec->bad && (b.bad || b.p != b.end))
		rec->bad = b.bad ? "its fields do not fit" : "bytes are left over after its fields";
	rec->has = rec->bad ? 0 : type;
}

/* Finds the sample's event; *layout is that event, or one with the same sample layout. */
static const char *find_event(struct perfdata *r, struct perfdata_record *rec,
			      const struct perfdata_event **layout)
{
	if (r->n_events == 0)
		return "no event was described before it";
	*layout = r->events[0];
	rec->event = r->n_events == 1 ? r->events[0] : NULL;
	if (rec->event)
		return NULL;
	if (r->id_word >= 0) {
		if (rec->size < RECORD_HEADER + 8 * (r->id_word + 1))
			return "its id does not fit";

		uint64_t id = load64(rec->bytes + RECORD_HEADER + 8 * r->id_word, r->swap);

		rec->event = event_of(r, id);
		if (rec->event)
			*layout = rec->event;
	}
	if (rec->event)
		return NULL;
	return r->one_layout ? NULL : "its event is unknown";
}

void sample_decode(struct perfdata *r, struct perfdata_record *rec)
{
	const struct perfdata_event *layout;

	rec->bad = find_event(r, rec, &layout);
	if (!rec->bad && layout->attr.sample_type & ~(uint64_t)PD_SAMPLE_ALL)
		rec->bad = "its event records fields that are unknown to tare";
	if (rec->bad)
		return;
	if (r->swap)
		decode(r, rec, layout, true);
	else
		decode(r, rec, layout, false);
}

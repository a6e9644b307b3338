/* SPDX-License-Identifier: MIT */
/*
 * All records but SAMPLE.
 *
 *   offset  size  meaning
 *        0     4  type
 *        4     2  misc
 *        6     2  size of the record, this header included
 *        8     -  body, by type:
 *
 *   MMAP             u32 pid, tid; u64 addr, len, pgoff; char file[]
 *   LOST             u64 id, lost
 *   COMM             u32 pid, tid; char comm[]
 *   EXIT, FORK       u32 pid, ppid, tid, ptid; u64 time
 *   THROTTLE, UNTHROTTLE  u64 time, id, stream_id
 *   READ             u32 pid, tid; counter values (perfdata_sample.c)
 *   MMAP2            u32 pid, tid; u64 addr, len, pgoff;
 *                    {u32 major, minor; u64 inode, generation} or, with misc bit 14,
 *                    {u8 size, 0; u16 0; u8 build_id[20]}; u32 prot, flags; char file[]
 *   AUX              u64 offset, size, flags
 *   ITRACE_START     u32 pid, tid
 *   LOST_SAMPLES     u64 lost
 *   SWITCH           nothing
 *   SWITCH_CPU_WIDE  u32 pid, tid of the next or previous
 *   NAMESPACES       u32 pid, tid; u64 nr; {u64 dev, inode}[nr]
 *   KSYMBOL          u64 addr; u32 len; u16 type, flags; char name[]
 *   BPF_EVENT        u16 type, flags; u32 id; u8 tag[8]
 *   CGROUP           u64 id; char path[]
 *   TEXT_POKE        u64 addr; u16 old_len, new_len; u8 old[], new[]
 *   AUX_OUTPUT_HW_ID u64 hw_id
 *   CALLCHAIN_DEFERRED  u64 cookie, nr; u64 ips[nr]
 *
 * When the events have sample_id_all, each of these ends with fields by sample_type, in this order:
 * TID (u32 pid, tid), TIME, ID, STREAM_ID, CPU (u32 cpu, 0), IDENTIFIER.
 *
 *   ATTR             attr of attr.size bytes; u64 ids[] to the end
 *   EVENT_TYPE       u64 id; char name[64]
 *   TRACING_DATA     u32 size; then, outside the record, size bytes rounded up to 8
 *   BUILD_ID         s32 pid; u8 id[20], size (with misc bit 15), 0[3]; char file[]
 *   ID_INDEX         u64 nr; {u64 id, index, cpu, tid}[nr]; newer: {u64 machine_pid, vcpu}[nr]
 *   AUXTRACE_INFO    u32 type, 0; u64 priv[]
 *   AUXTRACE         u64 size, offset, reference; u32 index, tid, cpu, 0; then, outside, size bytes
 *   AUXTRACE_ERROR   u32 type, code, cpu, pid, tid, format; u64 ip; [format 1: u64 time;]
 *                    char message[]
 *   THREAD_MAP       u64 nr; {u64 pid; char comm[16]}[nr]
 *   CPU_MAP          u16 type; 0: u16 nr, cpu[nr]; 1: u16 nr, long_size; mask;
 *                    2: u8 any, 0; u16 first, last
 *   STAT_CONFIG      u64 nr; {u64 tag, value}[nr]
 *   STAT             u64 id; u32 cpu, thread; u64 value, enabled, running
 *   STAT_ROUND       u64 type, time
 *   EVENT_UPDATE     u64 type, id; by type: 0 unit and 2 name: char[]; 1: double; 3: a CPU_MAP body
 *   TIME_CONV        u64 shift, mult, zero; newer: u64 cycles, mask; u8 user_time_zero, _short
 *   FEATURE          u64 feature; its bytes (perfdata_features.c)
 *   COMPRESSED       zstd bytes to the end
 *   COMPRESSED2      u64 size; that many zstd bytes, then padding
 *   BPF_METADATA     char program[16]; u64 nr; {char key[64], value[256]}[nr]
 *   FINISHED_ROUND, FINISHED_INIT  nothing
 *
 * Source: linux/perf_event.h, enum perf_event_type; perf.data-file-format.txt, "PERF_RECORD_...".
 */
#include <stdlib.h>
#include "base/text.h"
#include "perfdata/perfdata_private.h"

static void mmap_body(struct perfdata_record *rec, struct bytes *b)
{
	struct perfdata_mmap *m = &rec->mmap;

	*m = (struct perfdata_mmap){ 0 };
	m->pid = bytes_u32(b);
	m->tid = bytes_u32(b);
	m->addr = bytes_u64(b);
	m->len = bytes_u64(b);
	m->pgoff = bytes_u64(b);
	if (rec->type == PD_RECORD_MMAP2 && rec->misc & PD_MISC_14) {
		const unsigned char *id = bytes_take(b, 24);

		if (id) {
			m->build_id_size = id[0] <= 20 ? id[0] : 20;
			m->build_id = id + 4;
		}
	} else if (rec->type == PD_RECORD_MMAP2) {
		m->major = bytes_u32(b);
		m->minor = bytes_u32(b);
		m->inode = bytes_u64(b);
		m->inode_generation = bytes_u64(b);
	}
	if (rec->type == PD_RECORD_MMAP2) {
		m->prot = bytes_u32(b);
		m->flags = bytes_u32(b);
	}
	m->file = bytes_rest_string(b);
}

static void kernel_body(struct perfdata *r, struct perfdata_record *rec, struct bytes *b)
{
	switch (rec->type) {
	case PD_RECORD_MMAP:
	case PD_RECORD_MMAP2:
		mmap_body(rec, b);
		break;
	case PD_RECORD_LOST:
		rec->lost.id = bytes_u64(b);
		rec->lost.lost = bytes_u64(b);
		break;
	case PD_RECORD_LOST_SAMPLES:
		rec->lost.id = 0;
		rec->lost.lost = bytes_u64(b);
		break;
	case PD_RECORD_COMM:
		rec->comm.pid = bytes_u32(b);
		rec->comm.tid = bytes_u32(b);
		rec->comm.comm = bytes_rest_string(b);
		break;
	case PD_RECORD_EXIT:
	case PD_RECORD_FORK:
		rec->task.pid = bytes_u32(b);
		rec->task.ppid = bytes_u32(b);
		rec->task.tid = bytes_u32(b);
		rec->task.ptid = bytes_u32(b);
		rec->task.time = bytes_u64(b);
		break;
	case PD_RECORD_THROTTLE:
	case PD_RECORD_UNTHROTTLE:
		rec->throttle.time = bytes_u64(b);
		rec->throttle.id = bytes_u64(b);
		rec->throttle.stream_id = bytes_u64(b);
		break;
	case PD_RECORD_READ:
		rec->read.pid = bytes_u32(b);
		rec->read.tid = bytes_u32(b);
		if (!rec->event)
			rec->bad = "its event is unknown";
		else if (rec->event->attr.read_format & ~(uint64_t)PD_READ_ALL)
			rec->bad = "its read_format has unknown bits";
		else if (!read_decode(r, &rec->read.read, b, rec->event->attr.read_format))
			rec->bad = "its counter values do not fit";
		break;
	case PD_RECORD_AUX:
		rec->aux.offset = bytes_u64(b);
		rec->aux.size = bytes_u64(b);
		rec->aux.flags = bytes_u64(b);
		break;
	case PD_RECORD_ITRACE_START:
	case PD_RECORD_SWITCH_CPU_WIDE:
		rec->process.pid = bytes_u32(b);
		rec->process.tid = bytes_u32(b);
		break;
	case PD_RECORD_SWITCH:
		break;
	case PD_RECORD_NAMESPACES: {
		uint64_t n;

		rec->namespaces.pid = bytes_u32(b);
		rec->namespaces.tid = bytes_u32(b);
		n = rec->namespaces.n = bytes_u64(b);
		rec->namespaces.dev_inode = words_of(r, b, n > RECORD_MAX ? RECORD_MAX : 2 * n);
		break;
	}
	case PD_RECORD_KSYMBOL:
		rec->ksymbol.addr = bytes_u64(b);
		rec->ksymbol.len = bytes_u32(b);
		rec->ksymbol.type = bytes_u16(b);
		rec->ksymbol.flags = bytes_u16(b);
		rec->ksymbol.name = bytes_rest_string(b);
		break;
	case PD_RECORD_BPF_EVENT:
		rec->bpf.type = bytes_u16(b);
		rec->bpf.flags = bytes_u16(b);
		rec->bpf.id = bytes_u32(b);
		rec->bpf.tag = bytes_take(b, 8);
		break;
	case PD_RECORD_CGROUP:
		rec->cgroup.id = bytes_u64(b);
		rec->cgroup.path = bytes_rest_string(b);
		break;
	case PD_RECORD_TEXT_POKE:
		rec->text_poke.addr = bytes_u64(b);
		rec->text_poke.old_len = bytes_u16(b);
		rec->text_poke.new_len = bytes_u16(b);
		rec->text_poke.bytes = bytes_take(
			b, (uint64_t)rec->text_poke.old_len + rec->text_poke.new_len);
		break;
	case PD_RECORD_AUX_OUTPUT_HW_ID:
		rec->hw_id = bytes_u64(b);
		break;
	case PD_RECORD_CALLCHAIN_DEFERRED:
		rec->deferred.cookie = bytes_u64(b);
		rec->deferred.n = bytes_u64(b);
		rec->deferred.chain = words_of(r, b, rec->deferred.n);
		break;
	}
}

static void add_run(struct text *t, long first, long last)
{
	if (first >= 0 && first <= last)
		text_add(t, "%s%ld", t->len ? "," : "", first);
	if (first >= 0 && first < last)
		text_add(t, "-%ld", last);
}

/* "0-3,8" from any of the three forms; owned by the reader until the next record. */
static const char *cpu_map(struct perfdata *r, struct bytes *b)
{
	struct text t = { 0 };
	uint16_t type = bytes_u16(b), n;
	long first = -2, last = -2; /* the pending range of CPUs */
	uint16_t word_size = 0;
	const unsigned char *mask = NULL;
	uint64_t bits = 0;

	if (type == 2) { /* range */
		const unsigned char *any = bytes_take(b, 2);

		first = bytes_u16(b);
		last = bytes_u16(b);
		if (any && any[0])
			text_add(&t, "any");
		add_run(&t, first, last);
	} else if (type == 1) { /* mask, of 4-byte or of 8-byte words */
		n = bytes_u16(b);
		word_size = bytes_u16(b);
		if (word_size != 4 && word_size != 8)
			b->bad = true;
		else if (word_size == 8)
			/* padding: the words are at a multiple of 8 in their struct */
			bytes_take(b, 4);
		mask = b->bad ? NULL : bytes_array(b, n, word_size);
		bits = mask ? 8ull * n * word_size : 0;
	} else if (type == 0) { /* list */
		n = bytes_u16(b);
		mask = bytes_array(b, n, 2);
		bits = mask ? n : 0;
	} else {
		b->bad = true;
	}
	for (uint64_t i = 0; i < bits + 1 && mask; i++) {
		long cpu = -1; /* not in the set */

		if (i < bits && type == 0) {
			cpu = load16(mask + 2 * i, b->swap);
		} else if (i < bits) {
			const unsigned char *w = mask + i / (8u * word_size) * word_size;
			uint64_t v = word_size == 8 ? load64(w, b->swap) : load32(w, b->swap);

			cpu = v >> i % (8u * word_size) & 1 ? (long)i : -1;
		}
		if (cpu >= 0 && cpu == last + 1) {
			last = cpu;
			continue;
		}
		add_run(&t, first, last);
		first = last = cpu >= 0 ? cpu : -2;
	}
	free(r->text);
	r->text = text_take(&t);
	return r->text ? r->text : "";
}

static void update_body(struct perfdata *r, struct perfdata_record *rec, struct bytes *b)
{
	rec->event_update.type = bytes_u64(b);
	rec->event_update.id = bytes_u64(b);
	rec->event_update.text = NULL;
	rec->event_update.scale = 1;
	switch (rec->event_update.type) {
	case 0:
	case 2:
		rec->event_update.text = bytes_rest_string(b);
		break;
	case 1: {
		uint64_t v = bytes_u64(b);

		memcpy(&rec->event_update.scale, &v, sizeof(v));
		break;
	}
	case 3:
		rec->event_update.text = cpu_map(r, b);
		break;
	}
}

static void time_conv_body(struct perfdata_record *rec, struct bytes *b)
{
	const unsigned char *flags;

	rec->time_conv.shift = bytes_u64(b);
	rec->time_conv.mult = bytes_u64(b);
	rec->time_conv.zero = bytes_u64(b);
	rec->time_conv.cycles = rec->time_conv.mask = 0;
	rec->time_conv.user_time_zero = rec->time_conv.user_time_short = false;
	rec->time_conv.whole = !b->bad && bytes_left(b) >= 18;
	if (!rec->time_conv.whole)
		return;
	rec->time_conv.cycles = bytes_u64(b);
	rec->time_conv.mask = bytes_u64(b);
	flags = bytes_take(b, 2);
	rec->time_conv.user_time_zero = flags[0];
	rec->time_conv.user_time_short = flags[1];
}

static void auxtrace_body(struct perfdata *r, struct perfdata_record *rec, struct bytes *b)
{
	switch (rec->type) {
	case PD_RECORD_AUXTRACE_INFO:
		rec->auxtrace_info.type = bytes_u32(b);
		bytes_u32(b);
		rec->auxtrace_info.n = bytes_left(b) / 8;
		rec->auxtrace_info.priv = words_of(r, b, rec->auxtrace_info.n);
		break;
	case PD_RECORD_AUXTRACE:
		rec->auxtrace.size = bytes_u64(b);
		rec->auxtrace.offset = bytes_u64(b);
		rec->auxtrace.reference = bytes_u64(b);
		rec->auxtrace.index = bytes_u32(b);
		rec->auxtrace.tid = bytes_u32(b);
		rec->auxtrace.cpu = bytes_u32(b);
		break;
	case PD_RECORD_AUXTRACE_ERROR:
		rec->auxtrace_error.type = bytes_u32(b);
		rec->auxtrace_error.code = bytes_u32(b);
		rec->auxtrace_error.cpu = bytes_u32(b);
		rec->auxtrace_error.pid = bytes_u32(b);
		rec->auxtrace_error.tid = bytes_u32(b);
		rec->auxtrace_error.format = bytes_u32(b);
		rec->auxtrace_error.ip = bytes_u64(b);
		rec->auxtrace_error.time = rec->auxtrace_error.format ? bytes_u64(b) : 0;
		rec->auxtrace_error.message = bytes_rest_string(b);
		break;
	}
}

static void tool_body(struct perfdata *r, struct perfdata_record *rec, struct bytes *b)
{
	switch (rec->type) {
	case PD_RECORD_EVENT_TYPE:
		rec->event_type.id = bytes_u64(b);
		rec->event_type.name = bytes_rest_string(b);
		break;
	case PD_RECORD_BUILD_ID: {
		const unsigned char *id;

		rec->build_id.pid = (int32_t)bytes_u32(b);
		id = rec->build_id.id = bytes_take(b, 24);
		rec->build_id.id_size = 20;
		if (id && rec->misc & PD_MISC_BUILD_ID_SIZE && id[20] <= 20)
			rec->build_id.id_size = id[20];
		rec->build_id.file = bytes_rest_string(b);
		break;
	}
	case PD_RECORD_ID_INDEX: {
		uint64_t n = rec->id_index.n = bytes_u64(b);

		rec->id_index.words = words_of(r, b, n > RECORD_MAX ? RECORD_MAX : 4 * n);
		rec->id_index.guests = rec->id_index.words && n && bytes_left(b) >= 16 * n
			? words_of(r, b, 2 * n)
			: NULL;
		break;
	}
	case PD_RECORD_AUXTRACE_INFO:
	case PD_RECORD_AUXTRACE:
	case PD_RECORD_AUXTRACE_ERROR:
		auxtrace_body(r, rec, b);
		break;
	case PD_RECORD_THREAD_MAP:
		rec->thread_map.n = bytes_u64(b);
		rec->thread_map.rows = bytes_array(b, rec->thread_map.n, 24);
		break;
	case PD_RECORD_CPU_MAP:
		cpu_map(r, b);
		rec->cpu_map.cpus = r->text;
		break;
	case PD_RECORD_STAT_CONFIG: {
		uint64_t n = rec->stat_config.n = bytes_u64(b);

		rec->stat_config.words = words_of(r, b, n > RECORD_MAX ? RECORD_MAX : 2 * n);
		break;
	}
	case PD_RECORD_STAT:
		rec->stat.id = bytes_u64(b);
		rec->stat.cpu = bytes_u32(b);
		rec->stat.thread = bytes_u32(b);
		rec->stat.value = bytes_u64(b);
		rec->stat.enabled_ns = bytes_u64(b);
		rec->stat.running_ns = bytes_u64(b);
		break;
	case PD_RECORD_STAT_ROUND:
		rec->stat_round.type = bytes_u64(b);
		rec->stat_round.time = bytes_u64(b);
		break;
	case PD_RECORD_EVENT_UPDATE:
		update_body(r, rec, b);
		break;
	case PD_RECORD_TIME_CONV:
		time_conv_body(rec, b);
		break;
	case PD_RECORD_FEATURE:
		rec->feature.id = bytes_u64(b);
		rec->feature.n = bytes_left(b);
		rec->feature.bytes = bytes_take(b, bytes_left(b));
		break;
	case PD_RECORD_COMPRESSED:
		rec->compressed.n = bytes_left(b);
		rec->compressed.bytes = bytes_take(b, rec->compressed.n);
		break;
	case PD_RECORD_COMPRESSED2:
		rec->compressed.n = bytes_u64(b);
		rec->compressed.bytes = bytes_take(b, rec->compressed.n);
		break;
	case PD_RECORD_BPF_METADATA:
		rec->bpf_metadata.program = (const char *)bytes_take(b, 16);
		rec->bpf_metadata.n = bytes_u64(b);
		rec->bpf_metadata.rows = (const char *)bytes_array(b, rec->bpf_metadata.n,
								   64 + 256);
		break;
	}
}

/* The event of a record with a trailer, and the layout of the trailer. */
static const struct perfdata_attr *trailer_attr(struct perfdata *r, struct perfdata_record *rec)
{
	if (r->n_events == 0)
		return NULL;
	if (r->n_events == 1) {
		rec->event = r->events[0];
	} else if (r->id_tail > 0 && rec->size >= RECORD_HEADER + 8 * r->id_tail &&
		   r->events[0]->attr.flags & PD_ATTR_SAMPLE_ID_ALL) {
		uint64_t id = load64(rec->bytes + rec->size - 8 * r->id_tail, r->swap);

		rec->event = event_of(r, id);
	}
	/* Records made by perf itself have id 0 and the layout of the first event. */
	return rec->event ? &rec->event->attr : &r->events[0]->attr;
}

/* Removes the trailer from the end of b. */
static void trailer(struct perfdata *r, struct perfdata_record *rec, struct bytes *b)
{
	const struct perfdata_attr *attr = trailer_attr(r, rec);
	uint32_t type = attr ? (uint32_t)attr->sample_type & PD_SAMPLE_TRAILER : 0;
	unsigned n = 8 * (unsigned)__builtin_popcount(type);
	const unsigned char *p;

	if (!attr || !(attr->flags & PD_ATTR_SAMPLE_ID_ALL))
		return;
	if (bytes_left(b) < n) {
		b->bad = true;
		return;
	}
	b->end -= n;
	p = b->end;
	if (type & PD_SAMPLE_TID) {
		rec->pid = load32(p, b->swap);
		rec->tid = load32(p + 4, b->swap);
		p += 8;
	}
	if (type & PD_SAMPLE_TIME) {
		rec->time = load64(p, b->swap);
		p += 8;
	}
	if (type & PD_SAMPLE_ID) {
		rec->id = load64(p, b->swap);
		p += 8;
	}
	if (type & PD_SAMPLE_STREAM_ID) {
		rec->stream_id = load64(p, b->swap);
		p += 8;
	}
	if (type & PD_SAMPLE_CPU) {
		rec->cpu = load32(p, b->swap);
		p += 8;
	}
	if (type & PD_SAMPLE_IDENTIFIER)
		rec->id = load64(p, b->swap);
	rec->has = type;
}

void record_decode(struct perfdata *r, struct perfdata_record *rec)
{
	struct bytes b = { rec->bytes + RECORD_HEADER, rec->bytes + rec->size, r->swap, false };

	r->scratch_used = 0;
	rec->event = NULL;
	rec->bad = NULL;
	rec->has = 0;
	rec->pid = rec->tid = rec->cpu = 0;
	rec->time = rec->id = rec->stream_id = 0;
	if (rec->type == PD_RECORD_SAMPLE) {
		sample_decode(r, rec);
		return;
	}
	if (rec->type < PD_RECORD_USER) {
		trailer(r, rec, &b);
		if (!b.bad)
			kernel_body(r, rec, &b);
	} else {
		tool_body(r, rec, &b);
	}
	if (b.bad && !rec->bad)
		rec->bad = "its fields do not fit";
	if (rec->bad)
		rec->has = 0;
}

/* Only the time of a record: enough to sort it. */
bool record_time(struct perfdata *r, const struct perfdata_record *rec, uint64_t *time)
{
	struct perfdata_record copy;

	if (rec->type >= PD_RECORD_USER)
		return false;
	if (rec->type == PD_RECORD_SAMPLE && r->n_events && r->one_layout) {
		if (!r->time_at || rec->size < r->events[0]->least_sample)
			return false;
		*time = load64(rec->bytes + r->time_at, r->swap);
		return *time != 0 && *time != UINT64_MAX;
	}
	copy.type = rec->type;
	copy.misc = rec->misc;
	copy.size = rec->size;
	copy.bytes = rec->bytes;
	record_decode(r, &copy);
	*time = copy.time;
	return copy.has & PD_SAMPLE_TIME && copy.time != 0 && copy.time != UINT64_MAX;
}

struct perfdata_index_row perfdata_index_at(const struct perfdata_record *rec, uint64_t i)
{
	const uint64_t *w = rec->id_index.words + 4 * i;

	return (struct perfdata_index_row){ w[0], w[1], w[2], w[3] };
}

uint64_t perfdata_thread_at(const struct perfdata *r, const struct perfdata_record *rec, uint64_t i,
			    char comm[17])
{
	const unsigned char *row = rec->thread_map.rows + 24 * i;

	memcpy(comm, row + 8, 16);
	comm[16] = '\0';
	return load64(row, r->swap);
}

static const char *const type_names[PD_RECORD_KNOWN] = {
	[PD_RECORD_MMAP] = "MMAP",
	[PD_RECORD_LOST] = "LOST",
	[PD_RECORD_COMM] = "COMM",
	[PD_RECORD_EXIT] = "EXIT",
	[PD_RECORD_THROTTLE] = "THROTTLE",
	[PD_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PD_RECORD_FORK] = "FORK",
	[PD_RECORD_READ] = "READ",
	[PD_RECORD_SAMPLE] = "SAMPLE",
	[PD_RECORD_MMAP2] = "MMAP2",
	[PD_RECORD_AUX] = "AUX",
	[PD_RECORD_ITRACE_START] = "ITRACE_START",
	[PD_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PD_RECORD_SWITCH] = "SWITCH",
	[PD_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PD_RECORD_NAMESPACES] = "NAMESPACES",
	[PD_RECORD_KSYMBOL] = "KSYMBOL",
	[PD_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PD_RECORD_CGROUP] = "CGROUP",
	[PD_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PD_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[PD_RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	[PD_RECORD_ATTR] = "ATTR",
	[PD_RECORD_EVENT_TYPE] = "EVENT_TYPE",
	[PD_RECORD_TRACING_DATA] = "TRACING_DATA",
	[PD_RECORD_BUILD_ID] = "BUILD_ID",
	[PD_RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
	[PD_RECORD_ID_INDEX] = "ID_INDEX",
	[PD_RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[PD_RECORD_AUXTRACE] = "AUXTRACE",
	[PD_RECORD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[PD_RECORD_THREAD_MAP] = "THREAD_MAP",
	[PD_RECORD_CPU_MAP] = "CPU_MAP",
	[PD_RECORD_STAT_CONFIG] = "STAT_CONFIG",
	[PD_RECORD_STAT] = "STAT",
	[PD_RECORD_STAT_ROUND] = "STAT_ROUND",
	[PD_RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
	[PD_RECORD_TIME_CONV] = "TIME_CONV",
	[PD_RECORD_FEATURE] = "FEATURE",
	[PD_RECORD_COMPRESSED] = "COMPRESSED",
	[PD_RECORD_FINISHED_INIT] = "FINISHED_INIT",
	[PD_RECORD_COMPRESSED2] = "COMPRESSED2",
	[PD_RECORD_BPF_METADATA] = "BPF_METADATA",
};

const char *perfdata_type_name(uint32_t type)
{
	return type < PD_RECORD_KNOWN ? type_names[type] : NULL;
}

/* SPDX-License-Identifier: MIT */
/* Records as text: "@offset TYPE name=value ...", then one indented line for each row of a list. */
#include <inttypes.h>
#include <string.h>
#include "perfdata/perfdata_features.h"
#include "perfdata/tracing_fields.h"
#include "output/escape.h"
#include "perfdata/dump/perfdata_view.h"

enum kind { DEC, SIGNED, HEX, TIME, TEXT };

/* The fields of records that are simple values. */
struct field {
	uint16_t type;
	uint8_t kind, size;
	uint16_t at;
	const char *name;
};

#define FIELD(type, kind, member, name)                                                            \
	{                                                                                          \
		PD_RECORD_##type, kind, sizeof(((struct perfdata_record *)NULL)->member),          \
			offsetof(struct perfdata_record, member), name                             \
	}

static const struct field fields[] = {
	FIELD(MMAP, SIGNED, mmap.pid, "of_pid"),
	FIELD(MMAP, SIGNED, mmap.tid, "of_tid"),
	FIELD(MMAP, HEX, mmap.addr, "addr"),
	FIELD(MMAP, HEX, mmap.len, "len"),
	FIELD(MMAP, HEX, mmap.pgoff, "pgoff"),
	FIELD(MMAP, TEXT, mmap.file, "file"),
	FIELD(MMAP2, SIGNED, mmap.pid, "of_pid"),
	FIELD(MMAP2, SIGNED, mmap.tid, "of_tid"),
	FIELD(MMAP2, HEX, mmap.addr, "addr"),
	FIELD(MMAP2, HEX, mmap.len, "len"),
	FIELD(MMAP2, HEX, mmap.pgoff, "pgoff"),
	FIELD(MMAP2, HEX, mmap.prot, "prot"),
	FIELD(MMAP2, HEX, mmap.flags, "flags"),
	FIELD(MMAP2, TEXT, mmap.file, "file"),
	FIELD(LOST, DEC, lost.id, "of_id"),
	FIELD(LOST, DEC, lost.lost, "lost"),
	FIELD(LOST_SAMPLES, DEC, lost.lost, "lost"),
	FIELD(COMM, SIGNED, comm.pid, "of_pid"),
	FIELD(COMM, SIGNED, comm.tid, "of_tid"),
	FIELD(COMM, TEXT, comm.comm, "comm"),
	FIELD(EXIT, SIGNED, task.pid, "of_pid"),
	FIELD(EXIT, SIGNED, task.ppid, "ppid"),
	FIELD(EXIT, SIGNED, task.tid, "of_tid"),
	FIELD(EXIT, SIGNED, task.ptid, "ptid"),
	FIELD(EXIT, TIME, task.time, "at"),
	FIELD(FORK, SIGNED, task.pid, "of_pid"),
	FIELD(FORK, SIGNED, task.ppid, "ppid"),
	FIELD(FORK, SIGNED, task.tid, "of_tid"),
	FIELD(FORK, SIGNED, task.ptid, "ptid"),
	FIELD(FORK, TIME, task.time, "at"),
	FIELD(THROTTLE, TIME, throttle.time, "at"),
	FIELD(THROTTLE, DEC, throttle.id, "of_id"),
	FIELD(THROTTLE, DEC, throttle.stream_id, "of_stream"),
	FIELD(UNTHROTTLE, TIME, throttle.time, "at"),
	FIELD(UNTHROTTLE, DEC, throttle.id, "of_id"),
	FIELD(UNTHROTTLE, DEC, throttle.stream_id, "of_stream"),
	FIELD(READ, SIGNED, read.pid, "of_pid"),
	FIELD(READ, SIGNED, read.tid, "of_tid"),
	FIELD(AUX, HEX, aux.offset, "offset"),
	FIELD(AUX, HEX, aux.size, "bytes"),
	FIELD(AUX, HEX, aux.flags, "flags"),
	FIELD(ITRACE_START, SIGNED, process.pid, "of_pid"),
	FIELD(ITRACE_START, SIGNED, process.tid, "of_tid"),
	FIELD(SWITCH_CPU_WIDE, SIGNED, process.pid, "other_pid"),
	FIELD(SWITCH_CPU_WIDE, SIGNED, process.tid, "other_tid"),
	FIELD(NAMESPACES, SIGNED, namespaces.pid, "of_pid"),
	FIELD(NAMESPACES, SIGNED, namespaces.tid, "of_tid"),
	FIELD(KSYMBOL, HEX, ksymbol.addr, "addr"),
	FIELD(KSYMBOL, HEX, ksymbol.len, "len"),
	FIELD(KSYMBOL, DEC, ksymbol.type, "kind"),
	FIELD(KSYMBOL, HEX, ksymbol.flags, "flags"),
	FIELD(KSYMBOL, TEXT, ksymbol.name, "name"),
	FIELD(BPF_EVENT, DEC, bpf.type, "kind"),
	FIELD(BPF_EVENT, HEX, bpf.flags, "flags"),
	FIELD(BPF_EVENT, DEC, bpf.id, "program"),
	FIELD(CGROUP, DEC, cgroup.id, "cgroup"),
	FIELD(CGROUP, TEXT, cgroup.path, "path"),
	FIELD(TEXT_POKE, HEX, text_poke.addr, "addr"),
	FIELD(TEXT_POKE, DEC, text_poke.old_len, "old_len"),
	FIELD(TEXT_POKE, DEC, text_poke.new_len, "new_len"),
	FIELD(AUX_OUTPUT_HW_ID, HEX, hw_id, "hw_id"),
	FIELD(CALLCHAIN_DEFERRED, HEX, deferred.cookie, "cookie"),
	FIELD(EVENT_TYPE, HEX, event_type.id, "config"),
	FIELD(EVENT_TYPE, TEXT, event_type.name, "name"),
	FIELD(BUILD_ID, SIGNED, build_id.pid, "of_pid"),
	FIELD(BUILD_ID, TEXT, build_id.file, "file"),
	FIELD(AUXTRACE_INFO, DEC, auxtrace_info.type, "kind"),
	FIELD(AUXTRACE, HEX, auxtrace.size, "bytes"),
	FIELD(AUXTRACE, HEX, auxtrace.offset, "offset"),
	FIELD(AUXTRACE, HEX, auxtrace.reference, "reference"),
	FIELD(AUXTRACE, DEC, auxtrace.index, "index"),
	FIELD(AUXTRACE, SIGNED, auxtrace.tid, "of_tid"),
	FIELD(AUXTRACE, SIGNED, auxtrace.cpu, "of_cpu"),
	FIELD(AUXTRACE_ERROR, DEC, auxtrace_error.type, "kind"),
	FIELD(AUXTRACE_ERROR, DEC, auxtrace_error.code, "code"),
	FIELD(AUXTRACE_ERROR, SIGNED, auxtrace_error.cpu, "of_cpu"),
	FIELD(AUXTRACE_ERROR, SIGNED, auxtrace_error.pid, "of_pid"),
	FIELD(AUXTRACE_ERROR, SIGNED, auxtrace_error.tid, "of_tid"),
	FIELD(AUXTRACE_ERROR, HEX, auxtrace_error.ip, "ip"),
	FIELD(AUXTRACE_ERROR, TIME, auxtrace_error.time, "at"),
	FIELD(AUXTRACE_ERROR, TEXT, auxtrace_error.message, "message"),
	FIELD(CPU_MAP, TEXT, cpu_map.cpus, "cpus"),
	FIELD(STAT, DEC, stat.id, "of_id"),
	FIELD(STAT, SIGNED, stat.cpu, "of_cpu"),
	FIELD(STAT, SIGNED, stat.thread, "thread"),
	FIELD(STAT, DEC, stat.value, "value"),
	FIELD(STAT, DEC, stat.enabled_ns, "enabled_ns"),
	FIELD(STAT, DEC, stat.running_ns, "running_ns"),
	FIELD(STAT_ROUND, DEC, stat_round.type, "kind"),
	FIELD(STAT_ROUND, TIME, stat_round.time, "at"),
	FIELD(EVENT_UPDATE, DEC, event_update.id, "of_id"),
	FIELD(TIME_CONV, DEC, time_conv.shift, "shift"),
	FIELD(TIME_CONV, DEC, time_conv.mult, "mult"),
	FIELD(TIME_CONV, DEC, time_conv.zero, "zero"),
	FIELD(FEATURE, DEC, feature.id, "feature"),
	FIELD(FEATURE, DEC, feature.n, "bytes"),
	FIELD(COMPRESSED, DEC, compressed.n, "bytes"),
	FIELD(COMPRESSED2, DEC, compressed.n, "bytes"),
};

static void add_time(struct text *out, const char *name, uint64_t ns)
{
	text_add(out, " %s=%" PRIu64 ".%09" PRIu64, name, ns / 1000000000, ns % 1000000000);
}

static void add_field(struct text *out, const struct perfdata_record *rec, const struct field *f)
{
	const char *p = (const char *)rec + f->at;
	uint64_t v = 0;

	if (f->kind == TEXT) {
		const char *s = *(const char *const *)(const void *)p;

		text_add(out, " %s=", f->name);
		escape_quoted(out, s ? s : "");
		return;
	}
	switch (f->size) {
	case 2:
		v = *(const uint16_t *)(const void *)p;
		break;
	case 4:
		v = *(const uint32_t *)(const void *)p;
		break;
	case 8:
		v = *(const uint64_t *)(const void *)p;
		break;
	}
	if (f->kind == TIME)
		add_time(out, f->name, v);
	else if (f->kind == SIGNED)
		text_add(out, " %s=%" PRId32, f->name, (int32_t)v);
	else
		text_add(out, f->kind == HEX ? " %s=0x%" PRIx64 : " %s=%" PRIu64, f->name, v);
}

static const char digits[] = "0123456789abcdef";

static void add_hex(struct text *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_put(out, (char[]){ digits[bytes[i] >> 4], digits[bytes[i] & 15] }, 2);
}

void perfdata_view_bytes(struct text *out, const unsigned char *bytes, size_t n)
{
	for (size_t at = 0; at < n; at += 16) {
		size_t here = n - at < 16 ? n - at : 16;
		char line[3 * 16 + 2 + 16 + 1];

		memset(line, ' ', 3 * 16 + 2);
		for (size_t i = 0; i < here; i++) {
			unsigned char c = bytes[at + i];

			line[3 * i + 1] = digits[c >> 4];
			line[3 * i + 2] = digits[c & 15];
			line[3 * 16 + 2 + i] = (char)(c >= 0x20 && c < 0x7f ? c : '.');
		}
		line[3 * 16 + 2 + here] = '\n';
		text_add(out, "    %04zx ", at);
		text_put(out, line, 3 * 16 + 2 + here + 1);
	}
}

static void add_chain(struct text *out, const uint64_t *chain, uint64_t n)
{
	static const struct {
		int64_t mark;
		const char *name;
	} marks[] = { { -32, "hypervisor" },      { -128, "kernel" }, { -512, "user" },
		      { -640, "user, deferred" }, { -2048, "guest" }, { -2176, "guest kernel" },
		      { -2560, "guest user" } };

	for (uint64_t i = 0; i < n; i++) {
		const char *name = chain[i] >= PD_CONTEXT_MAX ? "unknown context" : NULL;

		for (size_t k = 0; name && k < ARRAY_SIZE(marks); k++)
			if ((int64_t)chain[i] == marks[k].mark)
				name = marks[k].name;
		text_add(out, "    chain 0x%016" PRIx64, chain[i]);
		if (name)
			text_add(out, " [%s]", name);
		text_add(out, "\n");
	}
}

static void add_branches(struct text *out, const struct perfdata_sample *s)
{
	static const char *const types[] = { NULL,     "cond",      "uncond",   "ind",
					     "call",   "ind_call",  "ret",      "syscall",
					     "sysret", "cond_call", "cond_ret", "eret",
					     "irq",    "serror",    "no_tx",    NULL };

	for (uint64_t i = 0; i < s->n_branches; i++) {
		const struct perfdata_branch *b = &s->branches[i];
		uint64_t f = b->flags;
		unsigned cycles = f >> 4 & 0xffff, type = f >> 20 & 15, spec = f >> 24 & 3;
		unsigned more = f >> 26 & 15, privilege = f >> 30 & 7;

		text_add(out, "    branch 0x%016" PRIx64 " 0x%016" PRIx64, b->from, b->to);
		text_add(out, "%s%s%s%s", f & 1 ? " mispredicted" : "", f & 2 ? " predicted" : "",
			 f & 4 ? " in_tx" : "", f & 8 ? " abort" : "");
		if (cycles)
			text_add(out, " cycles=%u", cycles);
		if (types[type])
			text_add(out, " %s", types[type]);
		if (type == 15)
			text_add(out, " new_type=%u", more);
		if (spec)
			text_add(out, " spec=%u", spec);
		if (privilege)
			text_add(out, " privilege=%u", privilege);
		if (s->branch_counters)
			text_add(out, " counters=0x%" PRIx64, s->branch_counters[i]);
		text_add(out, "\n");
	}
}

static void add_regs(struct text *out, const struct perfdata *r, const char *which,
		     const struct perfdata_regs *regs)
{
	static const char *const x86[] = {
		"ax", "bx", "cx", "dx", "si", "di", "bp",  "sp",  "ip",  "flags", "cs",  "ss",
		"ds", "es", "fs", "gs", "r8", "r9", "r10", "r11", "r12", "r13",   "r14", "r15"
	};
	const char *arch = perfdata_features(r)->arch;
	bool is_x86 = arch &&
		(!strncmp(arch, "x86", 3) ||
		 (strlen(arch) == 4 && arch[0] == 'i' && !strcmp(arch + 2, "86")));
	bool is_arm64 = arch && (!strcmp(arch, "aarch64") || !strcmp(arch, "arm64"));
	unsigned at = 0;

	text_add(out, "    regs_%s abi=%" PRIu64, which, regs->abi);
	for (unsigned bit = 0; bit < 64 && at < regs->n; bit++) {
		if (!(regs->mask >> bit & 1))
			continue;
		if (is_x86 && bit < ARRAY_SIZE(x86))
			text_add(out, " %s", x86[bit]);
		else if (is_arm64 && bit < 33)
			text_add(out, bit == 31 ? " sp" : bit == 32 ? " pc" : " x%u", bit);
		else
			text_add(out, " reg%u", bit);
		text_add(out, "=0x%" PRIx64, regs->reg[at++]);
	}
	text_add(out, "\n");
}

static void add_read(struct text *out, const struct perfdata *r, const struct perfdata_read *read)
{
	for (uint64_t i = 0; i < read->n; i++) {
		struct perfdata_value v = perfdata_read_at(read, i);
		const struct perfdata_event *ev = perfdata_event_of(r, v.id);

		text_add(out, "    value %" PRIu64, v.value);
		if (read->format & PD_READ_ID)
			text_add(out, " id=%" PRIu64, v.id);
		if (read->format & PD_READ_ID && ev) {
			text_add(out, " event=");
			escape_quoted(out, ev->name);
		}
		if (read->format & PD_READ_LOST)
			text_add(out, " lost=%" PRIu64, v.lost);
		if (i == 0 && read->format & PD_READ_ENABLED)
			text_add(out, " enabled_ns=%" PRIu64, read->enabled_ns);
		if (i == 0 && read->format & PD_READ_RUNNING)
			text_add(out, " running_ns=%" PRIu64, read->running_ns);
		text_add(out, "\n");
	}
}

/* perf_mem_data_src. Source: linux/perf_event.h, union perf_mem_data_src. */
static void add_data_src(struct text *out, uint64_t v)
{
	static const struct {
		unsigned char shift, width;
		const char *name;
		const char *bits[14]; /* one per bit, or one per value if `value` is set */
		bool value;
	} rows[] = {
		{ 0, 5, "op", { NULL, "load", "store", "prefetch", "exec" }, false },
		{ 5,
		  14,
		  "level",
		  { NULL, "hit", "miss", "L1", "LFB", "L2", "L3", "RAM", "remote RAM, 1 hop",
		    "remote RAM, 2 hops", "remote cache, 1 hop", "remote cache, 2 hops", "I/O",
		    "uncached" },
		  false },
		{ 19, 5, "snoop", { NULL, "none", "hit", "miss", "modified" }, false },
		{ 24, 2, "lock", { NULL, "locked" }, false },
		{ 26, 7, "tlb", { NULL, "hit", "miss", "L1", "L2", "walker", "OS fault" }, false },
		{ 38, 2, "snoop", { "forward", "peer" }, false },
		{ 40, 3, "blocked", { NULL, "data", "address" }, false },
	};
	static const char *const level[16] = { NULL,  "L1",  "L2",       "L3",  "L4",  "L2 MHB",
					       "MSC", "L0",  "uncached", "CXL", "I/O", "any cache",
					       "LFB", "RAM", "PMEM",     NULL };
	bool any = false;

	text_add(out, " data_src=0x%" PRIx64 " (", v);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *before = NULL;

		for (unsigned bit = 0; bit < rows[i].width; bit++) {
			if (!(v >> (rows[i].shift + bit) & 1) || !rows[i].bits[bit])
				continue;
			text_add(out, "%s%s%s%s", any && !before ? "; " : "",
				 before ? "+" : rows[i].name, before ? "" : " ", rows[i].bits[bit]);
			before = rows[i].name;
			any = true;
		}
	}
	if (level[v >> 33 & 15])
		text_add(out, "; at %s", level[v >> 33 & 15]);
	if (v >> 37 & 1)
		text_add(out, "; remote");
	if (v >> 43 & 7)
		text_add(out, "; hops %u", (unsigned)(v >> 43 & 7));
	text_add(out, ")");
}

static void sample_line(struct text *out, const struct perfdata_record *rec)
{
	const struct perfdata_sample *s = &rec->sample;
	uint32_t has = rec->has;
	const struct {
		uint32_t bit;
		const char *form;
		uint64_t v;
	} rows[] = {
		{ PD_SAMPLE_IP, " ip=0x%" PRIx64, s->ip },
		{ PD_SAMPLE_ADDR, " addr=0x%" PRIx64, s->addr },
		{ PD_SAMPLE_PERIOD, " period=%" PRIu64, s->period },
		{ PD_SAMPLE_TRANSACTION, " transaction=0x%" PRIx64, s->transaction },
		{ PD_SAMPLE_PHYS_ADDR, " phys_addr=0x%" PRIx64, s->phys_addr },
		{ PD_SAMPLE_CGROUP, " cgroup=%" PRIu64, s->cgroup },
		{ PD_SAMPLE_DATA_PAGE_SIZE, " data_page_size=%" PRIu64, s->data_page_size },
		{ PD_SAMPLE_CODE_PAGE_SIZE, " code_page_size=%" PRIu64, s->code_page_size },
		{ PD_SAMPLE_WEIGHT, " weight=%" PRIu64, s->weight },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (has & rows[i].bit) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			text_add(out, rows[i].form, rows[i].v);
#pragma GCC diagnostic pop
		}
	if (has & PD_SAMPLE_WEIGHT_STRUCT)
		text_add(out, " weight=%u,%u,%u", (unsigned)s->weight,
			 (unsigned)(s->weight >> 32 & 0xffff), (unsigned)(s->weight >> 48));
	if (has & PD_SAMPLE_DATA_SRC)
		add_data_src(out, s->data_src);
	if (has & PD_SAMPLE_CALLCHAIN)
		text_add(out, " chain=%" PRIu64, s->n_chain);
	if (has & PD_SAMPLE_BRANCH_STACK) {
		text_add(out, " branches=%" PRIu64, s->n_branches);
		if (s->has_hw_index)
			text_add(out, " hw_index=%" PRId64, (int64_t)s->branch_hw_index);
	}
	if (has & PD_SAMPLE_STACK_USER)
		text_add(out, " stack=%" PRIu64 " stack_valid=%" PRIu64, s->stack_size,
			 s->stack_dyn_size);
	if (has & PD_SAMPLE_RAW)
		text_add(out, " raw=%u", s->raw_size);
	if (has & PD_SAMPLE_AUX)
		text_add(out, " aux=%" PRIu64, s->aux_size);
}

/* "    sched:sched_switch prev_comm="sh" prev_pid=7 ...": the fields of its raw data. */
static void add_tracepoint(struct text *out, const struct perfdata *r,
			   const struct tracing_event *ev, const struct perfdata_sample *s)
{
	const bool swap = perfdata_file(r)->swapped;
	size_t left = tracing_room(s->raw_size);
	struct text value = { 0 };

	text_add(out, "    ");
	escape(out, ev->name, strlen(ev->name));
	for (size_t i = 0; i < ev->n; i++) {
		const struct tracing_field *f = &ev->field[i];
		bool quoted;

		value.len = 0;
		quoted = tracing_field_value(&value, f, s->raw, s->raw_size, swap, &left) ==
			TRACING_TEXT;
		text_add(out, " ");
		escape(out, f->name, strlen(f->name));
		text_add(out, quoted ? "=\"" : "=");
		escape(out, value.s ? value.s : "", value.len);
		text_add(out, quoted ? "\"" : "");
	}
	text_add(out, "\n");
	out->failed |= value.failed;
	text_free(&value);
}

static void sample_lists(struct text *out, const struct perfdata *r,
			 const struct perfdata_record *rec)
{
	const struct perfdata_sample *s = &rec->sample;
	const struct tracing_event *tracepoint = rec->has & PD_SAMPLE_RAW && rec->event
		? perfdata_tracepoint(r, rec->event)
		: NULL;

	if (tracepoint)
		add_tracepoint(out, r, tracepoint, s);
	if (rec->has & PD_SAMPLE_READ)
		add_read(out, r, &s->read);
	if (rec->has & PD_SAMPLE_CALLCHAIN)
		add_chain(out, s->chain, s->n_chain);
	if (rec->has & PD_SAMPLE_BRANCH_STACK)
		add_branches(out, s);
	if (rec->has & PD_SAMPLE_REGS_USER)
		add_regs(out, r, "user", &s->regs_user);
	if (rec->has & PD_SAMPLE_REGS_INTR)
		add_regs(out, r, "intr", &s->regs_intr);
	if (rec->has & PD_SAMPLE_RAW) {
		text_add(out, "    raw data:\n");
		perfdata_view_bytes(out, s->raw, s->raw_size);
	}
}

/* Parts of the record's line that are not simple fields. */
static void more_words(struct text *out, const struct perfdata_record *rec)
{
	switch (rec->type) {
	case PD_RECORD_MMAP:
		text_add(out, rec->misc & PD_MISC_13 ? " data" : " code");
		break;
	case PD_RECORD_MMAP2:
		if (rec->mmap.build_id) {
			text_add(out, " build_id=");
			add_hex(out, rec->mmap.build_id, rec->mmap.build_id_size);
		} else {
			text_add(out, " dev=%x:%x inode=%" PRIu64, rec->mmap.major, rec->mmap.minor,
				 rec->mmap.inode);
		}
		break;
	case PD_RECORD_SWITCH:
	case PD_RECORD_SWITCH_CPU_WIDE:
		text_add(out, rec->misc & PD_MISC_13 ? " out" : " in");
		if (rec->misc & PD_MISC_14)
			text_add(out, " preempted");
		break;
	case PD_RECORD_COMM:
	case PD_RECORD_FORK:
		if (rec->misc & PD_MISC_13)
			text_add(out, " exec");
		break;
	case PD_RECORD_BPF_EVENT:
		text_add(out, " tag=");
		add_hex(out, rec->bpf.tag, 8);
		break;
	case PD_RECORD_BUILD_ID:
		text_add(out, " build_id=");
		add_hex(out, rec->build_id.id, rec->build_id.id_size);
		break;
	case PD_RECORD_TEXT_POKE:
		text_add(out, " old=");
		add_hex(out, rec->text_poke.bytes, rec->text_poke.old_len);
		text_add(out, " new=");
		add_hex(out, rec->text_poke.bytes + rec->text_poke.old_len, rec->text_poke.new_len);
		break;
	case PD_RECORD_EVENT_UPDATE:
		if (rec->event_update.type == 1)
			text_add(out, " scale=%g", rec->event_update.scale);
		else if (rec->event_update.type < 4) {
			text_add(out,
				 rec->event_update.type == 0           ? " unit="
					 : rec->event_update.type == 2 ? " name="
								       : " cpus=");
			escape_quoted(out, rec->event_update.text);
		} else {
			text_add(out, " kind=%" PRIu64, rec->event_update.type);
		}
		break;
	case PD_RECORD_TIME_CONV:
		if (rec->time_conv.whole)
			text_add(out,
				 " cycles=%" PRIu64 " mask=0x%" PRIx64
				 " time_zero=%d time_short=%d",
				 rec->time_conv.cycles, rec->time_conv.mask,
				 rec->time_conv.user_time_zero, rec->time_conv.user_time_short);
		break;
	case PD_RECORD_FEATURE: {
		const char *name = rec->feature.id < PD_FEAT_BITS
			? perfdata_feature_name((unsigned)rec->feature.id)
			: NULL;

		text_add(out, " %s", name ? name : "unknown");
		break;
	}
	case PD_RECORD_ATTR:
		if (rec->attr) {
			text_add(out, " describes=");
			escape_quoted(out, rec->attr->name);
			text_add(out, " ids=%zu", rec->attr->n_ids);
		}
		break;
	}
}

static void lists(struct text *out, const struct perfdata *r, const struct perfdata_record *rec)
{
	static const char *const spaces[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	char comm[17];

	switch (rec->type) {
	case PD_RECORD_SAMPLE:
		sample_lists(out, r, rec);
		break;
	case PD_RECORD_READ:
		add_read(out, r, &rec->read.read);
		break;
	case PD_RECORD_CALLCHAIN_DEFERRED:
		add_chain(out, rec->deferred.chain, rec->deferred.n);
		break;
	case PD_RECORD_NAMESPACES:
		for (uint64_t i = 0; i < rec->namespaces.n; i++)
			text_add(out, "    namespace %s dev=0x%" PRIx64 " inode=%" PRIu64 "\n",
				 i < ARRAY_SIZE(spaces) ? spaces[i] : "unknown",
				 rec->namespaces.dev_inode[2 * i],
				 rec->namespaces.dev_inode[2 * i + 1]);
		break;
	case PD_RECORD_ID_INDEX:
		for (uint64_t i = 0; i < rec->id_index.n; i++) {
			struct perfdata_index_row row = perfdata_index_at(rec, i);

			text_add(out,
				 "    id %" PRIu64 " index=%" PRIu64 " cpu=%" PRId64
				 " tid=%" PRId64,
				 row.id, row.index, (int64_t)row.cpu, (int64_t)row.tid);
			if (rec->id_index.guests)
				text_add(out, " machine_pid=%" PRIu64 " vcpu=%" PRIu64,
					 rec->id_index.guests[2 * i],
					 rec->id_index.guests[2 * i + 1]);
			text_add(out, "\n");
		}
		break;
	case PD_RECORD_AUXTRACE_INFO:
		for (uint64_t i = 0; i < rec->auxtrace_info.n; i++)
			text_add(out, "    priv 0x%" PRIx64 "\n", rec->auxtrace_info.priv[i]);
		break;
	case PD_RECORD_THREAD_MAP:
		for (uint64_t i = 0; i < rec->thread_map.n; i++) {
			text_add(out, "    thread %" PRId64 " ",
				 (int64_t)perfdata_thread_at(r, rec, i, comm));
			escape_quoted(out, comm);
			text_add(out, "\n");
		}
		break;
	case PD_RECORD_STAT_CONFIG:
		for (uint64_t i = 0; i < rec->stat_config.n; i++)
			text_add(out, "    config %" PRIu64 "=%" PRIu64 "\n",
				 rec->stat_config.words[2 * i], rec->stat_config.words[2 * i + 1]);
		break;
	case PD_RECORD_BPF_METADATA:
		text_add(out, "    program \"");
		escape(out, rec->bpf_metadata.program, strnlen(rec->bpf_metadata.program, 16));
		text_add(out, "\"\n");
		for (uint64_t i = 0; i < rec->bpf_metadata.n; i++) {
			const char *row = rec->bpf_metadata.rows + 320 * i;

			text_add(out, "    \"");
			escape(out, row, strnlen(row, 64));
			text_add(out, "\"=\"");
			escape(out, row + 64, strnlen(row + 64, 256));
			text_add(out, "\"\n");
		}
		break;
	}
}

void perfdata_view_record(struct text *out, const struct perfdata *r,
			  const struct perfdata_record *rec)
{
	const char *name = perfdata_type_name(rec->type);

	text_add(out, "@0x%" PRIx64 " ", rec->offset);
	if (perfdata_file(r)->directory)
		text_add(out, rec->file ? "data.%u " : "data ", rec->file - 1);
	if (name)
		text_add(out, "%s", name);
	else
		text_add(out, "TYPE_%u", rec->type);
	text_add(out, " size=%u misc=0x%x%s", rec->size, rec->misc,
		 rec->inflated ? " inflated" : "");
	if (rec->event) {
		text_add(out, " event=");
		escape_quoted(out, rec->event->name);
	}
	if (rec->bad) {
		text_add(out, " undecodable: %s\n", rec->bad);
		return;
	}
	if (rec->has & PD_SAMPLE_TIME)
		add_time(out, "time", rec->time);
	if (rec->has & PD_SAMPLE_CPU)
		text_add(out, " cpu=%d", (int)rec->cpu);
	if (rec->has & PD_SAMPLE_TID)
		text_add(out, " pid=%d tid=%d", (int)rec->pid, (int)rec->tid);
	if (rec->has & (PD_SAMPLE_ID | PD_SAMPLE_IDENTIFIER))
		text_add(out, " id=%" PRIu64, rec->id);
	if (rec->has & PD_SAMPLE_STREAM_ID)
		text_add(out, " stream=%" PRIu64, rec->stream_id);
	if (rec->type == PD_RECORD_SAMPLE)
		sample_line(out, rec);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].type == rec->type)
			add_field(out, rec, &fields[i]);
	more_words(out, rec);
	if (rec->payload)
		text_add(out, " followed_by=%" PRIu64, rec->payload);
	text_add(out, "\n");
	lists(out, r, rec);
}

void perfdata_view_loss(struct text *out, const struct perfdata *r)
{
	const struct perfdata_loss *l = perfdata_loss(r);
	const struct {
		const char *name;
		uint64_t n;
		const char *what;
	} rows[] = {
		{ "lost", l->lost, "records dropped by the kernel: sum of LOST" },
		{ "lost samples", l->lost_samples,
		  "samples dropped by the kernel: sum of LOST_SAMPLES" },
		{ "throttled", l->throttled, "times the kernel throttled an event" },
		{ "incomplete AUX", l->truncated_aux, "blocks of AUX data with gaps" },
		{ "undecodable", l->undecodable, "records with fields that do not fit" },
		{ "unattributed", l->unattributed, "samples of an unknown event" },
		{ "disordered", l->disordered, "records too late for the order by time" },
		{ "unread", l->unread, "bytes after damage" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].n)
			text_add(out, "%-20s %" PRIu64 " %s\n", rows[i].name, rows[i].n,
				 rows[i].what);
}

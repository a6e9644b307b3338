/* SPDX-License-Identifier: MIT */
/* Every record but SAMPLE, written by the test and read back, in both byte orders. */
#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_maker.h"

static struct maker m;
static struct perfdata *r;
static struct perfdata_record rec;

static const struct perfdata_attr attr = {
	.size = 64,
	.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TRAILER,
	.flags = PD_ATTR_SAMPLE_ID_ALL,
};

static void start(bool big)
{
	m = (struct maker){ .big = big };
	put_magic(&m, 16);
	put_event(&m, &attr, 40);
}

/* Ends the record with a trailer, opens the file and goes to the record. */
static void finish(bool kernel)
{
	uint32_t type = 0;

	if (kernel) {
		put32(&m, 77), put32(&m, 78); /* TID */
		put64(&m, 5000000000);        /* TIME */
		put64(&m, 40);                /* ID */
		put64(&m, 41);                /* STREAM_ID */
		put32(&m, 3), put32(&m, 0);   /* CPU */
		put64(&m, 40);                /* IDENTIFIER */
	}
	end_record(&m);
	r = must_open(&m);
	CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
	CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
	type = rec.type;
	CHECK(!rec.bad, "type %u: %s", type, rec.bad);
	if (!kernel)
		return;
	CHECK_EQ(rec.has, PD_SAMPLE_TRAILER, "type %u", type);
	CHECK_EQ(rec.pid, 77, "type %u", type);
	CHECK_EQ(rec.tid, 78, "type %u", type);
	CHECK_EQ(rec.time, 5000000000, "type %u", type);
	CHECK_EQ(rec.id, 40, "type %u", type);
	CHECK_EQ(rec.stream_id, 41, "type %u", type);
	CHECK_EQ(rec.cpu, 3, "type %u", type);
	CHECK(rec.event == perfdata_event_at(r, 0), "type %u", type);
}

static void done(void)
{
	CHECK_EQ(perfdata_next(r, &rec, NULL), 0);
	perfdata_close(r);
}

static void mappings(bool big)
{
	start(big);
	begin_record(&m, PD_RECORD_MMAP, PD_MISC_13 | 2);
	put32(&m, 1), put32(&m, 2), put64(&m, 0x400000), put64(&m, 0x1000), put64(&m, 0x2000);
	put_name(&m, "/bin/a b");
	finish(true);
	CHECK_EQ(rec.misc, PD_MISC_13 | 2);
	CHECK_EQ(rec.mmap.pid, 1);
	CHECK_EQ(rec.mmap.tid, 2);
	CHECK_EQ(rec.mmap.addr, 0x400000);
	CHECK_EQ(rec.mmap.len, 0x1000);
	CHECK_EQ(rec.mmap.pgoff, 0x2000);
	CHECK_STR(rec.mmap.file, "/bin/a b");
	done();

	start(big);
	begin_record(&m, PD_RECORD_MMAP2, 2);
	put32(&m, 1), put32(&m, 2), put64(&m, 0x400000), put64(&m, 0x1000), put64(&m, 0x2000);
	put32(&m, 8), put32(&m, 1), put64(&m, 1234), put64(&m, 5), put32(&m, 7), put32(&m, 2);
	put_name(&m, "x");
	finish(true);
	CHECK_EQ(rec.mmap.major, 8);
	CHECK_EQ(rec.mmap.minor, 1);
	CHECK_EQ(rec.mmap.inode, 1234);
	CHECK_EQ(rec.mmap.inode_generation, 5);
	CHECK_EQ(rec.mmap.prot, 7);
	CHECK_EQ(rec.mmap.flags, 2);
	CHECK(!rec.mmap.build_id);
	CHECK_STR(rec.mmap.file, "x");
	done();

	start(big);
	begin_record(&m, PD_RECORD_MMAP2, 2 | PD_MISC_14);
	put32(&m, 1), put32(&m, 2), put64(&m, 0x400000), put64(&m, 0x1000), put64(&m, 0x2000);
	put_bytes(&m, "\x10\0\0\0abcdefghijklmnopqrst", 24), put32(&m, 5), put32(&m, 2);
	put_name(&m, "");
	finish(true);
	CHECK_EQ(rec.mmap.build_id_size, 16);
	CHECK(!memcmp(rec.mmap.build_id, "abcdefghijklmnop", 16));
	CHECK_EQ(rec.mmap.prot, 5);
	CHECK_STR(rec.mmap.file, "");
	done();
}

static void tasks(bool big)
{
	static const uint32_t types[] = { PD_RECORD_FORK, PD_RECORD_EXIT };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		start(big);
		begin_record(&m, types[i], 0);
		put32(&m, 1), put32(&m, 2), put32(&m, 3), put32(&m, 4), put64(&m, 99);
		finish(true);
		CHECK_EQ(rec.task.pid, 1);
		CHECK_EQ(rec.task.ppid, 2);
		CHECK_EQ(rec.task.tid, 3);
		CHECK_EQ(rec.task.ptid, 4);
		CHECK_EQ(rec.task.time, 99);
		done();
	}
	start(big);
	begin_record(&m, PD_RECORD_COMM, PD_MISC_13);
	put32(&m, 1), put32(&m, 2);
	put_name(&m, "sh");
	finish(true);
	CHECK_EQ(rec.comm.pid, 1);
	CHECK_EQ(rec.comm.tid, 2);
	CHECK_STR(rec.comm.comm, "sh");
	done();

	start(big);
	begin_record(&m, PD_RECORD_NAMESPACES, 0);
	put32(&m, 1), put32(&m, 2), put64(&m, 2), put64(&m, 3), put64(&m, 4), put64(&m, 5),
		put64(&m, 6);
	finish(true);
	CHECK_EQ(rec.namespaces.tid, 2);
	CHECK_EQ(rec.namespaces.n, 2);
	CHECK_EQ(rec.namespaces.dev_inode[3], 6);
	done();

	start(big);
	begin_record(&m, PD_RECORD_SWITCH, PD_MISC_13);
	finish(true);
	done();

	start(big);
	begin_record(&m, PD_RECORD_SWITCH_CPU_WIDE, 0);
	put32(&m, 1), put32(&m, 2);
	finish(true);
	CHECK_EQ(rec.process.pid, 1);
	CHECK_EQ(rec.process.tid, 2);
	done();
}

static void losses(bool big)
{
	static const uint32_t types[] = { PD_RECORD_THROTTLE, PD_RECORD_UNTHROTTLE };

	start(big);
	begin_record(&m, PD_RECORD_LOST, 0);
	put64(&m, 40), put64(&m, 17);
	finish(true);
	CHECK_EQ(rec.lost.id, 40);
	CHECK_EQ(rec.lost.lost, 17);
	CHECK_EQ(perfdata_loss(r)->lost, 17);
	CHECK_EQ(perfdata_loss(r)->lost_samples, 0);
	done();

	start(big);
	begin_record(&m, PD_RECORD_LOST_SAMPLES, 0);
	put64(&m, 18);
	finish(true);
	CHECK_EQ(rec.lost.lost, 18);
	CHECK_EQ(perfdata_loss(r)->lost, 0);
	CHECK_EQ(perfdata_loss(r)->lost_samples, 18);
	done();

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		start(big);
		begin_record(&m, types[i], 0);
		put64(&m, 99), put64(&m, 40), put64(&m, 41);
		finish(true);
		CHECK_EQ(rec.throttle.time, 99);
		CHECK_EQ(rec.throttle.id, 40);
		CHECK_EQ(rec.throttle.stream_id, 41);
		CHECK_EQ(perfdata_loss(r)->throttled, types[i] == PD_RECORD_THROTTLE);
		done();
	}
}

static void kernel_texts(bool big)
{
	start(big);
	begin_record(&m, PD_RECORD_KSYMBOL, 0);
	put64(&m, 0xffffffffc0000000), put32(&m, 64), put16(&m, 1), put16(&m, 2);
	put_name(&m, "bpf_prog_1");
	finish(true);
	CHECK_EQ(rec.ksymbol.addr, 0xffffffffc0000000);
	CHECK_EQ(rec.ksymbol.len, 64);
	CHECK_EQ(rec.ksymbol.type, 1);
	CHECK_EQ(rec.ksymbol.flags, 2);
	CHECK_STR(rec.ksymbol.name, "bpf_prog_1");
	done();

	start(big);
	begin_record(&m, PD_RECORD_BPF_EVENT, 0);
	put16(&m, 1), put16(&m, 2), put32(&m, 3), put_bytes(&m, "tagbytes", 8);
	finish(true);
	CHECK_EQ(rec.bpf.type, 1);
	CHECK_EQ(rec.bpf.flags, 2);
	CHECK_EQ(rec.bpf.id, 3);
	CHECK(!memcmp(rec.bpf.tag, "tagbytes", 8));
	done();

	start(big);
	begin_record(&m, PD_RECORD_CGROUP, 0);
	put64(&m, 12);
	put_name(&m, "/system.slice");
	finish(true);
	CHECK_EQ(rec.cgroup.id, 12);
	CHECK_STR(rec.cgroup.path, "/system.slice");
	done();

	start(big);
	begin_record(&m, PD_RECORD_TEXT_POKE, 0);
	put64(&m, 0xffffffff81000000), put16(&m, 2), put16(&m, 3),
		put_bytes(&m, "ABcde\0\0\0\0\0\0", 12);
	finish(true);
	CHECK_EQ(rec.text_poke.old_len, 2);
	CHECK_EQ(rec.text_poke.new_len, 3);
	CHECK(!memcmp(rec.text_poke.bytes, "ABcde", 5));
	done();

	start(big);
	begin_record(&m, PD_RECORD_CALLCHAIN_DEFERRED, 0);
	put64(&m, 0xc00c1e), put64(&m, 2), put64(&m, 0x1000), put64(&m, 0x2000);
	finish(true);
	CHECK_EQ(rec.deferred.cookie, 0xc00c1e);
	CHECK_EQ(rec.deferred.n, 2);
	CHECK_EQ(rec.deferred.chain[1], 0x2000);
	done();
}

static void aux(bool big)
{
	static const struct {
		uint64_t flags, truncated;
	} rows[] = { { 0, 0 }, { 1, 1 }, { 2, 0 }, { 4, 1 }, { 8, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		start(big);
		begin_record(&m, PD_RECORD_AUX, 0);
		put64(&m, 0x100), put64(&m, 0x200), put64(&m, rows[i].flags);
		finish(true);
		CHECK_EQ(rec.aux.offset, 0x100);
		CHECK_EQ(rec.aux.size, 0x200);
		CHECK_EQ(rec.aux.flags, rows[i].flags);
		CHECK_EQ(perfdata_loss(r)->truncated_aux, rows[i].truncated, "flags %zu", i);
		done();
	}
	start(big);
	begin_record(&m, PD_RECORD_ITRACE_START, 0);
	put32(&m, 1), put32(&m, 2);
	finish(true);
	CHECK_EQ(rec.process.tid, 2);
	done();

	start(big);
	begin_record(&m, PD_RECORD_AUX_OUTPUT_HW_ID, 0);
	put64(&m, 0x1234);
	finish(true);
	CHECK_EQ(rec.hw_id, 0x1234);
	done();

	start(big);
	begin_record(&m, PD_RECORD_AUXTRACE_INFO, 0);
	put32(&m, 4), put32(&m, 0), put64(&m, 11), put64(&m, 12);
	finish(false);
	CHECK_EQ(rec.auxtrace_info.type, 4);
	CHECK_EQ(rec.auxtrace_info.n, 2);
	CHECK_EQ(rec.auxtrace_info.priv[1], 12);
	done();

	start(big);
	begin_record(&m, PD_RECORD_AUXTRACE_ERROR, 0);
	put32(&m, 1), put32(&m, 2), put32(&m, 3), put32(&m, 4), put32(&m, 5), put32(&m, 1);
	put64(&m, 0x1000), put64(&m, 99);
	put_name(&m, "overflow");
	finish(false);
	CHECK_EQ(rec.auxtrace_error.code, 2);
	CHECK_EQ(rec.auxtrace_error.tid, 5);
	CHECK_EQ(rec.auxtrace_error.ip, 0x1000);
	CHECK_EQ(rec.auxtrace_error.time, 99);
	CHECK_STR(rec.auxtrace_error.message, "overflow");
	done();

	start(big);
	begin_record(&m, PD_RECORD_AUXTRACE_ERROR, 0);
	put32(&m, 1), put32(&m, 2), put32(&m, 3), put32(&m, 4), put32(&m, 5), put32(&m, 0);
	put64(&m, 0x1000);
	put_name(&m, "old form");
	finish(false);
	CHECK_STR(rec.auxtrace_error.message, "old form");
	done();
}

TEST(kernel_records)
{
	for (int big = 0; big < 2; big++) {
		mappings(big);
		tasks(big);
		losses(big);
		kernel_texts(big);
		aux(big);
	}
}

TEST(counter_values)
{
	for (int big = 0; big < 2; big++) {
		struct perfdata_attr a = attr;

		a.read_format = PD_READ_ENABLED | PD_READ_RUNNING | PD_READ_ID;
		m = (struct maker){ .big = big };
		put_magic(&m, 16);
		put_event(&m, &a, 40);
		begin_record(&m, PD_RECORD_READ, 0);
		put32(&m, 1), put32(&m, 2), put64(&m, 1000), put64(&m, 20), put64(&m, 10),
			put64(&m, 40);
		finish(true);
		CHECK_EQ(rec.read.pid, 1);
		CHECK_EQ(rec.read.tid, 2);
		CHECK_EQ(rec.read.read.enabled_ns, 20);
		CHECK_EQ(rec.read.read.running_ns, 10);
		CHECK_EQ(perfdata_read_at(&rec.read.read, 0).value, 1000);
		CHECK_EQ(perfdata_read_at(&rec.read.read, 0).id, 40);
		done();
	}
}

static void maps(bool big)
{
	static const struct {
		int line;
		uint16_t type, n, words[8];
		const char *cpus;
	} rows[] = {
		{ __LINE__, 0, 6, { 5, 0, 1, 2, 3, 8 }, "0-3,8" }, /* the first word is the count */
		{ __LINE__, 0, 2, { 1, 0 }, "0" },
		{ __LINE__, 0, 4, { 3, 4, 2, 3 }, "4,2-3" },
		{ __LINE__, 0, 1, { 0 }, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		start(big);
		begin_record(&m, PD_RECORD_CPU_MAP, 0);
		put16(&m, rows[i].type);
		for (size_t k = 0; k < rows[i].n; k++)
			put16(&m, rows[i].words[k]);
		finish(false);
		CHECK_STR(rec.cpu_map.cpus, rows[i].cpus, "row at line %d", rows[i].line);
		done();
	}
	start(big);
	begin_record(&m, PD_RECORD_CPU_MAP, 0);
	put16(&m, 1), put16(&m, 2), put16(&m, 8), put32(&m, 0);
	put64(&m, 0x8000000000000007), put64(&m, 1);
	finish(false);
	CHECK_STR(rec.cpu_map.cpus, "0-2,63-64");
	done();

	start(big);
	begin_record(&m, PD_RECORD_CPU_MAP, 0);
	put16(&m, 1), put16(&m, 2), put16(&m, 4), put32(&m, 0x80000000), put32(&m, 3);
	finish(false);
	CHECK_STR(rec.cpu_map.cpus, "31-33");
	done();

	start(big);
	begin_record(&m, PD_RECORD_CPU_MAP, 0);
	put16(&m, 2), put_bytes(&m, "\0\0", 2), put16(&m, 3), put16(&m, 9);
	finish(false);
	CHECK_STR(rec.cpu_map.cpus, "3-9");
	done();

	start(big);
	begin_record(&m, PD_RECORD_THREAD_MAP, 0);
	put64(&m, 2);
	put64(&m, 10), put_bytes(&m, "first\0\0\0\0\0\0\0\0\0\0", 16);
	put64(&m, 11), put_bytes(&m, "sixteen letters!", 16);
	finish(false);

	char comm[17];

	CHECK_EQ(rec.thread_map.n, 2);
	CHECK_EQ(perfdata_thread_at(r, &rec, 0, comm), 10);
	CHECK_STR(comm, "first");
	CHECK_EQ(perfdata_thread_at(r, &rec, 1, comm), 11);
	CHECK_STR(comm, "sixteen letters!");
	done();
}

static void updates(bool big)
{
	double half = 0.5;
	uint64_t bits;

	memcpy(&bits, &half, 8);
	start(big);
	begin_record(&m, PD_RECORD_EVENT_UPDATE, 0);
	put64(&m, 0), put64(&m, 40);
	put_name(&m, "Joules");
	end_record(&m);
	begin_record(&m, PD_RECORD_EVENT_UPDATE, 0);
	put64(&m, 1), put64(&m, 40), put64(&m, bits);
	end_record(&m);
	begin_record(&m, PD_RECORD_EVENT_UPDATE, 0);
	put64(&m, 2), put64(&m, 40);
	put_name(&m, "power/energy-pkg/");
	end_record(&m);
	begin_record(&m, PD_RECORD_EVENT_UPDATE, 0);
	put64(&m, 3), put64(&m, 40), put16(&m, 0), put16(&m, 2), put16(&m, 0), put16(&m, 4);
	end_record(&m);
	begin_record(&m, PD_RECORD_EVENT_UPDATE, 0);
	put64(&m, 2), put64(&m, 666); /* without an event */
	put_name(&m, "other");
	finish(false);
	while (perfdata_next(r, &rec, NULL) == 1)
		CHECK(!rec.bad);

	const struct perfdata_event *ev = perfdata_event_at(r, 0);

	CHECK_STR(ev->unit, "Joules");
	CHECK(ev->scale == 0.5);
	CHECK_STR(ev->name, "power/energy-pkg/");
	CHECK(ev->named);
	CHECK_STR(ev->cpus, "0,4");
	perfdata_close(r);
}

static void stat_records(bool big)
{
	start(big);
	begin_record(&m, PD_RECORD_STAT, 0);
	put64(&m, 40), put32(&m, 1), put32(&m, 2), put64(&m, 100), put64(&m, 20), put64(&m, 10);
	finish(false);
	CHECK_EQ(rec.stat.id, 40);
	CHECK_EQ(rec.stat.cpu, 1);
	CHECK_EQ(rec.stat.thread, 2);
	CHECK_EQ(rec.stat.value, 100);
	CHECK_EQ(rec.stat.enabled_ns, 20);
	CHECK_EQ(rec.stat.running_ns, 10);
	done();

	start(big);
	begin_record(&m, PD_RECORD_STAT_ROUND, 0);
	put64(&m, 1), put64(&m, 99);
	finish(false);
	CHECK_EQ(rec.stat_round.type, 1);
	CHECK_EQ(rec.stat_round.time, 99);
	done();

	start(big);
	begin_record(&m, PD_RECORD_STAT_CONFIG, 0);
	put64(&m, 1), put64(&m, 2), put64(&m, 3);
	finish(false);
	CHECK_EQ(rec.stat_config.n, 1);
	CHECK_EQ(rec.stat_config.words[1], 3);
	done();
}

static void others(bool big)
{
	start(big);
	begin_record(&m, PD_RECORD_ID_INDEX, 0);
	put64(&m, 2);
	for (uint64_t i = 0; i < 8; i++)
		put64(&m, 100 + i);
	for (uint64_t i = 0; i < 4; i++)
		put64(&m, 200 + i);
	finish(false);
	CHECK_EQ(rec.id_index.n, 2);
	CHECK_EQ(perfdata_index_at(&rec, 1).id, 104);
	CHECK_EQ(perfdata_index_at(&rec, 1).tid, 107);
	CHECK(rec.id_index.guests && rec.id_index.guests[3] == 203);
	done();

	start(big);
	begin_record(&m, PD_RECORD_TIME_CONV, 0);
	put64(&m, 1), put64(&m, 2), put64(&m, 3);
	finish(false);
	CHECK_EQ(rec.time_conv.zero, 3);
	CHECK(!rec.time_conv.whole);
	done();

	start(big);
	begin_record(&m, PD_RECORD_TIME_CONV, 0);
	put64(&m, 1), put64(&m, 2), put64(&m, 3), put64(&m, 4), put64(&m, 5);
	put_bytes(&m, "\1\0\0\0\0\0\0", 8);
	finish(false);
	CHECK_EQ(rec.time_conv.cycles, 4);
	CHECK_EQ(rec.time_conv.mask, 5);
	CHECK(rec.time_conv.whole && rec.time_conv.user_time_zero &&
	      !rec.time_conv.user_time_short);
	done();

	start(big);
	begin_record(&m, PD_RECORD_BUILD_ID, PD_MISC_BUILD_ID_SIZE);
	put32(&m, (uint32_t)-1), put_bytes(&m, "abcdefghijklmnopqrst\x8\0\0\0", 24);
	put_name(&m, "/lib/x.so");
	finish(false);
	CHECK_EQ(rec.build_id.pid, -1);
	CHECK_EQ(rec.build_id.id_size, 8);
	CHECK(!memcmp(rec.build_id.id, "abcdefgh", 8));
	CHECK_STR(rec.build_id.file, "/lib/x.so");
	done();

	start(big);
	begin_record(&m, PD_RECORD_EVENT_TYPE, 0);
	put64(&m, 7);
	put_name(&m, "cycles");
	finish(false);
	CHECK_EQ(rec.event_type.id, 7);
	CHECK_STR(rec.event_type.name, "cycles");
	done();

	char row[320] = "key";

	memcpy(row + 64, "value", 6);
	start(big);
	begin_record(&m, PD_RECORD_BPF_METADATA, 0);
	put_bytes(&m, "program\0\0\0\0\0\0\0\0", 16), put64(&m, 1), put_bytes(&m, row, sizeof(row));
	finish(false);
	CHECK_STR(rec.bpf_metadata.program, "program");
	CHECK_EQ(rec.bpf_metadata.n, 1);
	CHECK_STR(rec.bpf_metadata.rows + 64, "value");
	done();

	start(big);
	begin_record(&m, 4711, 0); /* a record of unknown type is skipped */
	put64(&m, 1);
	finish(false);
	CHECK_EQ(rec.type, 4711);
	CHECK(perfdata_type_name(4711) == NULL);
	done();
}

TEST(tool_records)
{
	for (int big = 0; big < 2; big++) {
		maps(big);
		updates(big);
		stat_records(big);
		others(big);
	}
}

/* Lists longer than the record, and strings without a NUL. */
TEST(records_that_do_not_fit)
{
	static const struct {
		int line;
		uint32_t type;
		uint16_t words; /* of u64 1s after the header */
		uint64_t first; /* but this is the first */
	} rows[] = {
		{ __LINE__, PD_RECORD_MMAP, 3, 0 },
		{ __LINE__, PD_RECORD_COMM, 6, 0 }, /* the trailer takes all of them */
		{ __LINE__, PD_RECORD_LOST, 7, 0 },
		{ __LINE__, PD_RECORD_NAMESPACES, 8, 0 },
		{ __LINE__, PD_RECORD_TEXT_POKE, 8, 0 },
		{ __LINE__, PD_RECORD_CALLCHAIN_DEFERRED, 8, 0 },
		{ __LINE__, PD_RECORD_ID_INDEX, 4, UINT64_MAX / 4 },
		{ __LINE__, PD_RECORD_ID_INDEX, 4, 1 },
		{ __LINE__, PD_RECORD_THREAD_MAP, 3, 1ull << 61 },
		{ __LINE__, PD_RECORD_STAT_CONFIG, 3, 1ull << 63 },
		{ __LINE__, PD_RECORD_BPF_METADATA, 3, 1 },
		{ __LINE__, PD_RECORD_CPU_MAP, 1, 0xffff0000 },
		{ __LINE__, PD_RECORD_CPU_MAP, 1, 0x0008ffff0001 },
		{ __LINE__, PD_RECORD_CPU_MAP, 1, 0x000300010001 }, /* words of 3 bytes */
		{ __LINE__, PD_RECORD_CPU_MAP, 1, 9 },
		{ __LINE__, PD_RECORD_BUILD_ID, 3, 0 },
		{ __LINE__, PD_RECORD_AUXTRACE, 4, 0 },
		{ __LINE__, PD_RECORD_FEATURE, 0, 0 },
		{ __LINE__, PD_RECORD_TIME_CONV, 2, 0 },
		{ __LINE__, PD_RECORD_STAT, 4, 0 },
		{ __LINE__, PD_RECORD_READ, 6, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		start(false);
		begin_record(&m, rows[i].type, 0);
		for (int k = 0; k < rows[i].words; k++)
			put64(&m, k || !rows[i].first ? 0x0101010101010101 : rows[i].first);
		end_record(&m);
		begin_record(&m, PD_RECORD_FINISHED_INIT, 0);
		end_record(&m);
		r = must_open(&m);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1, "row at line %d", rows[i].line);
		CHECK(rec.bad != NULL, "row at line %d", rows[i].line);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1, "row at line %d", rows[i].line);
		CHECK_EQ(rec.type, PD_RECORD_FINISHED_INIT);
		perfdata_close(r);
	}
}

/* Several events: by IDENTIFIER, by ID, by neither. */
static void put_ip_sample(uint64_t type, uint64_t id)
{
	begin_record(&m, PD_RECORD_SAMPLE, 0);
	if (type & PD_SAMPLE_IDENTIFIER)
		put64(&m, id);
	put64(&m, 0x1000);
	if (type & PD_SAMPLE_TIME)
		put64(&m, 5);
	if (type & PD_SAMPLE_ID)
		put64(&m, id);
	end_record(&m);
}

TEST(whose_sample)
{
	static const struct {
		int line;
		uint64_t first, second; /* sample_type */
		uint64_t id;
		int event; /* -1: none */
		bool bad;
	} rows[] = {
		{ __LINE__, PD_SAMPLE_IP | PD_SAMPLE_IDENTIFIER,
		  PD_SAMPLE_IP | PD_SAMPLE_IDENTIFIER, 41, 1, false },
		{ __LINE__, PD_SAMPLE_IP | PD_SAMPLE_IDENTIFIER,
		  PD_SAMPLE_IP | PD_SAMPLE_IDENTIFIER, 40, 0, false },
		/* different fields, distinguished by the identifier */
		{ __LINE__, PD_SAMPLE_IP | PD_SAMPLE_IDENTIFIER,
		  PD_SAMPLE_IP | PD_SAMPLE_IDENTIFIER | PD_SAMPLE_TIME, 41, 1, false },
		{ __LINE__, PD_SAMPLE_IP | PD_SAMPLE_ID, PD_SAMPLE_IP | PD_SAMPLE_ID, 41, 1,
		  false },
		/* the id is in different positions: ambiguous */
		{ __LINE__, PD_SAMPLE_IP | PD_SAMPLE_ID,
		  PD_SAMPLE_IP | PD_SAMPLE_TIME | PD_SAMPLE_ID, 41, -1, true },
		/* no id, but one layout: the fields are valid, the event is not known */
		{ __LINE__, PD_SAMPLE_IP, PD_SAMPLE_IP, 41, -1, false },
		{ __LINE__, PD_SAMPLE_IP, PD_SAMPLE_IP | PD_SAMPLE_TIME, 41, -1, true },
		/* an id without an event */
		{ __LINE__, PD_SAMPLE_IP | PD_SAMPLE_ID, PD_SAMPLE_IP | PD_SAMPLE_ID, 99, -1,
		  false },
		{ __LINE__, PD_SAMPLE_IP | PD_SAMPLE_IDENTIFIER,
		  PD_SAMPLE_IP | PD_SAMPLE_IDENTIFIER | PD_SAMPLE_TIME, 99, -1, true },
	};

	for (int big = 0; big < 2; big++)
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct perfdata_attr a = { .size = 64, .sample_type = rows[i].first };

			m = (struct maker){ .big = big };
			put_magic(&m, 16);
			put_event(&m, &a, 40);
			a.sample_type = rows[i].second;
			a.config = 1;
			put_event(&m, &a, 41);
			put_ip_sample(rows[i].event == 1 ? rows[i].second : rows[i].first,
				      rows[i].id);
			r = must_open(&m);
			perfdata_next(r, &rec, NULL);
			perfdata_next(r, &rec, NULL);
			CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
			CHECK_EQ(rec.bad != NULL, rows[i].bad, "row at line %d: %s", rows[i].line,
				 rec.bad);
			CHECK_EQ(rec.event ? (int)rec.event->index : -1, rows[i].event,
				 "row at line %d", rows[i].line);
			if (!rec.bad)
				CHECK_EQ(rec.sample.ip, 0x1000, "row at line %d", rows[i].line);
			CHECK_EQ(perfdata_loss(r)->unattributed, rows[i].event < 0 && !rows[i].bad,
				 "row at line %d", rows[i].line);
			CHECK_EQ(perfdata_loss(r)->undecodable, rows[i].bad, "row at line %d",
				 rows[i].line);
			done();
		}
}

TEST(newer_than_the_reader)
{
	static const struct {
		int line;
		struct perfdata_attr attr;
	} rows[] = {
		{ __LINE__, { .sample_type = 1 | 1ull << 40 } },
		{ __LINE__, { .sample_type = PD_SAMPLE_READ, .read_format = 1 << 9 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		m = (struct maker){ 0 };
		put_magic(&m, 16);
		put_event(&m, &rows[i].attr, 40);
		begin_record(&m, PD_RECORD_SAMPLE, 0);
		put64(&m, 1);
		end_record(&m);
		r = must_open(&m);
		perfdata_next(r, &rec, NULL);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		CHECK(rec.bad && (strstr(rec.bad, "unknown")), "row at line %d: %s", rows[i].line,
		      rec.bad);
		done();
	}
}

TEST_MAIN()

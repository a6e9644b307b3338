/* SPDX-License-Identifier: MIT */
/*
 * AUX data from area to file: an area in ordinary memory is filled as hardware does, read as a
 * session does, and written. The file is then checked with our reader and, if installed, with perf.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "perfdata/perfdata.h"
#include "perfdata/perfdata_features.h"
#include "sample/perfdata_write.h"
#include "tare/access.h"
#include "tap.h"

enum { AREA = 4096, RECORD = 42, RECORDS = 400, SPE_TYPE = 9, LATENCY = 30 };

static char dir[] = "/tmp/tare-aux-XXXXXX";
static char path[64];

static struct encoding tracker = { .name = "dummy:u" },
		       spe = { .name = "arm_spe_0/ts_enable=1/", .pmu = "arm_spe_0" };
static uint64_t tracker_ids[] = { 11 }, spe_ids[] = { 21 };
static struct sampled events[2];

/* ---- hardware output ---- */

static uint64_t pc_of(unsigned i)
{
	return 0x401000 + 4 * (i % 16);
}

static uint64_t address_of(unsigned i)
{
	return 0x7fff0000 + 64ull * i;
}

static size_t packet(unsigned char *out, unsigned char head, uint64_t value, size_t n)
{
	out[0] = head;
	memcpy(out + 1, &value, n);
	return n + 1;
}

/*
 * A load or a store. Source: Arm ARM DDI 0487, "The Statistical Profiling Extension": sample
 * records.
 */
static void record_of(unsigned i, unsigned char out[RECORD])
{
	size_t n = packet(out, 0xb0, pc_of(i) | 1ull << 63, 8); /* PC, non-secure, EL0 */

	n += packet(out + n, 0x65, 1000 + i % 3, 4); /* context */
	n += packet(out + n, 0x49, i % 2, 1);        /* load or store of a general register */
	n += packet(out + n, 0x52, 0x16, 2);         /* retired, L1D access, TLB access */
	n += packet(out + n, 0x98, LATENCY + i % 7, 2);
	n += packet(out + n, 0xb2, address_of(i), 8);
	n += packet(out + n, 0x43, 0, 1); /* data source */
	n += packet(out + n, 0x71, 5000 + i, 8);
	if (n != RECORD)
		abort();
}

static unsigned char stream[RECORDS * RECORD];

/* ---- from area to file ---- */

struct made {
	struct tare_error err;
	struct perfdata_writer *w;
	struct sample_sink *sink;
	struct sample_outcome outcome;
};

static int to_sink(void *with, const struct aux_piece *p, struct tare_error *err)
{
	struct sample_sink *sink = with;

	return sink->aux(sink, p, err);
}

/* perf's readers need a mapping's time, so one record with a trailer comes first. */
static void put_switch(struct made *m, uint32_t tid, uint64_t time, uint32_t cpu, bool out)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, res;
		uint64_t id;
	} rec = { { PERF_RECORD_SWITCH, out ? PERF_RECORD_MISC_SWITCH_OUT : 0, sizeof(rec) },
		  1000,
		  tid,
		  time,
		  cpu,
		  0,
		  tracker_ids[0] };

	CHECK_EQ(m->sink->records(m->sink, (unsigned char *)&rec, sizeof(rec), &m->err), 0, "%s",
		 m->err.what);
}

static void prepare(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.size = sizeof(attr),
					.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						PERF_SAMPLE_CPU,
					.sample_period = 4096,
					.sample_id_all = 1,
					.exclude_kernel = 1,
					.context_switch = 1 };

	if (!path[0]) {
		if (!mkdtemp(dir))
			abort();
		snprintf(path, sizeof(path), "%s/perf.data", dir);
		for (unsigned i = 0; i < RECORDS; i++)
			record_of(i, stream + i * RECORD);
	}
	events[0] = (struct sampled){ &tracker, attr, 0, tracker_ids, 1, false };
	attr.type = SPE_TYPE;
	attr.config = 1;
	attr.context_switch = 0;
	events[1] = (struct sampled){ &spe, attr, 1, spe_ids, 1, true };
}

static void begin_writer(struct made *m, int compress, const char *to)
{
	const struct perfdata_write_options o = { .path = to, .compress = compress, .clockid = -1 };
	const struct sample_aux about = {
		.pmu_type = SPE_TYPE,
		.per_cpu = true,
		.has_clock = true,
		.clock = { .shift = 1, .mult = 4, .zero = 100, .mask = UINT64_MAX }
	};

	*m = (struct made){ .err = TARE_ERROR_INIT, .outcome = { 0 } };
	if (!CHECK(perfdata_writer_open(&m->w, &o, &m->err) == 0, "%s", m->err.what))
		_exit(TAP_FAILED);
	m->sink = perfdata_writer_sink(m->w);
	CHECK_EQ(m->sink->begin(m->sink, events, 2, &m->err), 0, "%s", m->err.what);
	CHECK_EQ(m->sink->about_aux(m->sink, &about, &m->err), 0, "%s", m->err.what);
}

/*
 * Pieces of every size: some wrap around the end, some are not a multiple of 8, some split a
 * record.
 */
static unsigned fill(struct made *m, size_t n)
{
	static struct perf_event_mmap_page page;
	static unsigned char area[AREA];
	struct aux_ring ring = { &page, area, AREA };
	const struct aux_piece whose = { .index = 1, .tid = -1, .cpu = 2 };
	unsigned pieces = 0;
	size_t step = 1;

	page.aux_head = page.aux_tail = 0;
	for (size_t at = 0; at < n; pieces++) {
		size_t some = n - at < step ? n - at : step;

		for (size_t i = 0; i < some; i++)
			area[(at + i) % AREA] = stream[at + i];
		at += some;
		page.aux_head = at;
		put_switch(m, 1000 + pieces, 100 + pieces, 2, false);
		CHECK_EQ(aux_ring_read(&ring, &whose, to_sink, m->sink, &m->err), (int)some, "%s",
			 m->err.what);
		CHECK_EQ(m->sink->round(m->sink, &m->err), 0, "%s", m->err.what);
		step = step * 3 % AREA + 1;
	}
	return pieces;
}

static void finish(struct made *m)
{
	CHECK_EQ(perfdata_writer_finish(m->w, &m->outcome, &m->err), 0, "%s", m->err.what);
	perfdata_writer_close(m->w);
}

static void clean(void)
{
	char old[80];

	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
	unlink(path);
	rmdir(dir);
}

/* ---- contents of the file ---- */

static void check_stream(const char *from, unsigned pieces, bool indexed)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r = perfdata_open(from, NULL, &err);
	struct perfdata_record rec;
	unsigned char bytes[AREA + 8];
	unsigned seen = 0, switches = 0, clocks = 0;
	uint64_t at = 0;
	size_t step = 1, some;
	int ret;

	if (!CHECK(r != NULL, "%s", err.what))
		_exit(TAP_FAILED);
	while ((ret = perfdata_next(r, &rec, &err)) == 1) {
		switches += rec.type == PD_RECORD_SWITCH;
		if (rec.type == PD_RECORD_TIME_CONV)
			clocks += rec.time_conv.shift == 1 && rec.time_conv.mult == 4 &&
				rec.time_conv.zero == 100;
		if (rec.type == PD_RECORD_AUXTRACE_INFO)
			CHECK(clocks == 1 && rec.auxtrace_info.type == 4 &&
				      rec.auxtrace_info.n == 2 &&
				      rec.auxtrace_info.priv[0] == SPE_TYPE &&
				      rec.auxtrace_info.priv[1] == 1,
			      "its kind, after its time conversion");
		if (rec.type != PD_RECORD_AUXTRACE)
			continue;
		ssize_t n = perfdata_payload(r, bytes, sizeof(bytes), &err);

		CHECK(n == (ssize_t)rec.auxtrace.size && rec.auxtrace.offset == at &&
			      rec.auxtrace.index == 1 && rec.auxtrace.tid == UINT32_MAX &&
			      rec.auxtrace.cpu == 2,
		      "piece %u", seen);
		if (indexed && CHECK(seen < perfdata_features(r)->n_auxtrace))
			CHECK_EQ(perfdata_features(r)->auxtrace[seen].offset, rec.offset);
		some = RECORDS * RECORD - at < step ? RECORDS * RECORD - at : step;
		CHECK_EQ(rec.auxtrace.size, (some + 7) / 8 * 8);
		CHECK(!memcmp(bytes, stream + at, some), "piece %u", seen);
		for (size_t i = some; i < rec.auxtrace.size; i++)
			CHECK_EQ(bytes[i], 0, "then SPE's own padding");
		at += some;
		step = step * 3 % AREA + 1;
		seen++;
	}
	CHECK_EQ(ret, 0, "%s", err.what);
	CHECK_EQ(seen, pieces);
	CHECK_EQ(switches, pieces);
	CHECK_EQ(clocks, 1);
	if (indexed)
		CHECK_EQ(perfdata_features(r)->n_auxtrace, pieces);
	CHECK(!perfdata_note(r, 0), "%s", perfdata_note(r, 0));
	perfdata_close(r);
}

TEST(every_byte_of_the_area_is_in_the_file_once)
{
	for (int compress = 0; compress < 2; compress++) {
		struct made m;
		unsigned pieces;

		prepare();
		if (compress) {
			const struct perfdata_write_options o = { .path = path, .compress = 1 };

			if (perfdata_writer_open(&m.w, &o, &m.err) == -ENOSYS)
				tap_skip("zstd", "this build has no zstd");
			perfdata_writer_close(m.w);
		}
		begin_writer(&m, compress, path);
		pieces = fill(&m, RECORDS * RECORD);
		CHECK(pieces > 5);
		finish(&m);
		check_stream(path, pieces, true);
	}
	clean();
}

/* The file of a killed writer has no index; its data is read. */
TEST(without_its_end_and_through_a_pipe)
{
	struct made m;
	unsigned pieces;
	char fifo[80];
	pid_t child;
	int status;

	prepare();
	begin_writer(&m, 0, path);
	pieces = fill(&m, RECORDS * RECORD);
	perfdata_writer_close(m.w);
	check_stream(path, pieces, false);

	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	child = fork();
	if (child == 0) {
		if (open(fifo, O_WRONLY) <
		    /*
		     * waits for the reader: otherwise the written data would be lost with its
		     * writer
		     */
		    0)
			_exit(2);
		begin_writer(&m, 0, fifo);
		fill(&m, RECORDS * RECORD);
		finish(&m);
		_exit(tap_failures ? 1 : 0);
	}
	check_stream(fifo, pieces, false);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	unlink(fifo);
	clean();
}

/* Whole records in each piece, each with its own time, place and latency. */
static void write_whole(struct made *m)
{
	prepare();
	begin_writer(m, 0, path);
	for (unsigned i = 0; i < RECORDS; i += 50) {
		const struct aux_piece p = { .part = { { stream + i * RECORD, 20 * RECORD + 3 },
						       { stream + (i + 20) * RECORD + 3,
							 30 * RECORD - 3 } },
					     .offset = i * RECORD,
					     .reference = i + 1,
					     .tid = -1,
					     .cpu = 0 };

		put_switch(m, 1000, 100 + i, 2, false);
		CHECK_EQ(m->sink->aux(m->sink, &p, &m->err), 0, "%s", m->err.what);
		CHECK_EQ(m->sink->round(m->sink, &m->err), 0, "%s", m->err.what);
	}
	finish(m);
}

TEST(its_accesses_are_those_that_the_hardware_wrote)
{
	struct tare_accesses *a;
	struct tare_access x;
	struct made m;
	unsigned i = 0;
	int ret;

	write_whole(&m);
	a = tare_accesses_open(path, &m.err);
	if (!CHECK(a != NULL, "%s", m.err.what))
		_exit(TAP_FAILED);
	while ((ret = tare_accesses_next(a, &x, &m.err)) == 1) {
		bool same = x.ip == pc_of(i) && x.address == address_of(i) &&
			x.kind == (i % 2 ? TARE_ACCESS_STORE : TARE_ACCESS_LOAD) &&
			x.time_ns == 100 + (uint64_t)(5000 + i) / 2 * 4 + (i % 2) * 4 / 2 &&
			x.tid == 1000 + i % 3;

		if (!CHECK(same, "access %u", i))
			break;
		i++;
	}
	CHECK_EQ(ret, 0, "%s", m.err.what);
	CHECK_EQ(i, RECORDS);
	CHECK_EQ(tare_accesses_loss(a)->damaged, 0);
	tare_accesses_close(a);
	clean();
}

/*
 * If all threads of a CPU wrote to one area, the context switches show the thread of each record;
 * before the first switch, the context packet does.
 */
TEST(whose_they_are_the_switches_tell)
{
	/* The first one ran from the start; two switches are missing before the last one. */
	static const struct {
		unsigned at; /* the access that follows it */
		uint32_t tid;
		bool out;
	} rows[] = { { 50, 7, true },
		     { 60, 8, false },
		     { 110, 8, true },
		     { 120, 9, false },
		     { 300, 6, true } };
	const struct aux_piece p = {
		.part = { { stream, sizeof(stream) } }, .reference = 1, .tid = -1, .cpu = 0
	};
	struct tare_accesses *a;
	struct tare_access x;
	struct made m;
	unsigned i;

	prepare();
	begin_writer(&m, 0, path);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		put_switch(&m, rows[i].tid, 100 + (5000 + rows[i].at) / 2 * 4, 0, rows[i].out);
	CHECK_EQ(m.sink->aux(m.sink, &p, &m.err), 0);
	CHECK_EQ(m.sink->round(m.sink, &m.err), 0);
	finish(&m);
	a = tare_accesses_open(path, &m.err);
	if (!CHECK(a != NULL, "%s", m.err.what))
		_exit(TAP_FAILED);
	for (i = 0; tare_accesses_next(a, &x, &m.err) == 1; i++) {
		uint32_t context = 1000 + i % 3,
			 tid = i < 50        ? 7
			: i >= 60 && i < 110 ? 8
					     : context;

		if (!CHECK(x.has & TARE_ACCESS_TASK && x.tid == tid, "access %u: %u, not %u", i,
			   x.tid, tid))
			break;
	}
	CHECK_EQ(i, RECORDS);
	tare_accesses_close(a);
	clean();
}

/* ---- perf ---- */

/* Lines of perf's output that have the words. */
static unsigned lines(const char *command, const char *words)
{
	char line[4096], all[256];
	unsigned n = 0;
	FILE *f;

	snprintf(all, sizeof(all), "%s -i %s 2>/dev/null", command, path);
	f = popen(all, "r");
	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, words) != NULL;
	if (f)
		pclose(f);
	return n;
}

TEST(perf_reads_it)
{
	static const struct {
		const char *command, *words;
		unsigned n;
	} rows[] = {
		{ "perf report -D", "PERF_RECORD_AUXTRACE_INFO type: 4", 1 },
		{ "perf report -D",
		  "PERF_RECORD_AUXTRACE size: 0x838  offset: 0  ref: 0x1  idx: 0  tid: -1  cpu: 0",
		  1 },
		{ "perf report -D", "Time Muliplier  4", 1 },
		{ "perf report -D", "PC 0x401000 el0 ns=1", RECORDS / 16 },
		{ "perf report -D", "LAT 31 TOT", 57 },
		{ "perf report -D", "VA 0x", RECORDS },
		{ "perf script --itrace=M -F ip,addr", "7fff", RECORDS },
		{ "perf report --stdio --itrace=M", "Samples: 400  of event 'memory'", 1 },
	};
	struct made m;

	if (system("perf --version >/dev/null 2>&1"))
		tap_skip("perf", "no perf here");
	write_whole(&m);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(lines(rows[i].command, rows[i].words), rows[i].n, "%s: %s",
			 rows[i].command, rows[i].words);
	clean();
}

TEST_MAIN()

/* SPDX-License-Identifier: MIT */
/* The head, the features, payloads, pipes and directories, and every way in which they can be
 * damaged. */
#include <sys/resource.h>
#include <sys/stat.h>
#include "record/perfdata_features.h"
#include "record/perfdata_maker.h"

static struct maker m;
static struct perfdata_record rec;

static const struct perfdata_attr plain = {
	.size = 64,
	.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TIME | PD_SAMPLE_IDENTIFIER,
};

enum { AT_ATTR_SIZE = 16, AT_ATTRS = 24, AT_DATA = 40, AT_FEATURES = 72, AT_END = 104 };

static void put_time_sample(uint64_t id, uint64_t time)
{
	begin_record(&m, PD_RECORD_SAMPLE, 2);
	put64(&m, id), put64(&m, 0x1000), put64(&m, time);
	end_record(&m);
}

/* A file of the file layout with two events of two ids each; features come after end_data(). */
static size_t data_at;

static void begin_file(bool big, int version, size_t head, size_t attr_size)
{
	struct perfdata_attr a = plain;
	size_t ids;

	m = (struct maker){ .big = big };
	put_bytes(&m, version == 2 ? big ? "2ELIFREP" : "PERFILE2" : "PERFFILE", 8);
	put64(&m, head);
	while (m.n < head)
		put64(&m, 0);
	ids = m.n;
	for (uint64_t id = 40; id < 44; id++)
		put64(&m, id);
	patch(&m, AT_ATTR_SIZE, attr_size + 16, 8);
	patch(&m, AT_ATTRS, m.n, 8);
	patch(&m, AT_ATTRS + 8, 2 * (attr_size + 16), 8);
	for (int i = 0; i < 2; i++) {
		a.size = (uint32_t)attr_size;
		a.config = (uint64_t)i;
		put_attr(&m, &a, attr_size);
		put64(&m, ids + 16 * (size_t)i), put64(&m, 16);
	}
	data_at = m.n;
	patch(&m, AT_DATA, m.n, 8);
}

static void end_data(void)
{
	patch(&m, AT_DATA + 8, m.n - data_at, 8);
}

static int count(struct perfdata *r, struct tare_error *err, int *n)
{
	int ret;

	for (*n = 0; (ret = perfdata_next(r, &rec, err)) == 1; ++*n)
		CHECK(!rec.bad, "%s", rec.bad);
	return ret;
}

TEST(file_layout)
{
	static const struct {
		int line, version;
		size_t head, attr_size;
	} rows[] = {
		{ __LINE__, 2, 104, 64 },  { __LINE__, 2, 104, 72 },  { __LINE__, 2, 104, 112 },
		{ __LINE__, 2, 104, 136 }, { __LINE__, 2, 104, 200 }, { __LINE__, 1, 104, 72 },
		{ __LINE__, 2, 72, 64 },
	};

	for (int big = 0; big < 2; big++)
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct perfdata *r;
			int n;

			begin_file(big, rows[i].version, rows[i].head, rows[i].attr_size);
			put_time_sample(41, 5);
			put_time_sample(42, 6);
			end_data();
			r = must_open(&m);
			CHECK_EQ(perfdata_file(r)->version, rows[i].version, "row at line %d",
				 rows[i].line);
			CHECK_EQ(perfdata_file(r)->swapped, big, "row at line %d", rows[i].line);
			CHECK(!perfdata_file(r)->pipe && !perfdata_file(r)->unfinished);
			CHECK_EQ(perfdata_file(r)->attr_size, rows[i].attr_size + 16);
			CHECK_EQ(perfdata_event_count(r), 2);
			CHECK_EQ(perfdata_event_at(r, 1)->attr.config, 1);
			CHECK_EQ(perfdata_event_at(r, 1)->n_ids, 2);
			CHECK_EQ(perfdata_event_at(r, 1)->ids[1], 43);
			CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
			CHECK_EQ(rec.offset, data_at);
			CHECK(rec.event == perfdata_event_at(r, 0), "row at line %d", rows[i].line);
			CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
			CHECK_EQ(rec.offset, data_at + 32);
			CHECK(rec.event == perfdata_event_at(r, 1), "row at line %d", rows[i].line);
			CHECK_EQ(count(r, NULL, &n), 0);
			CHECK_EQ(n, 0);
			CHECK(perfdata_note(r, 0) == NULL, "%s", perfdata_note(r, 0));
			perfdata_close(r);
		}
}

/* The sections of features, written behind the data; then their table is filled. */
struct made_feature {
	unsigned bit;
	void (*put)(void);
};

static void put_hostname(void)
{
	put_string(&m, "host");
}
static void put_cpus(void)
{
	put32(&m, 3), put32(&m, 2);
}
static void put_mem(void)
{
	put64(&m, 4096);
}
static void put_clockid(void)
{
	put64(&m, 25);
}
static void put_times(void)
{
	put64(&m, 100), put64(&m, 200);
}
static void put_dir(void)
{
	put64(&m, 1);
}
static void put_zstd(void)
{
	put32(&m, 1), put32(&m, 1), put32(&m, 5), put32(&m, 3), put32(&m, 4096);
}
static void put_clock(void)
{
	put32(&m, 1), put32(&m, 4), put64(&m, 1000), put64(&m, 7);
}
static void put_nothing(void)
{
}

static void put_cmdline(void)
{
	put32(&m, 2), put_string(&m, "perf"), put_string(&m, "record");
}

static void put_build_ids(void)
{
	begin_record(&m, 0, 1);
	put32(&m, (uint32_t)-1), put_bytes(&m, "abcdefghijklmnopqrst\0\0\0", 24);
	put_name(&m, "[kernel.kallsyms]"), end_record(&m);
	begin_record(&m, 0, 2 | PD_MISC_BUILD_ID_SIZE);
	put32(&m, 7), put_bytes(&m, "abcdefghijklmnopqrst\x10\0\0", 24);
	put_name(&m, "/bin/x"), end_record(&m);
}

static void put_event_desc(void)
{
	struct perfdata_attr a = plain;

	put32(&m, 2), put32(&m, 64);
	put_attr(&m, &a, 64), put32(&m, 2), put_string(&m, "first"), put64(&m, 40), put64(&m, 41);
	a.config = 1;
	put_attr(&m, &a, 64), put32(&m, 0), put_string(&m, "second");
}

static void put_topology(void)
{
	put32(&m, 1), put_string(&m, "0-2"), put32(&m, 2), put_string(&m, "0"),
	    put_string(&m, "1-2");
	for (uint32_t i = 0; i < 3; i++)
		put32(&m, i), put32(&m, 10 + i);
	put32(&m, 1), put_string(&m, "0-2");
	for (uint32_t i = 0; i < 3; i++)
		put32(&m, 20 + i);
}

static void put_numa(void)
{
	put32(&m, 1), put32(&m, 4), put64(&m, 100), put64(&m, 50), put_string(&m, "0-2");
}

static void put_pmus(void)
{
	put32(&m, 2), put32(&m, 4), put_string(&m, "cpu"), put32(&m, 10), put_string(&m, "ibs_op");
}

static void put_groups(void)
{
	put32(&m, 1), put_string(&m, "g"), put32(&m, 0), put32(&m, 2);
}

static void put_auxtrace(void)
{
	put64(&m, 1), put64(&m, 0x100), put64(&m, 0x30);
}

static void put_caches(void)
{
	put32(&m, 1), put32(&m, 1), put32(&m, 2), put32(&m, 64), put32(&m, 512), put32(&m, 8);
	put_string(&m, "Unified"), put_string(&m, "256K"), put_string(&m, "0");
}

static void put_memory(void)
{
	put64(&m, 1), put64(&m, 1 << 27), put64(&m, 1), put64(&m, 0), put64(&m, 65), put64(&m, 65);
	put64(&m, 0xff), put64(&m, 1);
}

static void put_caps(void)
{
	put32(&m, 1), put_string(&m, "branches"), put_string(&m, "32");
}

static void put_hybrid(void)
{
	put32(&m, 2), put_string(&m, "cpu_core"), put_string(&m, "0-1");
	put_string(&m, "cpu_atom"), put_string(&m, "2");
}

static void put_pmu_caps(void)
{
	put32(&m, 2);
	put32(&m, 1), put_string(&m, "branches"), put_string(&m, "32"), put_string(&m, "cpu_core");
	put32(&m, 0), put_string(&m, "cpu_atom");
}

static void put_bpf(void)
{
	put32(&m, 1), put64(&m, 0);
}

static void put_meta(void)
{
	put_bytes(&m, "product\0pixel\0empty\0\0", 20 + 1);
}

static const struct made_feature all_features[] = {
	{ PD_FEAT_TRACING_DATA, put_mem },
	{ PD_FEAT_BUILD_ID, put_build_ids },
	{ PD_FEAT_HOSTNAME, put_hostname },
	{ PD_FEAT_OS_RELEASE, put_hostname },
	{ PD_FEAT_VERSION, put_hostname },
	{ PD_FEAT_ARCH, put_hostname },
	{ PD_FEAT_NR_CPUS, put_cpus },
	{ PD_FEAT_CPU_DESC, put_hostname },
	{ PD_FEAT_CPUID, put_hostname },
	{ PD_FEAT_TOTAL_MEM, put_mem },
	{ PD_FEAT_CMDLINE, put_cmdline },
	{ PD_FEAT_EVENT_DESC, put_event_desc },
	{ PD_FEAT_CPU_TOPOLOGY, put_topology },
	{ PD_FEAT_NUMA_TOPOLOGY, put_numa },
	{ PD_FEAT_BRANCH_STACK, put_nothing },
	{ PD_FEAT_PMU_MAPPINGS, put_pmus },
	{ PD_FEAT_GROUP_DESC, put_groups },
	{ PD_FEAT_AUXTRACE, put_auxtrace },
	{ PD_FEAT_STAT, put_nothing },
	{ PD_FEAT_CACHE, put_caches },
	{ PD_FEAT_SAMPLE_TIME, put_times },
	{ PD_FEAT_MEM_TOPOLOGY, put_memory },
	{ PD_FEAT_CLOCKID, put_clockid },
	{ PD_FEAT_DIR_FORMAT, put_dir },
	{ PD_FEAT_BPF_PROG_INFO, put_bpf },
	{ PD_FEAT_BPF_BTF, put_bpf },
	{ PD_FEAT_COMPRESSED, put_zstd },
	{ PD_FEAT_CPU_PMU_CAPS, put_caps },
	{ PD_FEAT_CLOCK_DATA, put_clock },
	{ PD_FEAT_HYBRID_TOPOLOGY, put_hybrid },
	{ PD_FEAT_PMU_CAPS, put_pmu_caps },
	{ PD_FEAT_CPU_DOMAIN_INFO, put_mem },
	{ 77, put_mem },
	{ PD_FEAT_SIMPLEPERF_FILE, put_mem },
	{ PD_FEAT_SIMPLEPERF_META_INFO, put_meta },
	{ 255, put_nothing },
};

/* Cut the section of `cut` to `keep` bytes; 0 cuts none. */
static void put_features(const struct made_feature *list, size_t n, unsigned cut, size_t keep)
{
	size_t table = m.n;
	uint64_t bits[4] = { 0 };

	for (size_t i = 0; i < n; i++) {
		put64(&m, 0), put64(&m, 0);
		bits[list[i].bit / 64] |= 1ull << list[i].bit % 64;
	}
	for (size_t i = 0; i < n; i++) {
		size_t start = m.n;

		list[i].put();
		if (list[i].bit == cut && keep < m.n - start)
			m.n = start + keep;
		patch(&m, table + 16 * i, start, 8);
		patch(&m, table + 16 * i + 8, m.n - start, 8);
	}
	for (int i = 0; i < 4; i++)
		patch(&m, AT_FEATURES + 8 * (size_t)i, bits[i], 8);
}

static void check_features(const struct perfdata *r)
{
	const struct perfdata_features *f = perfdata_features(r);

	CHECK_STR(f->hostname, "host");
	CHECK_STR(f->os_release, "host");
	CHECK_STR(f->version, "host");
	CHECK_STR(f->arch, "host");
	CHECK_STR(f->cpu_desc, "host");
	CHECK_STR(f->cpuid, "host");
	CHECK_EQ(f->cpus_available, 3);
	CHECK_EQ(f->cpus_online, 2);
	CHECK_EQ(f->total_mem_kb, 4096);
	CHECK_EQ(f->cmdline.n, 2);
	CHECK_STR(f->cmdline.s[1], "record");
	CHECK_EQ(f->n_event_desc, 2);
	CHECK_STR(perfdata_event_at(r, 0)->name, "first");
	CHECK_STR(perfdata_event_at(r, 1)->name, "second");
	CHECK_EQ(f->n_build_ids, 2);
	CHECK_EQ(f->build_ids[0].id_size, 20);
	CHECK_EQ(f->build_ids[0].pid, -1);
	CHECK_EQ(f->build_ids[1].id_size, 16);
	CHECK_EQ(f->build_ids[1].pid, 7);
	CHECK_STR(f->build_ids[1].file, "/bin/x");
	CHECK_EQ(f->core_siblings.n, 1);
	CHECK_STR(f->thread_siblings.s[1], "1-2");
	CHECK_EQ(f->n_cpus, 3);
	CHECK_EQ(f->cpus[2].core, 2);
	CHECK_EQ(f->cpus[2].socket, 12);
	CHECK(f->has_dies);
	CHECK_EQ(f->cpus[2].die, 22);
	CHECK_EQ(f->n_nodes, 1);
	CHECK_EQ(f->nodes[0].node, 4);
	CHECK_EQ(f->nodes[0].free_kb, 50);
	CHECK_STR(f->nodes[0].cpus, "0-2");
	CHECK_EQ(f->n_pmus, 2);
	CHECK_EQ(f->pmus[1].type, 10);
	CHECK_STR(f->pmus[1].name, "ibs_op");
	CHECK_EQ(f->n_groups, 1);
	CHECK_EQ(f->groups[0].members, 2);
	CHECK_EQ(f->n_auxtrace, 1);
	CHECK_EQ(f->auxtrace[0].size, 0x30);
	CHECK_EQ(f->n_caches, 1);
	CHECK_EQ(f->caches[0].ways, 8);
	CHECK_STR(f->caches[0].size, "256K");
	CHECK_EQ(f->first_sample_time, 100);
	CHECK_EQ(f->last_sample_time, 200);
	CHECK_EQ(f->n_memory, 1);
	CHECK_EQ(f->memory[0].n_words, 2);
	CHECK_EQ(f->memory[0].blocks[1], 1);
	CHECK_EQ(f->memory_block_size, 1 << 27);
	CHECK_EQ(f->clock_resolution_ns, 25);
	CHECK_EQ(f->dir_version, 1);
	CHECK_EQ(f->n_bpf_programs, 1);
	CHECK_EQ(f->n_btf, 1);
	CHECK_EQ(f->compression_type, 1);
	CHECK_EQ(f->compression_mmap_len, 4096);
	CHECK_EQ(f->n_cpu_caps, 1);
	CHECK_STR(f->cpu_caps[0].value, "32");
	CHECK_EQ(f->clockid, 4);
	CHECK_EQ(f->clock_wall_ns, 1000);
	CHECK_EQ(f->clock_ns, 7);
	CHECK_EQ(f->n_hybrid, 2);
	CHECK_STR(f->hybrid[1].name, "cpu_atom");
	CHECK_EQ(f->n_pmu_caps, 2);
	CHECK_EQ(f->pmu_caps[0].n, 1);
	CHECK_STR(f->pmu_caps[1].pmu, "cpu_atom");
}

TEST(features_of_a_file)
{
	for (int big = 0; big < 2; big++) {
		struct perfdata *r;
		const struct perfdata_features *f;

		begin_file(big, 2, 104, 64);
		put_time_sample(40, 5);
		end_data();
		put_features(all_features, ARRAY_SIZE(all_features), 0, 0);
		r = must_open(&m);
		f = perfdata_features(r);
		check_features(r);
		CHECK_EQ(f->n_meta, 2);
		CHECK_STR(f->meta[0].name, "product");
		CHECK_STR(f->meta[0].value, "pixel");
		CHECK_STR(f->meta[1].value, "");
		for (size_t i = 0; i < ARRAY_SIZE(all_features); i++)
			CHECK(perfdata_has_feature(r, all_features[i].bit), "feature %u",
			      all_features[i].bit);
		CHECK(!perfdata_has_feature(r, 76));
		CHECK_EQ(f->raw[77].at.size, 8);
		CHECK(perfdata_note(r, 0) == NULL, "%s", perfdata_note(r, 0));
		perfdata_close(r);
	}
}

TEST(features_of_a_pipe)
{
	for (int big = 0; big < 2; big++) {
		struct perfdata_attr a = plain;
		struct perfdata *r;
		int n;

		m = (struct maker){ .big = big };
		put_magic(&m, 16);
		put_event(&m, &a, 40);
		a.config = 1;
		put_event(&m, &a, 42);
		/* Twice: the second of each kind must change nothing. */
		for (size_t i = 0; i < 2 * ARRAY_SIZE(all_features); i++) {
			const struct made_feature *f = &all_features[i % ARRAY_SIZE(all_features)];
			size_t start = m.n;

			begin_record(&m, PD_RECORD_FEATURE, 0);
			put64(&m, f->bit);
			f->put();
			m.record = start; /* some of them hold records */
			end_record(&m);
		}
		r = must_open(&m);
		CHECK_EQ(count(r, NULL, &n), 0);
		CHECK_EQ(n, 2 + 2 * ARRAY_SIZE(all_features));
		check_features(r);
		CHECK(perfdata_note(r, 0) == NULL, "%s", perfdata_note(r, 0));
		perfdata_close(r);
	}
}

/* A section that is shorter than its contents is damaged, noted, and keeps nothing else from being
 * read. */
TEST(cut_features)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_features); i++) {
		unsigned bit = all_features[i].bit;
		bool fits_empty = all_features[i].put == put_nothing ||
				  bit == PD_FEAT_TRACING_DATA || bit == PD_FEAT_CPU_DOMAIN_INFO ||
				  bit == 77 || bit == PD_FEAT_SIMPLEPERF_FILE;

		for (size_t keep = 0; keep < 64 && !fits_empty; keep++) {
			struct perfdata *r;
			int n;

			begin_file(keep & 1, 2, 104, 64);
			put_time_sample(40, 5);
			end_data();
			put_features(&all_features[i], 1, bit, keep);
			r = must_open(&m);
			CHECK_EQ(count(r, NULL, &n), 0);
			CHECK_EQ(n, 1);
			if (perfdata_features(r)->damaged[bit / 64] >> (bit & 63) & 1)
				CHECK(strstr(perfdata_note(r, 0), "byte "), "feature %u", bit);
			else /* what is there may be a whole list of its own */
				CHECK(perfdata_note(r, 0) == NULL, "feature %u, %zu bytes", bit,
				      keep);
			if (keep == 1 && bit != PD_FEAT_SIMPLEPERF_META_INFO)
				CHECK(perfdata_note(r, 0) != NULL, "feature %u", bit);
			perfdata_close(r);
		}
	}
}

/* The shortest way to write each list: strings of one byte, which is their end. */
TEST(tight_features)
{
	static const struct {
		int line;
		unsigned bit;
		uint8_t words[16]; /* u32 each; 0xff: one byte of 0; 0xfe: the end */
	} rows[] = {
		{ __LINE__, PD_FEAT_CMDLINE, { 2, 1, 0xff, 1, 0xff, 0xfe } },
		{ __LINE__, PD_FEAT_NUMA_TOPOLOGY, { 1, 0, 0, 0, 0, 0, 1, 0xff, 0xfe } },
		{ __LINE__, PD_FEAT_PMU_MAPPINGS, { 1, 7, 1, 0xff, 0xfe } },
		{ __LINE__, PD_FEAT_GROUP_DESC, { 1, 1, 0xff, 0, 2, 0xfe } },
		{ __LINE__, PD_FEAT_CACHE, { 1, 1, 1, 2, 3, 4, 1, 0xff, 1, 0xff, 1, 0xff, 0xfe } },
		{ __LINE__, PD_FEAT_CPU_PMU_CAPS, { 1, 1, 0xff, 1, 0xff, 0xfe } },
		{ __LINE__, PD_FEAT_HYBRID_TOPOLOGY, { 1, 1, 0xff, 1, 0xff, 0xfe } },
		{ __LINE__, PD_FEAT_PMU_CAPS, { 1, 0, 1, 0xff, 0xfe } },
		{ __LINE__, PD_FEAT_MEM_TOPOLOGY, { 1, 0, 9, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0xfe } },
		{ __LINE__, PD_FEAT_AUXTRACE, { 1, 0, 2, 0, 3, 0, 0xfe } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perfdata *r;
		const struct perfdata_features *f;
		size_t n;

		m = (struct maker){ 0 };
		put_magic(&m, 16);
		begin_record(&m, PD_RECORD_FEATURE, 0);
		put64(&m, rows[i].bit);
		for (const uint8_t *w = rows[i].words; *w != 0xfe; w++)
			put(&m, *w == 0xff ? 0 : *w, *w == 0xff ? 1 : 4);
		end_record(&m);
		r = must_open(&m);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		f = perfdata_features(r);
		n = f->cmdline.n + f->n_nodes + f->n_pmus + f->n_groups + f->n_caches +
		    f->n_cpu_caps + f->n_hybrid + f->n_pmu_caps + f->n_memory + f->n_auxtrace;
		CHECK_EQ(n, rows[i].words[0], "row at line %d", rows[i].line);
		CHECK(perfdata_note(r, 0) == NULL, "row at line %d: %s", rows[i].line,
		      perfdata_note(r, 0));
		perfdata_close(r);
	}
}

/* Build ids of the first writers have no pid: seen by the kernel's name, which then lacks 4
 * letters. */
TEST(build_ids_without_pid)
{
	struct perfdata *r;
	const struct perfdata_features *f;
	size_t table;

	begin_file(false, 2, 104, 64);
	end_data();
	patch(&m, AT_DATA + 8, 0, 8);
	put_time_sample(40, 5); /* a data section of 0 bytes would mean an unfinished file */
	end_data();
	table = m.n;
	put64(&m, table + 16), put64(&m, 0);
	begin_record(&m, 0, 1);
	put_bytes(&m, "abcdefghijklmnopqrst\0\0\0", 24);
	put_name(&m, "[kernel.kallsyms]"), end_record(&m);
	begin_record(&m, 0, 2);
	put_bytes(&m, "ABCDEFGHIJKLMNOPQRST\0\0\0", 24);
	put_name(&m, "/bin/x"), end_record(&m);
	patch(&m, table + 8, m.n - table - 16, 8);
	patch(&m, AT_FEATURES, 1 << PD_FEAT_BUILD_ID, 8);
	r = must_open(&m);
	f = perfdata_features(r);
	CHECK_EQ(f->n_build_ids, 2);
	CHECK_STR(f->build_ids[0].file, "[kernel.kallsyms]");
	CHECK_STR(f->build_ids[1].file, "/bin/x");
	CHECK(!memcmp(f->build_ids[1].id, "ABCDEFGHIJKLMNOPQRST", 20));
	perfdata_close(r);
}

TEST(unfinished_file)
{
	struct perfdata *r;
	struct tare_error err = TARE_ERROR_INIT;
	int n;

	begin_file(false, 2, 104, 64);
	patch(&m, AT_FEATURES, 1 << PD_FEAT_HOSTNAME, 8);
	put_time_sample(40, 5);
	put_time_sample(41, 6);
	r = must_open(&m);
	CHECK(perfdata_file(r)->unfinished);
	CHECK(strstr(perfdata_note(r, 0), "did not finish"), "%s", perfdata_note(r, 0));
	CHECK(!perfdata_has_feature(r, PD_FEAT_HOSTNAME));
	CHECK_EQ(count(r, &err, &n), 0, "%s", err.what);
	CHECK_EQ(n, 2);
	perfdata_close(r);
}

/* A file cut at any byte: what is whole is read, and what is missing is said. */
TEST(cut_files)
{
	size_t whole;

	begin_file(false, 2, 104, 64);
	for (int i = 0; i < 3; i++)
		put_time_sample(40, 5);
	end_data();
	put_features(all_features, 6, 0, 0);
	whole = m.n;
	for (size_t n = 0; n < whole; n++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		int records, ret;

		m.n = n;
		r = open_made(&m, NULL, &err);
		CHECK_EQ(r == NULL, n < data_at, "%zu bytes: %s", n, err.what);
		if (!r) {
			CHECK(strstr(err.what, "byte ") && strstr(err.what, "/tmp/tare-perfdata-"),
			      "%s", err.what);
			continue;
		}
		ret = count(r, &err, &records);
		CHECK_EQ(records, n - data_at < 96 ? (n - data_at) / 32 : 3, "%zu bytes", n);
		CHECK_EQ(ret, n - data_at < 96 ? -EBADMSG : 0, "%zu bytes: %s", n, err.what);
		CHECK_EQ(perfdata_loss(r)->unread, n - data_at < 96 ? (n - data_at) % 32 : 0,
			 "%zu bytes", n);
		CHECK(perfdata_note(r, 0) != NULL, "%zu bytes", n);
		for (size_t i = 0; i < 6; i++) /* present where its row of the table is there */
			CHECK_EQ(perfdata_has_feature(r, all_features[i].bit),
				 n >= data_at + 96 + 16 * (i + 1), "%zu bytes, feature %zu", n, i);
		if (ret < 0)
			CHECK(strstr(err.what, "byte "), "%s", err.what);
		perfdata_close(r);
	}
}

TEST(forged_heads)
{
	static const struct {
		int line;
		size_t at;
		uint64_t value;
	} rows[] = {
		{ __LINE__, 0, 0 },
		{ __LINE__, 8, 0 },
		{ __LINE__, 8, 15 },
		{ __LINE__, 8, 105 },
		{ __LINE__, AT_ATTR_SIZE, 0 },
		{ __LINE__, AT_ATTR_SIZE, 79 },
		{ __LINE__, AT_ATTR_SIZE, UINT64_MAX },
		{ __LINE__, AT_ATTRS, UINT64_MAX },
		{ __LINE__, AT_ATTRS, 1 << 30 },
		{ __LINE__, AT_ATTRS + 8, UINT64_MAX },
		{ __LINE__, AT_ATTRS + 8, 1 << 30 },
		{ __LINE__, AT_DATA, UINT64_MAX },
		{ __LINE__, AT_DATA, 1 << 30 },
		{ __LINE__, AT_DATA + 8, UINT64_MAX },
		{ __LINE__, 136 + 64, 1 << 30 }, /* where the ids of the first event are */
		{ __LINE__, 136 + 64, UINT64_MAX - 7 },
		{ __LINE__, 136 + 72, 7 }, /* their size */
		{ __LINE__, 136 + 72, 1ull << 60 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;

		begin_file(false, 2, 104, 64);
		put_time_sample(40, 5);
		end_data();
		patch(&m, rows[i].at, rows[i].value, 8);
		r = open_made(&m, NULL, &err);
		CHECK(!r, "row at line %d", rows[i].line);
		CHECK(err.code && strstr(err.what, "byte "), "row at line %d: %s", rows[i].line,
		      err.what);
		perfdata_close(r);
	}
}

/* Many events that share one long section of ids would take memory without bound. */
TEST(ids_that_overlap)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;

	begin_file(false, 2, 104, 64);
	patch(&m, 136 + 64, 0, 8);
	patch(&m, 136 + 72, 104 + 160, 8); /* both events: nearly all of the file */
	patch(&m, 136 + 144, 0, 8);
	patch(&m, 136 + 152, 104 + 160, 8);
	r = open_made(&m, NULL, &err);
	CHECK(!r && strstr(err.what, "more ids than the file holds"), "%s", err.what);
	perfdata_close(r);
}

TEST(damaged_records)
{
	static const struct {
		int line;
		uint16_t size;
		const char *says;
	} rows[] = {
		{ __LINE__, 0, "a record of size 0" },
		{ __LINE__, 7, "a record of size 7" },
		{ __LINE__, 65535, "of which 64 bytes are there" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		char byte[32];
		int n;

		begin_file(false, 2, 104, 64);
		for (int k = 0; k < 3; k++)
			put_time_sample(40, 5);
		end_data();
		patch(&m, data_at + 32 + 6, rows[i].size, 2);
		snprintf(byte, sizeof(byte), "byte %zu", data_at + 32);
		r = must_open(&m);
		CHECK_EQ(count(r, &err, &n), -EBADMSG, "row at line %d", rows[i].line);
		CHECK_EQ(n, 1);
		CHECK(strstr(err.what, byte) && strstr(err.what, rows[i].says),
		      "row at line %d: %s", rows[i].line, err.what);
		CHECK_EQ(perfdata_loss(r)->unread, 64, "row at line %d", rows[i].line);
		err = (struct tare_error)TARE_ERROR_INIT;
		CHECK_EQ(perfdata_next(r, &rec, &err), -EBADMSG, "again");
		CHECK(strstr(err.what, byte), "again");
		CHECK_EQ(perfdata_loss(r)->unread, 64, "counted once");
		perfdata_close(r);
	}
}

/* Data that follows a record: read, half read, or passed over. */
TEST(payloads)
{
	for (size_t take = 0; take <= 40; take += 8) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		char buf[64];

		begin_file(false, 2, 104, 64);
		begin_record(&m, PD_RECORD_AUXTRACE, 0);
		put64(&m, 40), put64(&m, 1), put64(&m, 2), put32(&m, 3), put32(&m, 4), put32(&m, 5);
		put32(&m, 0);
		end_record(&m);
		put_bytes(&m, "forty bytes that are data of the tracer", 40);
		begin_record(&m, PD_RECORD_TRACING_DATA, 0);
		put32(&m, 5);
		end_record(&m);
		put_bytes(&m, "5byte\0\0", 8);
		put_time_sample(40, 5);
		end_data();
		r = must_open(&m);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		CHECK_EQ(rec.payload, 40);
		CHECK_EQ(rec.auxtrace.size, 40);
		CHECK_EQ(rec.auxtrace.offset, 1);
		CHECK_EQ(rec.auxtrace.reference, 2);
		CHECK_EQ(rec.auxtrace.index, 3);
		CHECK_EQ(rec.auxtrace.tid, 4);
		CHECK_EQ(rec.auxtrace.cpu, 5);
		CHECK_EQ(perfdata_payload(r, buf, take, &err), take);
		CHECK(!memcmp(buf, "forty bytes that are data of the tracer", take));
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		CHECK_EQ(rec.type, PD_RECORD_TRACING_DATA);
		CHECK_EQ(rec.payload, 8);
		CHECK_EQ(perfdata_next(r, &rec, &err), 1, "%s", err.what);
		CHECK_EQ(rec.type, PD_RECORD_SAMPLE);
		CHECK_EQ(perfdata_payload(r, buf, 8, &err), 0);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 0);
		perfdata_close(r);
	}
}

TEST(payload_beyond_the_end)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;
	char buf[64];

	for (int read = 0; read < 2; read++) {
		begin_file(false, 2, 104, 64);
		begin_record(&m, PD_RECORD_AUXTRACE, 0);
		put64(&m, UINT64_MAX - 1);
		for (int i = 0; i < 4; i++)
			put64(&m, 0);
		end_record(&m);
		put64(&m, 1);
		end_data();
		r = must_open(&m);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		if (read) {
			CHECK_EQ(perfdata_payload(r, buf, sizeof(buf), &err), 8);
			CHECK_EQ(perfdata_payload(r, buf, sizeof(buf), &err), -EBADMSG);
		}
		CHECK_EQ(perfdata_next(r, &rec, &err), -EBADMSG);
		CHECK(strstr(err.what, "the file ends"), "%s", err.what);
		perfdata_close(r);
	}
}

/* Through a real pipe: the pipe layout as it comes, the file layout by way of a temporary file. */
TEST(from_a_pipe)
{
	for (int layout = 0; layout < 2; layout++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		int fd[2], n;
		char path[64];

		if (layout == 0) {
			m = (struct maker){ 0 };
			put_magic(&m, 16);
			put_event(&m, &plain, 40);
			begin_record(&m, PD_RECORD_AUXTRACE, 0);
			put64(&m, 300000);
			for (int i = 0; i < 4; i++)
				put64(&m, 0);
			end_record(&m);
			m.n += 300000;
		} else {
			begin_file(false, 2, 104, 64);
		}
		for (int i = 0; i < 10000; i++)
			put_time_sample(40, 5);
		if (layout == 1) {
			end_data();
			put_features(all_features, 6, 0, 0);
		}
		if (pipe(fd))
			abort();
		if (fork() == 0) {
			size_t done = 0;

			close(fd[0]);
			while (done < m.n) { /* in odd pieces */
				size_t piece = m.n - done < 4099 ? m.n - done : 4099;

				if (write(fd[1], m.b + done, piece) != (ssize_t)piece)
					_exit(1);
				done += piece;
			}
			_exit(0);
		}
		close(fd[1]);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
		r = perfdata_open(path, NULL, &err);
		if (!CHECK(r != NULL, "%s", err.what))
			return;
		CHECK_EQ(count(r, &err, &n), 0, "%s", err.what);
		CHECK_EQ(n, layout ? 10000 : 10002);
		if (layout)
			CHECK_STR(perfdata_features(r)->hostname, "host");
		perfdata_close(r);
		close(fd[0]);
	}
}

TEST(directory)
{
	static const char *const parts[] = { "data", "data.0", "data.1" };
	char dir[] = "/tmp/tare-perfdata-XXXXXX", path[128];
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;
	int n = 0, ret;

	if (!mkdtemp(dir))
		abort();
	CHECK(!perfdata_open(dir, NULL, &err) && strstr(err.what, "without a file named data"),
	      "%s", err.what);
	for (int i = 0; i < 3; i++) {
		if (i == 0)
			begin_file(false, 2, 104, 64);
		else
			m.n = 0;
		put_time_sample(40, 30 - 10 * (uint64_t)i);
		put_time_sample(42, 31 - 10 * (uint64_t)i);
		if (i == 0)
			end_data();
		else if (i == 1)
			put32(&m, 9); /* damaged: the others are read all the same */
		snprintf(path, sizeof(path), "%s/%s", dir, parts[i]);
		write_file(path, &m);
	}
	for (int ordered = 0; ordered < 2; ordered++) {
		static const uint64_t times[2][6] = { { 30, 31, 20, 21, 10, 11 },
						      { 10, 11, 20, 21, 30, 31 } };
		static const unsigned files[2][6] = { { 0, 0, 1, 1, 2, 2 }, { 2, 2, 1, 1, 0, 0 } };

		r = perfdata_open(dir, NULL, &err);
		if (!CHECK(r != NULL, "%s", err.what))
			return;
		CHECK(perfdata_file(r)->directory);
		CHECK_EQ(perfdata_file(r)->n_files, 3);
		for (n = 0; (ret = ordered ? perfdata_next_ordered(r, &rec, &err)
					   : perfdata_next(r, &rec, &err)) == 1 &&
			    n < 6;
		     n++) {
			CHECK_EQ(rec.time, times[ordered][n], "record %d", n);
			CHECK_EQ(rec.file, files[ordered][n], "record %d", n);
			CHECK(rec.event == perfdata_event_at(r, n & 1));
		}
		CHECK_EQ(n, 6);
		CHECK_EQ(ret, -EBADMSG);
		CHECK(strstr(err.what, "/data.0: byte 64: 4 bytes are left"), "%s", err.what);
		CHECK_EQ(perfdata_loss(r)->disordered, 0);
		perfdata_close(r);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, parts[i]);
		unlink(path);
	}
	rmdir(dir);
}

TEST(no_file)
{
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(!perfdata_open("/nonexistent/perf.data", NULL, &err));
	CHECK_EQ(err.code, ENOENT);
	CHECK(strstr(err.what, "/nonexistent/perf.data"), "%s", err.what);
	CHECK(!perfdata_open("/dev/null", NULL, &err));
	CHECK_EQ(err.code, EBADMSG);
	perfdata_close(NULL);
}

TEST_MAIN()

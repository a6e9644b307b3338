/* SPDX-License-Identifier: MIT */
/* Every feature section: complete, minimal and truncated, in files and in pipes. */
#include "perfdata/perfdata_made_file.h"

static void put_cpus(void)
{
	put32(&m, 3), put32(&m, 2);
}
static void put_mem(void)
{
	put64(&m, 4096);
}
/* Tracing data without a format of any system. */
static void put_tracing(void)
{
	put_bytes(&m, "\x17\x08\x44tracing0.6", 14);
	put(&m, m.big, 1), put(&m, 8, 1), put32(&m, 4096);
	put_bytes(&m, "header_page", 12), put64(&m, 0);
	put_bytes(&m, "header_event", 13), put64(&m, 0);
	put32(&m, 0), put32(&m, 0);
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
	{ PD_FEAT_TRACING_DATA, put_tracing },
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
		/* Twice: the second of each kind must have no effect. */
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

/* A section shorter than its contents is reported as damaged, and the rest is still read. */
TEST(cut_features)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_features); i++) {
		unsigned bit = all_features[i].bit;
		bool fits_empty = all_features[i].put == put_nothing ||
			bit == PD_FEAT_CPU_DOMAIN_INFO || bit == 77 ||
			bit == PD_FEAT_SIMPLEPERF_FILE;

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
			bool damaged = perfdata_features(r)->damaged[bit / 64] >> (bit & 63) & 1;

			CHECK_EQ(perfdata_whole(r, NULL), !damaged, "feature %u, %zu bytes", bit,
				 keep);
			if (damaged)
				CHECK(strstr(perfdata_note(r, 0), "byte "), "feature %u", bit);
			else /* the remaining bytes may form a complete list */
				CHECK(perfdata_note(r, 0) == NULL, "feature %u, %zu bytes", bit,
				      keep);
			if (keep == 1 && bit != PD_FEAT_SIMPLEPERF_META_INFO)
				CHECK(perfdata_note(r, 0) != NULL, "feature %u", bit);
			perfdata_close(r);
		}
	}
}

/* The shortest encoding of each list: strings of one byte, the NUL. */
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

/*
 * The first writers' build ids have no pid: recognised by the kernel's name, which then lacks 4
 * letters.
 */
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

/* ---- the exact engine's counts per instruction ---- */

static struct {
	uint64_t total[2], no_place[2], instructions, bytes;
	uint32_t version, events, modules;
	const char *numbers; /* in hexadecimal */
} places;

static void put_totals(void)
{
	put32(&m, 1), put32(&m, 2), put64(&m, places.total[0]), put64(&m, places.total[1]);
}

static void put_places(void)
{
	size_t n = strlen(places.numbers) / 2;

	put32(&m, places.version), put32(&m, places.events), put32(&m, places.modules),
		put32(&m, 0);
	put64(&m, places.no_place[0]), put64(&m, places.no_place[1]);
	put64(&m, places.instructions), put64(&m, places.bytes ? places.bytes : n),
		put_string(&m, "/bin/x");
	for (size_t i = 0; i < n; i++) {
		char digits[3] = { places.numbers[2 * i], places.numbers[2 * i + 1] };

		put(&m, strtoul(digits, NULL, 16), 1);
	}
}

/* Is it accepted? Then f has it, else it is reported as damaged. */
static bool believed(bool big, void (*check)(const struct exact_places *p))
{
	static const struct made_feature both[] = { { PD_FEAT_TARE_EXACT, put_totals },
						    { PD_FEAT_TARE_PLACES, put_places } };
	const struct perfdata_features *f;
	struct perfdata *r;
	bool there;

	begin_file(big, 2, 104, 64);
	put_time_sample(40, 5);
	end_data();
	put_features(both, 2, 0, 0);
	r = must_open(&m);
	f = perfdata_features(r);
	there = f->places.events > 0;
	if (there && check)
		check(&f->places);
	CHECK_EQ(f->damaged[PD_FEAT_TARE_PLACES / 64] >> PD_FEAT_TARE_PLACES % 64 & 1,
		 !there && places.version == 1);
	perfdata_close(r);
	return there;
}

static void check_places(const struct exact_places *p)
{
	const uint64_t offset[] = { 0x1000, 0x1003, 0x1004 }, value[] = { 300, 0, 300, 7, 5, 7 };

	CHECK_EQ(p->events, 2);
	CHECK_EQ(p->modules, 1);
	CHECK_STR(p->module[0].path, "/bin/x");
	CHECK_EQ(p->no_place[0], 95);
	CHECK_EQ(p->module[0].n, 3);
	CHECK(!memcmp(p->offset, offset, sizeof(offset)) &&
	      !memcmp(p->value, value, sizeof(value)));
}

TEST(counts_by_instruction)
{
	static const char whole[] = "8020ad02000301080106"
				    "01";
	const struct {
		int line;
		uint64_t total, no_place, instructions, bytes;
		uint32_t version, events, modules;
		const char *numbers;
		bool believed;
	} rows[] = {
		{ __LINE__, 700, 95, 3, 0, 1, 2, 1, whole, true },
		{ __LINE__, 700, 95, 3, 0, 2, 2, 1, whole, false }, /* of a newer tare */
		{ __LINE__, 701, 95, 3, 0, 1, 2, 1, whole, false }, /* different total */
		{ __LINE__, 700, 96, 3, 0, 1, 2, 1, whole, false },
		{ __LINE__, 700, 95, 2, 0, 1, 2, 1, whole, false }, /* bytes left over */
		/* more than its bytes can hold */
		{ __LINE__, 700, 95, 4, 0, 1, 2, 1, whole, false },
		{ __LINE__, 700, 95, UINT64_MAX, 0, 1, 2, 1, whole, false },
		{ __LINE__, 700, 95, 3, UINT64_MAX, 1, 2, 1, whole,
		  false }, /* beyond the section */
		{ __LINE__, 700, 95, 3, 0, 1, 0, 1, whole, false },
		{ __LINE__, 700, 95, 3, 0, 1, 65, 1, whole, false },
		{ __LINE__, 700, 95, 3, 0, 1, UINT32_MAX, 1, whole, false },
		{ __LINE__, 700, 95, 3, 0, 1, 2, 2, whole, false },
		{ __LINE__, 700, 95, 3, 0, 1, 2, UINT32_MAX, whole, false },
		/* duplicate offset */
		{ __LINE__, 700, 95, 3, 0, 1, 2, 1, "8020ad0200000108010601", false },
		/* more than 64 bits */
		{ __LINE__, 95, 95, 1, 0, 1, 2, 1, "00ffffffffffffffffff0200", false },
		/* the sum is more than 64 bits */
		{ __LINE__, 94, 95, 1, 0, 1, 2, 1, "00ffffffffffffffffff0100", false },
		{ __LINE__, 94, UINT64_MAX, 1, 0, 1, 2, 1, "006000", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int big = 0; big < 2; big++) {
			places.total[0] = rows[i].total, places.total[1] = 14;
			places.no_place[0] = rows[i].no_place, places.no_place[1] = 0;
			places.instructions = rows[i].instructions, places.bytes = rows[i].bytes;
			places.version = rows[i].version, places.events = rows[i].events,
			places.modules = rows[i].modules;
			places.numbers = rows[i].numbers;
			CHECK_EQ(believed(big, check_places), rows[i].believed, "row at line %d",
				 rows[i].line);
		}
}

static struct {
	uint32_t version, n, listed;
} missing;

static void put_missing(void)
{
	put32(&m, missing.version), put32(&m, missing.n), put32(&m, missing.listed);
	put32(&m, 77), put32(&m, 3), put32(&m, 1), put_string(&m, "prog"),
		put_string(&m, "a far return");
	put32(&m, 0), put32(&m, 4), put32(&m, 0),
		put_string(&m, "a program with a name that is longer"), put_string(&m, "set-uid");
}

TEST(processes_that_were_not_recorded_to_their_end)
{
	static const struct made_feature one = { PD_FEAT_TARE_PARTIAL, put_missing };
	const struct {
		int line;
		uint32_t version, n, listed;
		bool believed, damaged;
	} rows[] = {
		{ __LINE__, 1, 2, 2, true, false },
		{ __LINE__, 2, 2, 2, false, false }, /* of a newer tare */
		{ __LINE__, 1, 0, 0, false, true },
		{ __LINE__, 1, 3, 2, false, true }, /* some have no name */
		{ __LINE__, 1, 1, 2, false, true },
		{ __LINE__, 1, 16, 16, false, true }, /* beyond the section */
		{ __LINE__, 1, 17, 17, false, true },
		{ __LINE__, 1, UINT32_MAX, UINT32_MAX, false, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int big = 0; big < 2; big++) {
			const struct perfdata_features *f;
			struct perfdata *r;

			missing.version = rows[i].version, missing.n = rows[i].n,
			missing.listed = rows[i].listed;
			begin_file(big, 2, 104, 64);
			put_time_sample(40, 5);
			end_data();
			put_features(&one, 1, 0, 0);
			r = must_open(&m);
			f = perfdata_features(r);
			CHECK_EQ(f->partial != NULL, rows[i].believed, "row at line %d",
				 rows[i].line);
			CHECK_EQ(f->damaged[PD_FEAT_TARE_PARTIAL / 64] >>
						 PD_FEAT_TARE_PARTIAL % 64 &
					 1,
				 rows[i].damaged, "row at line %d", rows[i].line);
			if (f->partial) {
				CHECK_EQ(f->partial->n, 2);
				CHECK(f->partial->process[0].pid == 77 &&
				      f->partial->process[0].ended &&
				      f->partial->process[0].serial == 3);
				CHECK_STR(f->partial->process[0].reason, "a far return");
				CHECK(f->partial->process[1].pid == 0 &&
				      !f->partial->process[1].ended);
				CHECK_STR(f->partial->process[1].name, "a program with a name t",
					  "cut");
			}
			perfdata_close(r);
		}
}

TEST_MAIN()

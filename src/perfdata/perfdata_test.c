/* SPDX-License-Identifier: MIT */
/*
 * Every record type and every field of a sample, written by the test and read back, in both byte
 * orders.
 */
#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_maker.h"

static struct maker m;

static const char raw_bytes[12] = "raw\1\2\3 bytes";

static const struct perfdata_attr full_attr = {
	.type = 4,
	.size = 136,
	.config = 0x123456789,
	.period = 1000,
	.read_format = PD_READ_ALL,
	.flags = PD_ATTR_SAMPLE_ID_ALL | 2ull << PD_ATTR_PRECISE_SHIFT | PD_ATTR_EXCLUDE_GUEST |
		PD_ATTR_EXCLUDE_KERNEL,
	.wakeup = 1,
	.bp_type = 2,
	.config1 = 0x11,
	.config2 = 0x22,
	.branch_sample_type = PD_BRANCH_HW_INDEX | PD_BRANCH_COUNTERS | 1,
	.regs_user = 0x5,
	.stack_user = 16,
	.clockid = -2,
	.regs_intr = 0x8000000000000001,
	.aux_watermark = 3,
	.max_stack = 127,
	.aux_sample_size = 4096,
	.sig_data = 0x33,
	.config3 = 0x44,
};

/* A branch's flags as stored by that machine: fields in reverse order on big-endian ones. */
static uint64_t branch_word(uint64_t cycles)
{
	if (m.big) /* predicted, cycles, type 3, spec 2, privilege 1 */
		return 1ull << 62 | cycles << 44 | 3ull << 40 | 2ull << 38 | 1ull << 31;
	return 2 | cycles << 4 | 3 << 20 | 2 << 24 | 1ull << 30;
}

static void put_read(uint64_t format)
{
	if (format & PD_READ_GROUP)
		put64(&m, 2);
	else
		put64(&m, 100);
	if (format & PD_READ_ENABLED)
		put64(&m, 7000);
	if (format & PD_READ_RUNNING)
		put64(&m, 6000);
	for (uint64_t i = 0; i < (format & PD_READ_GROUP ? 2 : 1); i++) {
		if (format & PD_READ_GROUP)
			put64(&m, 100 + i);
		if (format & PD_READ_ID)
			put64(&m, 40 + i);
		if (format & PD_READ_LOST)
			put64(&m, 9 + i);
	}
}

static void put_sample(const struct perfdata_attr *a)
{
	uint64_t t = a->sample_type;

	begin_record(&m, PD_RECORD_SAMPLE, 2);
	if (t & PD_SAMPLE_IDENTIFIER)
		put64(&m, 40);
	if (t & PD_SAMPLE_IP)
		put64(&m, 0x401000);
	if (t & PD_SAMPLE_TID)
		put32(&m, 77), put32(&m, 78);
	if (t & PD_SAMPLE_TIME)
		put64(&m, 123456789012345);
	if (t & PD_SAMPLE_ADDR)
		put64(&m, 0xadd4);
	if (t & PD_SAMPLE_ID)
		put64(&m, 40);
	if (t & PD_SAMPLE_STREAM_ID)
		put64(&m, 41);
	if (t & PD_SAMPLE_CPU)
		put32(&m, 5), put32(&m, 0);
	if (t & PD_SAMPLE_PERIOD)
		put64(&m, 999);
	if (t & PD_SAMPLE_READ)
		put_read(a->read_format);
	if (t & PD_SAMPLE_CALLCHAIN) {
		put64(&m, 3);
		put64(&m, (uint64_t)-512);
		put64(&m, 0x401000);
		put64(&m, 0x402000);
	}
	if (t & PD_SAMPLE_RAW) {
		put32(&m, sizeof(raw_bytes));
		put_bytes(&m, raw_bytes, sizeof(raw_bytes));
	}
	if (t & PD_SAMPLE_BRANCH_STACK) {
		put64(&m, 2);
		if (a->branch_sample_type & PD_BRANCH_HW_INDEX)
			put64(&m, 6);
		for (uint64_t i = 0; i < 2; i++) {
			put64(&m, 0x1000 + i);
			put64(&m, 0x2000 + i);
			put64(&m, branch_word(50 + i));
		}
		if (a->branch_sample_type & PD_BRANCH_COUNTERS)
			put64(&m, 0xc0), put64(&m, 0xc1);
	}
	if (t & PD_SAMPLE_REGS_USER)
		put64(&m, 2), put64(&m, 0xaaa), put64(&m, 0xbbb);
	if (t & PD_SAMPLE_STACK_USER)
		put64(&m, 16), put_bytes(&m, "sixteen bytes..", 16), put64(&m, 8);
	if (t & (PD_SAMPLE_WEIGHT | PD_SAMPLE_WEIGHT_STRUCT))
		put64(&m, 3ull << 48 | 2ull << 32 | 1);
	if (t & PD_SAMPLE_DATA_SRC)
		put64(&m, 0x68100142);
	if (t & PD_SAMPLE_TRANSACTION)
		put64(&m, 0x77);
	if (t & PD_SAMPLE_REGS_INTR)
		put64(&m, 1), put64(&m, 0xccc), put64(&m, 0xddd);
	if (t & PD_SAMPLE_PHYS_ADDR)
		put64(&m, 0x9000);
	if (t & PD_SAMPLE_CGROUP)
		put64(&m, 4242);
	if (t & PD_SAMPLE_DATA_PAGE_SIZE)
		put64(&m, 4096);
	if (t & PD_SAMPLE_CODE_PAGE_SIZE)
		put64(&m, 2 << 20);
	if (t & PD_SAMPLE_AUX)
		put64(&m, 8), put_bytes(&m, "auxbytes", 8);
	end_record(&m);
}

static void check_plain(const struct perfdata_record *rec, uint64_t t)
{
	const struct perfdata_sample *s = &rec->sample;
	const struct {
		uint32_t bit;
		uint64_t got, want;
	} rows[] = {
		{ PD_SAMPLE_IDENTIFIER, rec->id, 40 },
		{ PD_SAMPLE_IP, s->ip, 0x401000 },
		{ PD_SAMPLE_TID, rec->pid, 77 },
		{ PD_SAMPLE_TID, rec->tid, 78 },
		{ PD_SAMPLE_TIME, rec->time, 123456789012345 },
		{ PD_SAMPLE_ADDR, s->addr, 0xadd4 },
		{ PD_SAMPLE_ID, rec->id, 40 },
		{ PD_SAMPLE_STREAM_ID, rec->stream_id, 41 },
		{ PD_SAMPLE_CPU, rec->cpu, 5 },
		{ PD_SAMPLE_WEIGHT, s->weight, 3ull << 48 | 2ull << 32 | 1 },
		{ PD_SAMPLE_WEIGHT_STRUCT, s->weight, 3ull << 48 | 2ull << 32 | 1 },
		{ PD_SAMPLE_DATA_SRC, s->data_src, 0x68100142 },
		{ PD_SAMPLE_TRANSACTION, s->transaction, 0x77 },
		{ PD_SAMPLE_PHYS_ADDR, s->phys_addr, 0x9000 },
		{ PD_SAMPLE_CGROUP, s->cgroup, 4242 },
		{ PD_SAMPLE_DATA_PAGE_SIZE, s->data_page_size, 4096 },
		{ PD_SAMPLE_CODE_PAGE_SIZE, s->code_page_size, 2 << 20 },
	};

	CHECK(!rec->bad, "%s", rec->bad);
	CHECK_EQ(rec->has, t);
	CHECK_EQ(rec->misc, 2);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (t & rows[i].bit)
			CHECK_EQ(rows[i].got, rows[i].want, "sample_type 0x%llx, bit 0x%x",
				 (unsigned long long)t, rows[i].bit);
	/* Without the field the period is the event's. */
	CHECK_EQ(s->period, t & PD_SAMPLE_PERIOD ? 999 : 1000);
}

static void check_read(const struct perfdata_read *read, uint64_t format)
{
	CHECK_EQ(read->n, format & PD_READ_GROUP ? 2 : 1, "format %llu",
		 (unsigned long long)format);
	CHECK_EQ(read->enabled_ns, format & PD_READ_ENABLED ? 7000 : 0);
	CHECK_EQ(read->running_ns, format & PD_READ_RUNNING ? 6000 : 0);
	for (uint64_t i = 0; i < read->n; i++) {
		struct perfdata_value v = perfdata_read_at(read, i);

		CHECK_EQ(v.value, 100 + i, "format %llu", (unsigned long long)format);
		CHECK_EQ(v.id, format & PD_READ_ID ? 40 + i : 0);
		CHECK_EQ(v.lost, format & PD_READ_LOST ? 9 + i : 0);
	}
}

static void check_lists(const struct perfdata_record *rec, const struct perfdata_attr *a)
{
	const struct perfdata_sample *s = &rec->sample;
	uint64_t t = a->sample_type;

	if (t & PD_SAMPLE_READ)
		check_read(&s->read, a->read_format);
	if (t & PD_SAMPLE_CALLCHAIN) {
		CHECK_EQ(s->n_chain, 3);
		CHECK_EQ(s->chain[0], -512);
		CHECK_EQ(s->chain[2], 0x402000);
	}
	if (t & PD_SAMPLE_RAW) {
		CHECK_EQ(s->raw_size, sizeof(raw_bytes));
		CHECK(!memcmp(s->raw, raw_bytes, sizeof(raw_bytes)));
	}
	if (t & PD_SAMPLE_BRANCH_STACK) {
		CHECK_EQ(s->n_branches, 2);
		CHECK_EQ(s->has_hw_index, !!(a->branch_sample_type & PD_BRANCH_HW_INDEX));
		CHECK_EQ(s->branch_hw_index, s->has_hw_index ? 6 : 0);
		for (uint64_t i = 0; i < 2; i++) {
			CHECK_EQ(s->branches[i].from, 0x1000 + i);
			CHECK_EQ(s->branches[i].to, 0x2000 + i);
			CHECK_EQ(s->branches[i].flags,
				 2 | (50 + i) << 4 | 3 << 20 | 2 << 24 | 1ull << 30);
		}
		CHECK_EQ(s->branch_counters != NULL,
			 !!(a->branch_sample_type & PD_BRANCH_COUNTERS));
		if (s->branch_counters)
			CHECK_EQ(s->branch_counters[1], 0xc1);
	}
	if (t & PD_SAMPLE_REGS_USER) {
		CHECK_EQ(s->regs_user.abi, 2);
		CHECK_EQ(s->regs_user.n, 2);
		CHECK_EQ(s->regs_user.mask, 5);
		CHECK_EQ(s->regs_user.reg[0], 0xaaa);
		CHECK_EQ(s->regs_user.reg[1], 0xbbb);
	}
	if (t & PD_SAMPLE_STACK_USER) {
		CHECK_EQ(s->stack_size, 16);
		CHECK_EQ(s->stack_dyn_size, 8);
		CHECK_STR(s->stack, "sixteen bytes..");
	}
	if (t & PD_SAMPLE_REGS_INTR) {
		CHECK_EQ(s->regs_intr.abi, 1);
		CHECK_EQ(s->regs_intr.n, 2);
		CHECK_EQ(s->regs_intr.reg[1], 0xddd);
	}
	if (t & PD_SAMPLE_AUX) {
		CHECK_EQ(s->aux_size, 8);
		CHECK(!memcmp(s->aux, "auxbytes", 8));
	}
}

static void one_sample(bool big, const struct perfdata_attr *a)
{
	struct perfdata_record rec;
	struct perfdata *r;

	m = (struct maker){ .big = big };
	put_magic(&m, 16);
	put_event(&m, a, 40);
	put_sample(a);
	r = must_open(&m);
	CHECK_EQ(perfdata_file(r)->swapped, big);
	CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
	CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
	CHECK_EQ(rec.type, PD_RECORD_SAMPLE);
	CHECK(rec.event == perfdata_event_at(r, 0));
	check_plain(&rec, a->sample_type);
	check_lists(&rec, a);
	CHECK_EQ(perfdata_next(r, &rec, NULL), 0);
	CHECK_EQ(perfdata_next(r, &rec, NULL), 0, "again");
	CHECK_EQ(perfdata_loss(r)->undecodable, 0);
	perfdata_close(r);
}

/* WEIGHT and WEIGHT_STRUCT exclude each other. */
#define ALL_FIELDS (PD_SAMPLE_ALL & ~PD_SAMPLE_WEIGHT_STRUCT)

TEST(sample_fields)
{
	struct perfdata_attr a = full_attr;

	for (int big = 0; big < 2; big++) {
		for (unsigned bit = 0; bit < 25; bit++) {
			a.sample_type = 1u << bit;
			one_sample(big, &a);
			a.sample_type = ALL_FIELDS & ~(1u << bit);
			one_sample(big, &a);
		}
		a.sample_type = ALL_FIELDS;
		one_sample(big, &a);
		a.sample_type = PD_SAMPLE_ALL & ~PD_SAMPLE_WEIGHT;
		one_sample(big, &a);
	}
}

TEST(read_formats)
{
	struct perfdata_attr a = full_attr;

	a.sample_type = PD_SAMPLE_IP | PD_SAMPLE_READ | PD_SAMPLE_DATA_SRC;
	for (int big = 0; big < 2; big++)
		for (a.read_format = 0; a.read_format <= PD_READ_ALL; a.read_format++)
			one_sample(big, &a);
}

TEST(branch_layouts)
{
	static const uint64_t kinds[] = { 0, PD_BRANCH_HW_INDEX, PD_BRANCH_COUNTERS,
					  PD_BRANCH_HW_INDEX | PD_BRANCH_COUNTERS };
	struct perfdata_attr a = full_attr;

	a.sample_type = PD_SAMPLE_IP | PD_SAMPLE_BRANCH_STACK | PD_SAMPLE_DATA_SRC;
	for (int big = 0; big < 2; big++)
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			a.branch_sample_type = kinds[i];
			one_sample(big, &a);
		}
}

/* Every shorter sample is rejected, and the next record is still found. */
TEST(cut_samples)
{
	struct perfdata_attr a = full_attr;
	struct perfdata_record rec;
	size_t start, whole;

	a.sample_type = ALL_FIELDS;
	for (int big = 0; big < 2; big++) {
		m = (struct maker){ .big = big };
		put_magic(&m, 16);
		put_event(&m, &a, 40);
		start = m.n;
		put_sample(&a);
		whole = m.n - start;
		for (size_t size = 8; size < whole; size++) {
			m.n = start + size;
			patch(&m, start + 6, size, 2);
			begin_record(&m, PD_RECORD_FINISHED_ROUND, 0);
			end_record(&m);

			struct perfdata *r = must_open(&m);

			CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
			CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
			CHECK(rec.bad != NULL, "%zu of %zu bytes", size, whole);
			CHECK_EQ(rec.has, 0);
			CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
			CHECK_EQ(rec.type, PD_RECORD_FINISHED_ROUND);
			CHECK_EQ(perfdata_next(r, &rec, NULL), 0);
			CHECK_EQ(perfdata_loss(r)->undecodable, 1);
			perfdata_close(r);

			m.n = start;
			put_sample(&a); /* again, whole */
		}
		/* Nor is a sample with one word too many valid for this event. */
		put64(&m, 0);
		patch(&m, start + 6, whole + 8, 2);

		struct perfdata *r = must_open(&m);

		perfdata_next(r, &rec, NULL);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		CHECK_STR(rec.bad, "bytes are left over after its fields");
		perfdata_close(r);
	}
}

/* An unknown ABI may have other registers: none are shown. */
TEST(unknown_registers)
{
	static const struct {
		uint64_t abi;
		bool bad;
	} rows[] = { { 0, false }, { 1, false }, { 2, false }, { 3, true }, { 6, true } };
	struct perfdata_attr a = { .size = 104,
				   .sample_type = PD_SAMPLE_REGS_USER,
				   .regs_user = 1 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perfdata_record rec;
		struct perfdata *r;

		m = (struct maker){ 0 };
		put_magic(&m, 16);
		put_event(&m, &a, 40);
		begin_record(&m, PD_RECORD_SAMPLE, 0);
		put64(&m, rows[i].abi);
		if (rows[i].abi)
			put64(&m, 7);
		end_record(&m);
		r = must_open(&m);
		perfdata_next(r, &rec, NULL);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		CHECK_EQ(rec.bad != NULL, rows[i].bad, "row %zu", i);
		if (!rec.bad)
			CHECK_EQ(rec.sample.regs_user.n, rows[i].abi ? 1 : 0, "row %zu", i);
		perfdata_close(r);
	}
}

TEST(attributes)
{
	for (int big = 0; big < 2; big++) {
		struct perfdata_record rec;
		struct perfdata *r;

		m = (struct maker){ .big = big };
		put_magic(&m, 16);
		put_event(&m, &full_attr, 40);
		r = must_open(&m);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		if (!CHECK(rec.attr && rec.attr == perfdata_event_at(r, 0)))
			return;

		const struct perfdata_attr *a = &rec.attr->attr, *w = &full_attr;

		CHECK_EQ(a->type, w->type);
		CHECK_EQ(a->size, w->size);
		CHECK_EQ(a->config, w->config);
		CHECK_EQ(a->period, w->period);
		CHECK_EQ(a->read_format, w->read_format);
		CHECK_EQ(a->flags, w->flags, "big %d", big);
		CHECK_EQ(a->wakeup, w->wakeup);
		CHECK_EQ(a->bp_type, w->bp_type);
		CHECK_EQ(a->config1, w->config1);
		CHECK_EQ(a->config2, w->config2);
		CHECK_EQ(a->branch_sample_type, w->branch_sample_type);
		CHECK_EQ(a->regs_user, w->regs_user);
		CHECK_EQ(a->stack_user, w->stack_user);
		CHECK_EQ(a->clockid, w->clockid);
		CHECK_EQ(a->regs_intr, w->regs_intr);
		CHECK_EQ(a->aux_watermark, w->aux_watermark);
		CHECK_EQ(a->max_stack, w->max_stack);
		CHECK_EQ(a->aux_sample_size, w->aux_sample_size);
		CHECK_EQ(a->sig_data, w->sig_data);
		CHECK_EQ(a->config3, w->config3);
		CHECK_STR(rec.attr->name, "raw 0x123456789:uhppH");
		CHECK_EQ(rec.attr->n_ids, 1);
		CHECK_EQ(rec.attr->ids[0], 40);
		CHECK(perfdata_event_of(r, 40) == rec.attr);
		CHECK(perfdata_event_of(r, 41) == NULL);
		perfdata_close(r);
	}
}

/* Fields that the writer did not fill are 0, whatever bytes are there; a longer attr is cut. */
TEST(attribute_sizes)
{
	static const uint32_t sizes[] = { 0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 192 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct perfdata_attr a = full_attr;
		struct perfdata_record rec;
		struct perfdata *r;
		uint32_t filled = sizes[i] ? sizes[i] : 64;

		a.size = sizes[i];
		m = (struct maker){ 0 };
		put_magic(&m, 16);
		put_event(&m, &a, 40);
		r = must_open(&m);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);

		const struct perfdata_attr *got = &rec.attr->attr;

		CHECK_EQ(got->size, sizes[i]);
		CHECK_EQ(got->config1, 0x11);
		CHECK_EQ(got->config2, filled >= 72 ? 0x22 : 0, "size %u", sizes[i]);
		CHECK_EQ(got->regs_user, filled >= 96 ? 5 : 0, "size %u", sizes[i]);
		CHECK_EQ(got->sig_data, filled >= 128 ? 0x33 : 0, "size %u", sizes[i]);
		CHECK_EQ(got->config3, filled >= 136 ? 0x44 : 0, "size %u", sizes[i]);
		CHECK_EQ(rec.attr->ids[0], 40, "size %u", sizes[i]);
		perfdata_close(r);
	}
}

TEST(names_from_attributes)
{
	static const struct {
		int line;
		uint32_t type;
		uint64_t config, flags;
		const char *name;
	} rows[] = {
		{ __LINE__, 0, 0, PD_ATTR_EXCLUDE_GUEST, "cycles" },
		{ __LINE__, 0, 1, 0, "instructions:HG" },
		{ __LINE__, 0, 4ull | 8ull << 32, PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV,
		  "branches:u" },
		{ __LINE__, 0, 99, PD_ATTR_EXCLUDE_KERNEL, "type 0 config 0x63:uh" },
		{ __LINE__, 1, 0, PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_HV, "cpu-clock:k" },
		{ __LINE__, 3, 0x10000, PD_ATTR_EXCLUDE_HV | 3ull << PD_ATTR_PRECISE_SHIFT,
		  "L1-dcache-load-misses:kuppp" },
		{ __LINE__, 3, 0x102, PD_ATTR_EXCLUDE_HV, "LLC-stores:ku" },
		{ __LINE__, 3, 0x102 | 10ull << 32, PD_ATTR_EXCLUDE_HV, "LLC-stores:ku" },
		{ __LINE__, 3, 0x7, PD_ATTR_EXCLUDE_HV, "type 3 config 0x7:ku" },
		{ __LINE__, 31, 5, 1ull << PD_ATTR_PRECISE_SHIFT | PD_ATTR_EXCLUDE_GUEST,
		  "type 31 config 0x5:pH" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perfdata_attr a = { .type = rows[i].type,
					   .config = rows[i].config,
					   .flags = rows[i].flags };
		struct perfdata_record rec;
		struct perfdata *r;

		m = (struct maker){ 0 };
		put_magic(&m, 16);
		put_event(&m, &a, 0);
		r = must_open(&m);
		perfdata_next(r, &rec, NULL);
		CHECK_STR(perfdata_event_at(r, 0)->name, rows[i].name, "row at line %d",
			  rows[i].line);
		CHECK(!perfdata_event_at(r, 0)->named);
		perfdata_close(r);
	}
}

TEST_MAIN()

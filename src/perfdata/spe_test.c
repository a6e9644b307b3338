/* SPDX-License-Identifier: MIT */
#include "base/num.h"
#include "perfdata/spe.h"
#include "tap.h"

/* Published packets (Arm telemetry-solution, google/perf_data_converter) and their fields. */
TEST(published_packets)
{
	static const struct {
		int line;
		uint8_t bytes[10];
		size_t n;
		enum spe_kind kind;
		unsigned index;
		uint64_t payload, address;
	} rows[] = {
		{ __LINE__,
		  { 0xb0, 0xd0, 0xc2, 0xa1, 0xed, 0x66, 0xba, 0xff, 0xc0 },
		  9,
		  SPE_ADDRESS,
		  SPE_PC,
		  0xc0ffba66eda1c2d0,
		  0xffffba66eda1c2d0 },
		{ __LINE__,
		  { 0xb0, 0x00, 0xb6, 0xa9, 0xe4, 0xaa, 0xaa, 0x00, 0x80 },
		  9,
		  SPE_ADDRESS,
		  SPE_PC,
		  0x8000aaaae4a9b600,
		  0xaaaae4a9b600 },
		{ __LINE__,
		  { 0xb1, 0xe4, 0xb0, 0xef, 0xed, 0x66, 0xba, 0xff, 0xc0 },
		  9,
		  SPE_ADDRESS,
		  SPE_TARGET,
		  0xc0ffba66edefb0e4,
		  0xffffba66edefb0e4 },
		{ __LINE__,
		  { 0xb2, 0x28, 0x6b, 0x09, 0x03, 0x37, 0x0e, 0xff, 0x00 },
		  9,
		  SPE_ADDRESS,
		  SPE_DATA_VIRTUAL,
		  0x00ff0e3703096b28,
		  0xffff0e3703096b28 },
		{ __LINE__,
		  { 0xb2, 0x43, 0xda, 0x5d, 0xe6, 0xaa, 0xaa, 0x00, 0x5a },
		  9,
		  SPE_ADDRESS,
		  SPE_DATA_VIRTUAL,
		  0x5a00aaaae65dda43,
		  0xaaaae65dda43 },
		{ __LINE__,
		  { 0xb3, 0x43, 0x5a, 0x95, 0x2c, 0x03, 0x08, 0x00, 0x80 },
		  9,
		  SPE_ADDRESS,
		  SPE_DATA_PHYSICAL,
		  0x800008032c955a43,
		  0x8032c955a43 },
		{ __LINE__, { 0x65, 0x80, 0x5f, 0, 0 }, 5, SPE_CONTEXT, 1, 0x5f80, 0x5f80 },
		{ __LINE__, { 0x49, 0x16 }, 2, SPE_OPERATION, SPE_LOAD_STORE, 0x16, 0x16 },
		{ __LINE__, { 0x4a, 0x01 }, 2, SPE_OPERATION, SPE_BRANCH, 1, 1 },
		{ __LINE__, { 0x52, 0x1e, 0x03 }, 3, SPE_EVENTS, 0, 0x31e, 0x31e },
		{ __LINE__, { 0x99, 0x10, 0x00 }, 3, SPE_COUNTER, SPE_ISSUE, 16, 16 },
		{ __LINE__, { 0x9a, 0x01, 0x00 }, 3, SPE_COUNTER, SPE_TRANSLATION, 1, 1 },
		{ __LINE__, { 0x43, 0x0e }, 2, SPE_SOURCE, 0, 14, 14 },
		{ __LINE__,
		  { 0x71, 0x2e, 0x65, 0x2f, 0x6a, 0x0a, 0, 0, 0 },
		  9,
		  SPE_TIMESTAMP,
		  0,
		  44731163950,
		  44731163950 },
		{ __LINE__, { 0x01 }, 1, SPE_END, 0, 0, 0 },
		{ __LINE__, { 0x00 }, 1, SPE_PAD, 0, 0, 0 },
		/* extended: the index has five bits */
		{ __LINE__, { 0x21, 0xb1, 1, 0, 0, 0, 0, 0, 0, 0 }, 10, SPE_ADDRESS, 9, 1, 1 },
		{ __LINE__, { 0x23, 0x9a, 1, 2 }, 4, SPE_COUNTER, 26, 0x201, 0x201 },
		{ __LINE__, { 0x20, 0x00 }, 2, SPE_PAD, 0, 0, 0 },
		{ __LINE__, { 0x21, 0x00, 0, 0 }, 4, SPE_PAD, 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_packet p = spe_packet(rows[i].bytes, rows[i].n, 0);

		CHECK_EQ(p.kind, rows[i].kind, "row at line %d", rows[i].line);
		CHECK_EQ(p.size, rows[i].n, "row at line %d", rows[i].line);
		CHECK_EQ(p.index, rows[i].index, "row at line %d", rows[i].line);
		CHECK_EQ(p.payload, rows[i].payload, "row at line %d", rows[i].line);
		CHECK_EQ(
			spe_address(p.kind == SPE_ADDRESS ? p.index : SPE_DATA_PHYSICAL, p.payload),
			rows[i].address, "row at line %d", rows[i].line);
		/* one byte short: continues past the end, which is never read */
		if (rows[i].n > 1)
			CHECK_EQ(spe_packet(rows[i].bytes, rows[i].n - 1, 0).size, 0,
				 "row at line %d", rows[i].line);
	}
}

TEST(no_packets)
{
	static const uint8_t rows[][2] = { { 0x10, 0 }, { 0x20, 0x42 }, { 0x20, 0x49 },
					   { 0x68, 0 }, { 0xc0, 0 },    { 0xff, 0xff },
					   { 0x70, 0 }, { 0x45, 0 },    { 0x22, 0x71 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_packet p = spe_packet(rows[i], 2, 0);

		CHECK_EQ(p.kind, SPE_BAD, "row %zu", i);
		CHECK_EQ(p.size, 1, "row %zu", i);
	}
	CHECK_EQ(spe_packet((uint8_t[]){ 0x21, 0, 7, 0 }, 4, 0).kind, SPE_BAD,
		 "alignment fills with zeros");
}

TEST(records)
{
	static const uint8_t
		data
			[] = {
				/* the end of a record that began before the data */
				0x71, 1,    0,    0,    0,    0,    0,    0,    0,    0,    0xb0,
				0x10, 0x20, 0,    0,    0,    0,    0,    0x80, 0,    0,    0x65,
				7,    0,    0,    0,    0x49, 0x01, 0x52, 0x16, 0x00, 0x99, 4,
				0,    0x98, 12,   0,    0xb2, 0x28, 0x6b, 9,    3,    0x37, 0x0e,
				0,    0,    0x9a, 1,    0,    0x43, 8,    0x71, 0x2e, 0x65, 0,
				0,    0,    0,    0,    0, /* closed by a timestamp */
				0xb0, 0x44, 0x20, 0,    0,    0,    0,    0,    0x80, 0x4a, 0x03,
				0x01,                   /* closed by END */
				0,    0,    0xb0, 0x48, /* continues past the end */
			};
	struct spe_walk w = { .data = data, .n = sizeof(data) };
	struct spe_record r;

	CHECK(spe_next(&w, &r));
	CHECK_EQ(r.offset, 10);
	CHECK_EQ(r.has,
		 SPE_HAS_ADDRESS(SPE_PC) | SPE_HAS_ADDRESS(SPE_DATA_VIRTUAL) |
			 SPE_HAS_COUNTER(SPE_TOTAL) | SPE_HAS_COUNTER(SPE_ISSUE) |
			 SPE_HAS_COUNTER(SPE_TRANSLATION) | SPE_HAS_EVENTS | SPE_HAS_SOURCE |
			 SPE_HAS_CONTEXT(SPE_EL2) | SPE_HAS_OPERATION | SPE_HAS_TIMESTAMP);
	CHECK_EQ(r.address[SPE_PC], 0x8000000000002010);
	CHECK_EQ(r.address[SPE_DATA_VIRTUAL], 0x0e3703096b28);
	CHECK_EQ(r.counter[SPE_TOTAL], 12);
	CHECK_EQ(r.counter[SPE_ISSUE], 4);
	CHECK_EQ(r.counter[SPE_TRANSLATION], 1);
	CHECK_EQ(r.context[SPE_EL2], 7);
	CHECK_EQ(r.class, SPE_LOAD_STORE);
	CHECK_EQ(r.operation, 1);
	CHECK_EQ(r.events, 0x16);
	CHECK_EQ(r.source, 8);
	CHECK_EQ(r.timestamp, 0x652e);
	CHECK(spe_next(&w, &r));
	CHECK_EQ(r.has, SPE_HAS_ADDRESS(SPE_PC) | SPE_HAS_OPERATION);
	CHECK_EQ(r.class, SPE_BRANCH);
	CHECK_EQ(r.operation, 3);
	CHECK(!spe_next(&w, &r));
	CHECK_EQ(w.headless, 1);
	CHECK_EQ(w.tail, 2);
	CHECK_EQ(w.skipped, 0);
	CHECK_EQ(w.damages, 0);
	CHECK(!spe_next(&w, &r), "and stays at the end");
}

/* ---- written data is read back ---- */

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static void put_packet(uint8_t **to, uint8_t header, uint64_t payload, unsigned width)
{
	*(*to)++ = header | (uint8_t)(__builtin_ctz(width) << 4);
	for (unsigned i = 0; i < width; i++)
		*(*to)++ = (uint8_t)(payload >> 8 * i);
}

/*
 * A random record, padded to 64 bytes as by hardware, or unpadded; its packets in the usual order.
 */
static size_t make_record(uint8_t *to, struct spe_record *r)
{
	uint8_t *at = to;

	memset(r, 0, sizeof(*r));
	r->has = SPE_HAS_ADDRESS(SPE_PC) | SPE_HAS_OPERATION;
	r->address[SPE_PC] = draw(UINT64_MAX);
	put_packet(&at, 0xb0, r->address[SPE_PC], 8);
	for (unsigned i = 0; i < 2; i++)
		if (draw(2)) {
			unsigned level = 2 * i + (unsigned)draw(2);

			r->has |= SPE_HAS_CONTEXT(level);
			r->context[level] = (uint32_t)draw(1ull << 32);
			put_packet(&at, 0x64 - 0x20 + level, r->context[level], 4);
		}
	r->class = (uint8_t)draw(3);
	r->operation = (uint8_t)draw(256);
	put_packet(&at, 0x48 + r->class, r->operation, 1);
	if (draw(4)) {
		unsigned width = 1u << draw(4);

		r->has |= SPE_HAS_EVENTS;
		r->events = draw(UINT64_MAX) >> (64 - 8 * width);
		put_packet(&at, 0x42, r->events, width);
	}
	for (unsigned i = 0; i < 3; i++)
		if (draw(3)) {
			r->has |= SPE_HAS_COUNTER(i);
			r->counter[i] = (uint16_t)draw(4096);
			put_packet(&at, 0x98 - 0x10 + i, r->counter[i], 2);
		}
	for (unsigned i = 1; i < 5; i++)
		if (draw(3) == 0) {
			r->has |= SPE_HAS_ADDRESS(i);
			r->address[i] = draw(UINT64_MAX);
			put_packet(&at, 0xb0 - 0x30 + i, r->address[i], 8);
		}
	if (draw(2)) {
		r->has |= SPE_HAS_SOURCE;
		r->source = draw(16);
		put_packet(&at, 0x43, r->source, 1);
	}
	if (draw(2)) {
		r->has |= SPE_HAS_TIMESTAMP;
		r->timestamp = draw(UINT64_MAX);
		put_packet(&at, 0x71 - 0x30, r->timestamp, 8);
	} else {
		*at++ = 0x01;
	}
	while ((at - to) % 64)
		*at++ = 0;
	return (size_t)(at - to);
}

static bool same(const struct spe_record *a, const struct spe_record *b)
{
	return a->has == b->has && !memcmp(a->address, b->address, sizeof(a->address)) &&
		!memcmp(a->counter, b->counter, sizeof(a->counter)) && a->events == b->events &&
		a->source == b->source && a->timestamp == b->timestamp &&
		!memcmp(a->context, b->context, sizeof(a->context)) && a->class == b->class &&
		a->operation == b->operation;
}

enum { RECORDS = 40, ROOM = RECORDS * 128 };

TEST(round_trip)
{
	static uint8_t data[ROOM];

	seed = 1;
	for (int round = 0; round < (int)tap_cases(2000); round++) {
		struct spe_record made[RECORDS], r;
		struct spe_walk w = { .data = data };
		size_t n = draw(RECORDS), i;

		for (i = 0; i < n; i++)
			w.n += make_record(data + w.n, &made[i]);
		for (i = 0; spe_next(&w, &r); i++)
			if (i >= n || !same(&r, &made[i])) {
				CHECK(false, "round %d, record %zu of %zu", round, i, n);
				return;
			}
		CHECK_EQ(i, n, "round %d", round);
		CHECK_EQ(w.skipped + w.headless + w.tail + w.damages, 0, "round %d", round);
	}
}

/*
 * A hundred thousand damaged streams: everything from the third record after the damage on is read
 * correctly. The next record may be lost, or have an extra field (padding that became a header),
 * and once in ten thousand times also the one after it.
 */
TEST(resynchronises)
{
	static uint8_t data[ROOM];
	enum { N = 12 };
	unsigned invented = 0, touched = 0, rounds = tap_cases(100000);

	seed = 2;
	for (unsigned round = 0; round < rounds; round++) {
		struct spe_record made[N], r;
		struct spe_walk w = { .data = data };
		size_t start[N + 1], damaged, expect;

		for (size_t i = 0; i < N; i++) {
			start[i] = w.n;
			w.n += make_record(data + w.n, &made[i]);
		}
		start[N] = w.n;
		damaged = draw(N - 2);
		for (unsigned hits = 1 + (unsigned)draw(4); hits; hits--)
			data[start[damaged] + draw(start[damaged + 1] - start[damaged])] = (uint8_t)
				draw(256);
		expect = damaged + 2;
		while (spe_next(&w, &r)) {
			size_t i = 0;

			while (i < N && made[i].address[SPE_PC] != r.address[SPE_PC])
				i++;
			invented += i == N && r.offset >= start[damaged + 1];
			touched += (i == damaged + 1 || i == damaged + 2) && !same(&r, &made[i]);
			if (i < N && (i < damaged || i > damaged + 2))
				CHECK(same(&r, &made[i]), "round %d, record %zu", round, i);
			expect += i == expect;
		}
		CHECK_EQ(expect, N, "round %d, damaged %zu", round, damaged);
	}
	CHECK(invented * 1000 < rounds && touched * 10 < rounds, "%u, %u", invented, touched);
}

TEST(survives_anything)
{
	static uint8_t data[ROOM];

	seed = 3;
	for (int round = 0; round < (int)tap_cases(20000); round++) {
		struct spe_walk w = { .data = data, .n = draw(600) };
		struct spe_record r;
		size_t last = 0, n = 0;

		for (size_t i = 0; i < w.n; i++)
			data[i] = (uint8_t)draw(256);
		for (; spe_next(&w, &r); n++) {
			CHECK(r.offset >= last && r.offset < w.n, "round %d", round);
			last = r.offset + 1;
		}
		CHECK(w.skipped + w.tail <= w.n, "round %d", round);
	}
}

TEST_MAIN()

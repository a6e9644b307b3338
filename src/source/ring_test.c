/* SPDX-License-Identifier: MIT */
/*
 * A ring in ordinary memory, written like the kernel does: every byte is delivered once, in
 * complete records.
 */
#include "base/error.h"
#include "source/ring.h"
#include "tap.h"

enum { SIZE = 4096 };

static struct perf_event_mmap_page page;
static unsigned char data[SIZE];
static struct ring ring;

static struct ring *fresh(uint64_t at)
{
	memset(&page, 0, sizeof(page));
	page.data_head = page.data_tail = at;
	ring.page = &page;
	ring.data = data;
	ring.size = SIZE;
	return &ring;
}

/* A record of `size` bytes with a body that counts up from `first`. */
static void produce(uint16_t size, uint32_t type, unsigned char first)
{
	unsigned char rec[SIZE];
	struct perf_event_header h = { .type = type, .size = size };

	memcpy(rec, &h, sizeof(h));
	for (size_t i = sizeof(h); i < size; i++)
		rec[i] = (unsigned char)(first + i);
	for (size_t i = 0; i < size; i++)
		data[(page.data_head + i) % SIZE] = rec[i];
	page.data_head += size;
}

struct taken {
	size_t records, bytes, calls;
	uint32_t next_type; /* types count up, to check the order */
	bool good;
	int fail_at; /* this call fails */
};

static int take_records(void *with, const unsigned char *bytes, size_t n, struct tare_error *err)
{
	struct taken *t = with;
	struct perf_event_header h;

	if (t->fail_at && (int)++t->calls == t->fail_at)
		return tare_fail(err, ENOSPC, "full");
	for (size_t at = 0; at < n; at += h.size) {
		memcpy(&h, bytes + at, sizeof(h));
		if (h.size < sizeof(h) || at + h.size > n) {
			t->good = false;
			return 0;
		}
		t->good &= h.type == t->next_type++;
		for (size_t i = sizeof(h); i < h.size; i++)
			t->good &= bytes[at + i] == (unsigned char)(h.type + i);
		t->records++;
	}
	t->bytes += n;
	return 0;
}

TEST(records_come_whole_at_every_place_of_the_ring)
{
	for (uint64_t start = 0; start < SIZE; start += 8)
		for (uint16_t size = 8; size <= 72; size += 16) {
			struct ring *r = fresh(start + SIZE * 3);
			struct taken t = { .good = true };

			for (uint32_t i = 0; i < 10; i++)
				produce(size, i, (unsigned char)i);
			CHECK_EQ(ring_read(r, take_records, &t, NULL), 10 * size);
			CHECK(t.good && t.records == 10 && t.bytes == 10u * size,
			      "start %d size %d: %zu", (int)start, size, t.records);
			CHECK_EQ(page.data_tail, page.data_head);
		}
}

TEST(a_full_ring_and_an_empty_one)
{
	struct ring *r = fresh(40);
	struct taken t = { .good = true };

	CHECK_EQ(ring_read(r, take_records, &t, NULL), 0);
	for (uint32_t i = 0; i < SIZE / 64; i++)
		produce(64, i, (unsigned char)i);
	CHECK_EQ(ring_read(r, take_records, &t, NULL), SIZE);
	CHECK(t.good);
	CHECK_EQ(t.records, SIZE / 64);
	CHECK_EQ(ring_read(r, take_records, &t, NULL), 0);
}

/*
 * An invalid record stops the reading; the kernel gets all its space back, and the valid records
 * before it are delivered.
 */
TEST(a_record_of_an_impossible_size_is_an_error)
{
	static const uint16_t sizes[] = { 0, 4, 9, 48 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ring *r = fresh(0);
		struct taken t = { .good = true };
		struct tare_error err = TARE_ERROR_INIT;
		struct perf_event_header h = { .type = 0, .size = sizes[i] };

		memcpy(data, &h, sizeof(h));
		page.data_head = 40;
		CHECK_EQ(ring_read(r, take_records, &t, &err), -EIO, "size %d", sizes[i]);
		CHECK(strstr(err.what, "record"), "%s", err.what);
		CHECK_EQ(page.data_tail, 40);
	}
}

TEST(what_the_taker_says_is_passed_on)
{
	for (int call = 1; call <= 3; call++) {
		/* before, around and after the end: three calls */
		struct ring *r = fresh(SIZE - 100 + 4);
		struct taken t = { .good = true, .fail_at = call };
		struct tare_error err = TARE_ERROR_INIT;

		page.data_head = page.data_tail = SIZE - 96;
		for (uint32_t i = 0; i < 4; i++)
			produce(64, i, (unsigned char)i);
		CHECK_EQ(ring_read(r, take_records, &t, &err), -ENOSPC, "call %d", call);
	}
}

TEST_MAIN()

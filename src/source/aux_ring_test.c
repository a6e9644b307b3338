/* SPDX-License-Identifier: MIT */
/*
 * An AUX area in ordinary memory, written like hardware and kernel do: every byte is delivered
 * once, in order.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/error.h"
#include "source/aux_ring.h"
#include "source/ring.h"
#include "tap.h"

enum { SIZE = 4096 };

static struct perf_event_mmap_page page;
static unsigned char data[SIZE];
static struct aux_ring ring;
static const struct aux_piece whose = { .index = 3, .tid = -1, .cpu = 5 };

/* The byte at an offset of the stream: it differs between consecutive rounds of the area. */
static unsigned char at(uint64_t offset)
{
	return (unsigned char)(offset * 7 + offset / SIZE);
}

static struct aux_ring *fresh(uint64_t from)
{
	memset(&page, 0, sizeof(page));
	page.aux_head = page.aux_tail = from;
	ring = (struct aux_ring){ &page, data, SIZE };
	return &ring;
}

static void produce(size_t n)
{
	for (size_t i = 0; i < n; i++)
		data[(page.aux_head + i) % SIZE] = at(page.aux_head + i);
	atomic_store_explicit((_Atomic(uint64_t) *)&page.aux_head, page.aux_head + n,
			      memory_order_release);
}

struct taken {
	uint64_t next, calls;
	uint64_t tail_then; /* aux_tail during the callback */
	bool good;
	int says;
};

static int take_piece(void *with, const struct aux_piece *p, struct tare_error *err)
{
	struct taken *t = with;

	(void)err;
	t->calls++;
	t->tail_then = page.aux_tail;
	t->good &= p->offset == t->next && p->index == 3 && p->tid == -1 && p->cpu == 5 &&
		p->part[0].n > 0;
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < p->part[i].n; k++)
			t->good &= p->part[i].bytes[k] == at(t->next++);
	return t->says;
}

TEST(bytes_come_in_order_at_every_place_of_the_area)
{
	static const size_t sizes[] = { 1, 7, 64, SIZE / 2, SIZE - 1, SIZE };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (uint64_t from = 0; from < SIZE; from += 61) {
			uint64_t begin = from + 5 * SIZE;
			struct aux_ring *r = fresh(begin);
			struct taken t = { .next = begin, .good = true };

			CHECK_EQ(aux_ring_read(r, &whose, take_piece, &t, NULL), 0);
			CHECK_EQ(t.calls, 0, "an empty area is not handed over");
			produce(sizes[i]);
			CHECK_EQ(aux_ring_read(r, &whose, take_piece, &t, NULL), (int)sizes[i]);
			CHECK(t.good && t.calls == 1 && t.next == begin + sizes[i],
			      "from %d, %zu bytes", (int)from, sizes[i]);
			CHECK_EQ(t.tail_then, begin, "room is released after the bytes were taken");
			CHECK_EQ(page.aux_tail, page.aux_head);
		}
}

TEST(numbers_that_cannot_be_are_an_error_and_room_is_given_back)
{
	static const uint64_t heads[] = { SIZE + 1, UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct aux_ring *r = fresh(0);
		struct taken t = { .good = true };

		page.aux_head = heads[i];
		CHECK_EQ(aux_ring_read(r, &whose, take_piece, &t, &err), -EIO);
		CHECK(strstr(err.what, "AUX area of 4096 bytes"), "%s", err.what);
		CHECK_EQ(t.calls, 0);
		CHECK_EQ(page.aux_tail, page.aux_head);
	}
}

TEST(what_the_taker_says_is_passed_on)
{
	struct aux_ring *r = fresh(100);
	struct taken t = { .next = 100, .good = true, .says = -ENOSPC };

	produce(8);
	CHECK_EQ(aux_ring_read(r, &whose, take_piece, &t, NULL), -ENOSPC);
	CHECK_EQ(page.aux_tail, 108);
}

/*
 * Another thread writes like hardware does, without overwriting unread data: the order of data,
 * head and tail makes this correct.
 */
enum { STREAM = 4 << 20 };

static void *hardware(void *unused)
{
	uint64_t head = 0;
	size_t step = 1;

	while (head < STREAM) {
		uint64_t tail = atomic_load_explicit((_Atomic(uint64_t) *)&page.aux_tail,
						     memory_order_acquire);
		size_t n = SIZE - (size_t)(head - tail);

		if (!n) {
			sched_yield();
			continue;
		}
		step = step * 5 % 1021 + 1;
		n = n < step ? n : step;
		n = n < STREAM - head ? n : (size_t)(STREAM - head);
		for (size_t i = 0; i < n; i++)
			data[(head + i) % SIZE] = at(head + i);
		head += n;
		atomic_store_explicit((_Atomic(uint64_t) *)&page.aux_head, head,
				      memory_order_release);
	}
	return unused;
}

TEST(a_stream_beside_its_writer_stays_whole)
{
	struct aux_ring *r = fresh(0);
	struct taken t = { .good = true };
	pthread_t writer;
	int64_t sum = 0, got;

	CHECK_EQ(pthread_create(&writer, NULL, hardware, NULL), 0);
	while (sum < STREAM && t.good) {
		got = aux_ring_read(r, &whose, take_piece, &t, NULL);
		if (!CHECK(got >= 0))
			break;
		if (!got)
			sched_yield();
		sum += got;
	}
	if (sum < STREAM)
		_exit(TAP_FAILED); /* the writer would wait forever */
	pthread_join(writer, NULL);
	CHECK(t.good);
	CHECK_EQ(t.next, STREAM);
}

/* The kernel itself: an event without such hardware has no area, which is reported as an error. */
TEST(an_event_without_the_hardware_has_no_area)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct aux_ring a = { 0 };
	static struct ring records;

	if (fd < 0)
		tap_skip("perf", "no perf events here");
	if (ring_map(&records, fd, bytes) < 0)
		tap_skip("mlock", "no memory may be locked here");
	CHECK_EQ(aux_ring_map(&a, records.page, 2 * bytes, fd, 2 * bytes), -EOPNOTSUPP);
	CHECK_EQ(records.page->aux_offset, 2 * bytes);
	CHECK_EQ(records.page->aux_size, 2 * bytes);
	aux_ring_unmap(&a);
	ring_unmap(&records);
	close(fd);
}

TEST_MAIN()

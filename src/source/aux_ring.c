/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include "source/aux_ring.h"

int aux_ring_map(struct aux_ring *a, struct perf_event_mmap_page *page, size_t ring_end, int fd,
		 size_t size)
{
	void *at;

	page->aux_offset = ring_end;
	page->aux_size = size;
	/* Writable: then the kernel never overwrites unread data. */
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)ring_end);
	if (at == MAP_FAILED)
		return -errno;
	*a = (struct aux_ring){ .page = page, .data = at, .size = size };
	return 0;
}

void aux_ring_unmap(struct aux_ring *a)
{
	if (a->page)
		munmap(a->data, a->size);
	a->page = NULL;
}

/* As in perf: it only has to be unique. */
static uint64_t reference(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec ^ (uint64_t)t.tv_nsec;
}

int64_t aux_ring_read(struct aux_ring *a, const struct aux_piece *whose, aux_take *take, void *with,
		      struct tare_error *err)
{
	uint64_t head = atomic_load_explicit((_Atomic(uint64_t) *)&a->page->aux_head,
					     memory_order_acquire);
	uint64_t tail = a->page->aux_tail, n = head - tail;
	size_t from = (size_t)(tail & (a->size - 1)), first = a->size - from;
	struct aux_piece p = *whose;
	int ret;

	if (!n)
		return 0;
	if (n > a->size) {
		ret = tare_fail(err, EIO,
				"the kernel's AUX area of %zu bytes claims to contain %llu",
				a->size, (unsigned long long)n);
	} else {
		p.offset = tail;
		p.reference = reference();
		p.part[0].bytes = a->data + from;
		p.part[0].n = n < first ? (size_t)n : first;
		p.part[1].bytes = a->data;
		p.part[1].n = (size_t)n - p.part[0].n;
		ret = take(with, &p, err);
	}
	atomic_store_explicit((_Atomic(uint64_t) *)&a->page->aux_tail, head, memory_order_release);
	return ret < 0 ? ret : (int64_t)n;
}

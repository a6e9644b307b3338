/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "source/ring.h"

int ring_map(struct ring *r, int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	r->page = at;
	r->data = (unsigned char *)at + page;
	r->size = size;
	r->mapped = page + size;
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->page)
		munmap(r->page, r->mapped);
	r->page = NULL;
}

static uint16_t size_at(const struct ring *r, uint64_t at)
{
	struct perf_event_header h;

	/* The kernel writes records of 8 times n bytes, so a header is never split. */
	memcpy(&h, r->data + (at & (r->size - 1)), sizeof(h));
	return h.size;
}

/* Copy a record that wraps around the end of the data. */
static const unsigned char *unwrap(struct ring *r, uint64_t at, size_t size)
{
	size_t from = at & (r->size - 1), first = r->size - from;

	memcpy(r->wrapped, r->data + from, first);
	memcpy(r->wrapped + first, r->data, size - first);
	return r->wrapped;
}

int64_t ring_read(struct ring *r, ring_take *take, void *with, struct tare_error *err)
{
	uint64_t head = atomic_load_explicit((_Atomic(uint64_t) *)&r->page->data_head,
					     memory_order_acquire);
	uint64_t tail = r->page->data_tail, begin = tail, run = tail;
	int ret = 0;

	while (ret >= 0 && tail != head) {
		uint16_t size = size_at(r, tail);
		size_t left = r->size - (tail & (r->size - 1));

		if (size < sizeof(struct perf_event_header) || size % 8 || size > head - tail) {
			ret = tare_fail(
				err, EIO,
				"the kernel's buffer holds a record of %u bytes where %llu are left",
				size, (unsigned long long)(head - tail));
			tail = head;
			break;
		}
		if (size < left) {
			tail += size;
			continue;
		}
		/* The end of the data: deliver what comes before this record in one piece. */
		if (tail != run)
			ret = take(with, r->data + (run & (r->size - 1)), (size_t)(tail - run),
				   err);
		if (ret >= 0)
			ret = take(with,
				   size > left ? unwrap(r, tail, size)
					       : r->data + (tail & (r->size - 1)),
				   size, err);
		run = tail += size;
	}
	if (ret >= 0 && tail != run)
		ret = take(with, r->data + (run & (r->size - 1)), (size_t)(tail - run), err);
	atomic_store_explicit((_Atomic(uint64_t) *)&r->page->data_tail, tail, memory_order_release);
	return ret < 0 ? ret : (int64_t)(tail - begin);
}

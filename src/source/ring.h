/* SPDX-License-Identifier: MIT */
/*
 * The kernel's ring buffer of records, read. One page of control, then 2^n pages of data:
 *
 *	data_head    the kernel's: bytes ever written; read, then a barrier, then the data
 *	data_tail    ours: bytes ever read; a barrier, then written: room for the kernel
 *
 * A record may begin at the end of the data and go on at its start. Source: linux/perf_event.h,
 * struct perf_event_mmap_page.
 */
#ifndef SOURCE_RING_H
#define SOURCE_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum { RECORD_MOST = 1 << 16 }; /* a record's size is 16 bits */

struct ring {
	struct perf_event_mmap_page *page; /* NULL: closed */
	unsigned char *data;
	size_t size, mapped;
	unsigned char wrapped[RECORD_MOST]; /* the record that goes round the end */
};

/* Whole records, one after the other; a negative errno ends the reading. */
typedef int ring_take(void *with, const unsigned char *records, size_t n, struct tare_error *err);

/* Map `size` bytes of data, a power of two, for the event. -errno of mmap(2); says nothing. */
int ring_map(struct ring *r, int fd, size_t size);
/*
 * Hand over every record that is there and make room for more. Bytes read, or what `take` said;
 * -EIO when the ring holds no records (its bytes are then thrown away).
 */
int64_t ring_read(struct ring *r, ring_take *take, void *with, struct tare_error *err);
void ring_unmap(struct ring *r);

#endif

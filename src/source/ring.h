/* SPDX-License-Identifier: MIT */
/*
 * Reads the kernel's ring buffer of records. One control page, then 2^n pages of data:
 *
 *	data_head    the kernel's: total bytes written; read, then a barrier, then the data
 *	data_tail    ours: total bytes read; a barrier, then written: room for the kernel
 *
 * A record may wrap around the end of the data. Source: linux/perf_event.h, struct
 * perf_event_mmap_page.
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
	unsigned char wrapped[RECORD_MOST]; /* copy of a record that wraps around the end */
};

/* Gets complete records, one after the other; a negative errno stops the reading. */
typedef int ring_take(void *with, const unsigned char *records, size_t n, struct tare_error *err);

/* Map `size` bytes of data, a power of two, for the event. -errno of mmap(2), without a message. */
int ring_map(struct ring *r, int fd, size_t size);
/*
 * Deliver all available records and free their space. Returns the number of bytes, or the error of
 * `take`; -EIO if the ring contains an invalid record (its bytes are then discarded).
 */
int64_t ring_read(struct ring *r, ring_take *take, void *with, struct tare_error *err);
void ring_unmap(struct ring *r);

#endif

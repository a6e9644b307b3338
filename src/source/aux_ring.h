/* SPDX-License-Identifier: MIT */
/*
 * Reads the kernel's AUX area: bytes that the hardware itself writes (Arm's SPE), in addition to
 * the ring of records.
 *
 *	aux_offset, aux_size	ours, written into the ring's control page before the area is mapped
 *	aux_head		the kernel's: total bytes written; read, then a barrier, then the data
 *	aux_tail		ours: total bytes read; a barrier, then written: room for the hardware
 *
 * The bytes are a stream: data that wraps around the end is delivered in two parts. When the area
 * is full the kernel disables the event; the reader must enable it again. Source:
 * linux/perf_event.h, struct perf_event_mmap_page; linux kernel/events/ring_buffer.c,
 * perf_aux_output_begin().
 */
#ifndef SOURCE_AUX_RING_H
#define SOURCE_AUX_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct aux_ring {
	struct perf_event_mmap_page *page; /* of the ring of records next to it; NULL: closed */
	unsigned char *data;
	size_t size; /* a power-of-two number of pages */
};

struct aux_piece {
	struct {
		const unsigned char *bytes;
		size_t n;
	} part[2];          /* the second part: from the start of the area, or empty */
	uint64_t offset;    /* in the whole stream, as counted by the kernel's AUX records */
	uint64_t reference; /* unique */
	uint32_t index;     /* of the area */
	int32_t tid, cpu;   /* of the thread or CPU it belongs to; -1: any */
};

typedef int aux_take(void *with, const struct aux_piece *piece, struct tare_error *err);

/*
 * Map `size` bytes after the ring of `page`, which ends at `ring_end`, for an event that writes
 * into that ring. -errno of mmap(2), without a message.
 */
int aux_ring_map(struct aux_ring *a, struct perf_event_mmap_page *page, size_t ring_end, int fd,
		 size_t size);
/*
 * Deliver the available data as one piece; `whose` has its index, tid and cpu. Returns the number
 * of bytes, the error of `take`, or -EIO if the kernel's numbers are invalid (the area is then
 * emptied).
 */
int64_t aux_ring_read(struct aux_ring *a, const struct aux_piece *whose, aux_take *take, void *with,
		      struct tare_error *err);
void aux_ring_unmap(struct aux_ring *a);

#endif

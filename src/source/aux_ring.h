/* SPDX-License-Identifier: MIT */
/*
 * The kernel's AUX area, read: bytes that the hardware itself writes (Arm's SPE), beside the ring of records.
 *
 *	aux_offset, aux_size	ours, written into the ring's page of control before the area is mapped
 *	aux_head		the kernel's: bytes ever written; read, then a barrier, then the data
 *	aux_tail		ours: bytes ever read; a barrier, then written: room for the hardware
 *
 * The bytes are a stream: what goes round the end comes as two parts. When the area is full the kernel disables the
 * event; who has read must enable it again. Source: linux/perf_event.h, struct perf_event_mmap_page; linux
 * kernel/events/ring_buffer.c, perf_aux_output_begin().
 */
#ifndef SOURCE_AUX_RING_H
#define SOURCE_AUX_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct aux_ring {
	struct perf_event_mmap_page *page; /* of the ring of records beside it; NULL: closed */
	unsigned char *data;
	size_t size; /* a power of two of pages */
};

struct aux_piece {
	struct {
		const unsigned char *bytes;
		size_t n;
	} part[2];	    /* the second one: from the start of the area, or none */
	uint64_t offset;    /* in all that this area ever held, as the kernel's AUX records count */
	uint64_t reference; /* not the same for any two */
	uint32_t index;	    /* of the area */
	int32_t tid, cpu;   /* whose it is; -1: anybody's */
};

typedef int aux_take(void *with, const struct aux_piece *piece, struct tare_error *err);

/*
 * Map `size` bytes beside the ring of `page`, whose data end at `ring_end`, for an event that writes into that ring.
 * -errno of mmap(2); says nothing.
 */
int aux_ring_map(struct aux_ring *a, struct perf_event_mmap_page *page, size_t ring_end, int fd, size_t size);
/*
 * Hand over what is there, as one piece; `whose` has its index, tid and cpu. Bytes, what `take` said, or -EIO when
 * the kernel's numbers cannot be (the area is then emptied).
 */
int64_t aux_ring_read(struct aux_ring *a, const struct aux_piece *whose, aux_take *take, void *with, struct tare_error *err);
void aux_ring_unmap(struct aux_ring *a);

#endif

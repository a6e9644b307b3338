/* SPDX-License-Identifier: MIT */
/*
 * What is missing from a recording, found before anything of it is shown: blocks of points whose
 * sum is wrong, blocks that others say were there, and the end of a file that is shorter than what
 * was written. One of a killed program lacks nothing of that.
 */
#include <stdlib.h>
#include <unistd.h>
#include "record/timeline_tare.h"

static bool whole(const struct tare_timeline *t, const struct tare_block *b, uint8_t *data)
{
	struct block_head h;

	if (!b->sealed)
		return true;
	return !b->cut && pread(t->fd, &h, sizeof(h), (off_t)b->offset) == (ssize_t)sizeof(h) &&
	       pread(t->fd, data, b->used, (off_t)(b->offset + sizeof(h))) == (ssize_t)b->used &&
	       format_block_sum(&h, data) == h.sum;
}

static bool begun_anew(const struct tare_timeline *t, const struct tare_block *b)
{
	for (size_t i = 0; i < t->n_between; i++)
		if (t->between[i].process == b->process && t->between[i].thread == b->thread)
			return true;
	return false;
}

/* One thread's, in order. Copies of a block have the same number, and one that is whole is enough.
 */
static void check_thread(struct tare_timeline *t, size_t thread, uint8_t *data)
{
	struct tare_block *b = &t->block[t->span[thread].first], *end = b + t->span[thread].n,
			  *good = NULL;
	struct timeline_thread *of = &t->threads[thread];
	uint64_t next = 0, at = 0, place = b->offset;
	bool in_place = false;

	for (const struct tare_block *x = b; x < end; x++)
		place = x->offset < place ? x->offset : place;
	while (b < end) {
		struct tare_block *first = b;

		good = NULL;
		in_place = false;
		for (; b < end && b->seq == first->seq; b++) {
			b->bad = !whole(t, b, data);
			if (!b->bad && !good)
				good = b;
			/* The one that the thread writes into was there before all others. */
			in_place |= b->offset == place;
		}
		/* Where the writer could not write it, it says how much was lost. */
		if (first->seq != next && !first->lost) {
			tare_damage(
			    t,
			    "%llu blocks of thread %u are missing before its block at offset %llu",
			    (unsigned long long)(first->seq - next), first->tid,
			    (unsigned long long)first->offset);
			of->complete = false;
		}
		if (!good)
			tare_damage(t, "the block of thread %u at offset %llu is %s", first->tid,
				    (unsigned long long)first->offset,
				    first->cut ? "cut off" : "damaged");
		else if (good->cut)
			tare_damage(t, "the file ends within the block of thread %u at offset %llu",
				    first->tid, (unsigned long long)first->offset);
		if (!good || good->cut)
			of->complete = false;
		next = first->seq + 1;
		at = first->offset;
	}
	if (good && !in_place && good->sealed && !(good->flags & BLOCK_LAST) &&
	    t->process[good->process].ended && !begun_anew(t, good)) {
		tare_damage(
		    t, "the last block of thread %u is missing, after its block at offset %llu",
		    good->tid, (unsigned long long)at);
		of->complete = false;
	}
}

/* What was in flight when a program was killed, or stopped recording under its threads: a block of
 * each that goes on, and one of labels or a new thread's. */
static uint64_t in_flight(const struct tare_timeline *t)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < t->n_processes; i++)
		blocks += t->process[i].known && !t->process[i].ended;
	for (size_t i = 0; i < t->base.info.n_threads; i++)
		blocks += !(t->block[t->span[i].first + t->span[i].n - 1].flags & BLOCK_LAST);
	return blocks * BLOCK_BYTES;
}

static void check_size(struct tare_timeline *t, const struct file_head *head)
{
	/* As long as it is now: the head was read before that. The last block need not fill its
	 * last page. */
	off_t now = lseek(t->fd, 0, SEEK_END);
	uint64_t size = now > 0 ? ((uint64_t)now + FILE_PAGE - 1) & -(uint64_t)FILE_PAGE : 0;

	if (head->next <= size || t->lost_errno || head->lost_errno)
		return;
	for (size_t i = 0; i < t->n_blocks; i++)
		if (t->block[i].lost)
			return; /* space was taken that the disk did not have */
	if (head->next - size <= in_flight(t))
		return;
	tare_damage(t, "the file ends at offset %llu, and was written up to %llu",
		    (unsigned long long)t->size, (unsigned long long)head->next);
	/* Whose the rest was, nobody can say. */
	for (size_t i = 0; i < t->base.info.n_threads; i++)
		t->threads[i].complete = false;
}

int tare_check_blocks(struct tare_timeline *t, const struct file_head *head)
{
	uint8_t *data = malloc(BLOCK_BYTES);

	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < t->base.info.n_threads; i++)
		check_thread(t, i, data);
	for (size_t i = 0; i < t->n_processes; i++)
		if (t->process[i].label_gap)
			tare_damage(t, "blocks of labels of process %u are missing",
				    t->process[i].pid);
	check_size(t, head);
	free(data);
	return 0;
}

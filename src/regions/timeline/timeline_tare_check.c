/* SPDX-License-Identifier: MIT */
/*
 * Find the missing parts of a recording before anything of it is shown: blocks of points with a
 * wrong checksum, blocks that other blocks refer to, and the end of a truncated file. A recording
 * of a killed program is complete in this sense, unless the program was killed while it allocated
 * space: then it is not known whether the space contained points.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "regions/timeline/timeline_tare.h"

/*
 * The maximum number of points that begin at `last` or before. Also returns the beginning of the
 * last one.
 */
static size_t count(const struct tare_timeline *t, struct tare_block *b, const uint8_t *data,
		    size_t last)
{
	size_t at = 0, before = 0;
	struct format_point point;

	b->points = 0;
	for (size_t n; at <= last &&
	     (n = format_point(data + at, data + b->used, t->first.n_counters, &point));
	     at += n) {
		b->points += point.op != OP_MISSING;
		before = at;
	}
	/*
	 * A block that is being written ends at its last record, and may grow before it is read
	 * again.
	 */
	if (!b->sealed)
		b->used = (uint32_t)at;
	return before;
}

/* *moved: it was written elsewhere since the file was opened. */
static bool whole(struct tare_timeline *t, struct tare_block *b, uint8_t *data, bool *moved)
{
	const struct tare_process *p = &t->process[b->process];
	struct block_head h;
	uint64_t place = b->offset;
	bool there = !(b->sealed && b->cut) && tare_block_fetch(t, b, &h, data);

	if (there && !b->sealed && !p->ended && p->now != TARE_GONE) {
		/* The last point may have been incomplete; it is complete a moment later. */
		uint32_t room = b->used;
		size_t last = count(t, b, data, room);

		b->used = room;
		b->points = NOT_COUNTED;
		there = tare_block_fetch(t, b, &h, data);
		if (there)
			count(t, b, data, b->sealed ? b->used : last);
	} else if (there && b->points == NOT_COUNTED) {
		count(t, b, data, b->used);
	}
	*moved |= place != b->offset;
	return there;
}

/* By process and thread; the blocks that were not the last of their thread come first. */
static int by_thread(const void *pa, const void *pb)
{
	const struct tare_between *a = pa, *b = pb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->last - b->last;
}

/* The first entry for the block's thread, or NULL. */
static const struct tare_between *between_of(const struct tare_timeline *t,
					     const struct tare_block *b)
{
	const struct tare_between key = { .process = b->process, .thread = b->thread };
	size_t low = 0, high = t->n_between;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_thread(&t->between[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->n_between && t->between[low].process == b->process &&
			t->between[low].thread == b->thread
		? &t->between[low]
		: NULL;
}

static bool begun_anew(const struct tare_timeline *t, const struct tare_block *b)
{
	const struct tare_between *found = between_of(t, b);

	return found && !found->last;
}

/*
 * For each block, in order of processes and threads: the lowest offset of this and the later blocks
 * of its process.
 */
static uint64_t *places_behind(const struct tare_timeline *t)
{
	uint64_t *least = malloc((t->n_blocks + 1) * sizeof(*least));

	for (size_t i = t->n_blocks; least && i--;) {
		bool more = i + 1 < t->n_blocks && t->block[i + 1].process == t->block[i].process;

		least[i] = more && least[i + 1] < t->block[i].offset ? least[i + 1]
								     : t->block[i].offset;
	}
	return least;
}

/*
 * Is a thread's only block the one that it writes to, and not a copy from an ended thread that
 * continued in no block or in one that now belongs to another thread? Space is allocated in the
 * order of threads, and before copies. At the end of a recording, unused blocks are removed.
 */
static bool never_moved(const struct tare_timeline *t, size_t thread, const struct tare_block *b,
			const uint64_t *behind)
{
	size_t next = t->span[thread].first + t->span[thread].n;

	if (t->process[b->process].ended || between_of(t, b))
		return false;
	return next == t->n_blocks || t->block[next].process != b->process ||
		behind[next] > b->offset;
}

static uint64_t pages_of(const struct tare_block *b)
{
	return (sizeof(struct block_head) + b->used + FILE_PAGE - 1) & -(uint64_t)FILE_PAGE;
}

/*
 * Check the blocks of one thread, in order. Copies of a block have the same number, and one
 * complete copy is enough. Adds to *copying the size of a copy that was being written, because its
 * block exists.
 */
static void check_thread(struct tare_timeline *t, size_t thread, uint8_t *data,
			 const uint64_t *behind, uint64_t *copying)
{
	struct tare_block *b = &t->block[t->span[thread].first], *end = b + t->span[thread].n,
			  *good = NULL;
	struct timeline_thread *of = &t->threads[thread];
	uint64_t next = 0, at = 0, place = b->offset;
	/* up to the end of the last good block; number of the block after it */
	uint64_t points = 0, at_end = 0;
	bool in_place = false, moved = false;
	unsigned copies = 0; /* of the last block, not truncated */

	for (const struct tare_block *x = b; x < end; x++)
		place = x->offset < place ? x->offset : place;
	while (b < end) {
		struct tare_block *first = b;

		good = NULL;
		in_place = false;
		copies = 0;
		for (; b < end && b->seq == first->seq; b++) {
			/* The block that the thread writes to precedes all others. */
			in_place |= b->offset == place;
			b->bad = !whole(t, b, data, &moved);
			copies += !b->cut;
			if (!b->bad && !good)
				good = b;
		}
		/* The writer counted the points that it could not write. */
		if (first->seq != next && !first->lost) {
			bool one = first->seq - next == 1;
			char lost[40] = "";

			if (next == at_end && first->first > points)
				snprintf(lost, sizeof(lost), ", with %llu points",
					 (unsigned long long)(first->first - points));
			tare_damage(
				t,
				"%llu block%s of thread %u %s missing before its block at offset %llu%s",
				(unsigned long long)(first->seq - next), one ? "" : "s", first->tid,
				one ? "is" : "are", (unsigned long long)first->offset, lost);
			of->complete = false;
		}
		if (first->lost)
			tare_damage(
				t,
				"%llu points of thread %u could not be written before its block at offset %llu",
				(unsigned long long)first->lost, first->tid,
				(unsigned long long)first->offset);
		if (!good) {
			char lost[40] = "";

			if (first->points != NOT_COUNTED)
				snprintf(lost, sizeof(lost), ", with %llu points",
					 (unsigned long long)first->points);
			tare_damage(t, "the block of thread %u at offset %llu is %s%s", first->tid,
				    (unsigned long long)first->offset,
				    first->cut ? "truncated" : "damaged", lost);
		} else {
			/* The blocks that should precede it were overwritten, or never written. */
			of->lost += good->first > points ? good->first - points : 0;
			of->points += good->points;
			points = good->first + good->points;
			at_end = good->seq + 1;
		}
		t->base.info.lost_unknown |= good && good->cut;
		if (good && good->cut)
			tare_damage(t, "the file ends within the block of thread %u at offset %llu",
				    first->tid, (unsigned long long)first->offset);
		if (!good || good->cut)
			of->complete = false;
		next = first->seq + 1;
		at = first->offset;
	}
	t->changed |= moved;
	of->goes_on |= moved && !of->complete; /* or it did when the file was opened */
	of->end_unknown &= !moved;
	/*
	 * The last block cannot be read. Its head has the number of points of all missing blocks.
	 */
	b = end - 1;
	if (!good && b->points != NOT_COUNTED && b->first >= points)
		of->lost += b->first - points + b->points;
	if (!good || !good->sealed || good->flags & BLOCK_LAST || begun_anew(t, good))
		return;
	if (in_place && copies == 1 && (good->seq || never_moved(t, thread, good, behind))) {
		*copying += pages_of(good);
	} else if (!in_place && t->process[good->process].ended) {
		tare_damage(
			t, "the last block of thread %u is missing, after its block at offset %llu",
			good->tid, (unsigned long long)at);
		of->complete = false;
	}
}

static bool ended_here(const struct tare_timeline *t, size_t thread)
{
	return t->block[t->span[thread].first + t->span[thread].n - 1].flags & BLOCK_LAST;
}

/*
 * The maximum size in flight when a program was killed, or stopped recording while threads ran: one
 * block per thread that continues, and one for labels or a new thread.
 */
static uint64_t in_flight(const struct tare_timeline *t)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < t->n_processes; i++)
		blocks += t->process[i].known && !t->process[i].ended;
	for (size_t i = 0; i < t->base.info.n_threads; i++)
		blocks += !ended_here(t, i);
	return blocks * BLOCK_BYTES;
}

/* Older files do not count failed allocations. There, missing data may be due to them. */
static bool was_full(const struct tare_timeline *t, const struct file_head *head)
{
	if (head->unfilled & 1)
		return false;
	for (size_t i = 0; i < t->n_blocks; i++)
		if (t->block[i].lost)
			return true;
	return t->lost_errno || head->lost_errno;
}

/*
 * Report processes and threads that began but have no data: pages that read as 0 were never filled,
 * or are damaged.
 */
static void check_begun(struct tare_timeline *t, const struct file_head *head)
{
	static const char why[] =
		"the file has no points: the program was killed at its start, is just starting, or the file is damaged";
	size_t known = 0, block = 0, between = 0;
	bool live = t->changed;

	if (was_full(t, head))
		return;
	for (uint32_t i = 0; i < t->n_processes; i++) {
		const struct tare_process *p = &t->process[i];
		uint32_t threads = 0, last = UINT32_MAX;

		/* this: had no point yet */
		known += p->known || p->left_out || p->has_blocks || p->beginning;
		live |= p->now >= TARE_GOES_ON;
		for (;;) {
			bool b = block < t->n_blocks && t->block[block].process <= i;
			bool w = between < t->n_between && t->between[between].process <= i;
			uint32_t thread;

			if (!b && !w)
				break;
			b = b && (!w || t->block[block].thread <= t->between[between].thread);
			thread = b ? t->block[block].thread : t->between[between].thread;
			threads += thread != last &&
				(b ? t->block[block].process : t->between[between].process) == i;
			last = thread;
			*(b ? &block : &between) += 1;
		}
		/* A label is written before its first point, unless it could not be written. */
		t->process[i].label_gap |= p->known && threads && !p->inherited &&
			!p->label_blocks && (p->labels || !p->lost_labels);
		/* A process that is just beginning has no data yet. */
		if (p->threads <= threads || p->now >= TARE_GOES_ON)
			continue;
		t->look_again |= p->now == TARE_NOT_KNOWN;
		tare_damage(t, "of %u thread%s of process %u %s", p->threads - threads,
			    p->threads - threads > 1 ? "s" : "", p->pid, why);
		t->base.info.lost_unknown = true;
	}
	for (uint32_t i = 0; i < t->n_processes && !live; i++) {
		if (t->process[i].known || t->process[i].left_out || !t->process[i].has_blocks)
			continue;
		t->look_again = true;
		tare_damage(
			t,
			"the block with the counters of process %u is missing or damaged: its points are in the file, but cannot be read",
			t->process[i].pid);
		t->base.info.lost_unknown = true;
	}
	if (head->processes > known && !live) {
		size_t n = head->processes - known;

		t->look_again = true;
		tare_damage(t, "of %zu process%s %s", n, n > 1 ? "es" : "", why);
		t->base.info.lost_unknown = true;
	}
}

/* copying: the size of incomplete copies of existing blocks, which may be the missing part. */
static void check_size(struct tare_timeline *t, const struct file_head *head, uint64_t copying)
{
	/*
	 * The current size, because the head was read before. The last block need not fill its last
	 * page.
	 */
	uint64_t size = (tare_size(t) + FILE_PAGE - 1) & -(uint64_t)FILE_PAGE;

	for (size_t i = 0; i < t->n_processes; i++)
		if (t->process[i].now >= TARE_GOES_ON)
			return; /* it is being written */
	if (head->next <= size || head->next - size <= copying + (head->unfilled & ~(uint64_t)1) ||
	    was_full(t, head))
		return;
	t->look_again = true; /* also for a process that is just beginning */
	if (head->next - size <= in_flight(t))
		tare_damage(
			t,
			"the file ends at offset %llu, %llu bytes before the end of the space allocated for it: they were not written yet when "
			"the program was killed, or are cut off",
			(unsigned long long)t->size, (unsigned long long)(head->next - size));
	else
		tare_damage(t, "the file ends at offset %llu, and was written up to %llu",
			    (unsigned long long)t->size, (unsigned long long)head->next);
	t->base.info.lost_unknown = true;
	/*
	 * It is not known which threads the rest belongs to, except that it is none with an intact
	 * last block.
	 */
	for (size_t i = 0; i < t->base.info.n_threads; i++)
		t->threads[i].complete &= ended_here(t, i);
}

int tare_check_threads(struct tare_timeline *t, uint64_t *copying)
{
	uint8_t *data = malloc(BLOCK_BYTES);
	uint64_t *behind = places_behind(t);

	if (!data || !behind) {
		free(data);
		free(behind);
		return -ENOMEM;
	}
	if (t->n_between)
		qsort(t->between, t->n_between, sizeof(*t->between), by_thread);
	for (size_t i = 0; i < t->base.info.n_threads; i++)
		check_thread(t, i, data, behind, copying);
	free(behind);
	free(data);
	return 0;
}

void tare_check_whole(struct tare_timeline *t, const struct file_head *head, uint64_t copying)
{
	check_begun(t, head);
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct tare_process *p = &t->process[i];

		if (p->label_gap)
			tare_damage(t, "blocks of labels of process %u are missing", p->pid);
		else if (p->labels > p->found)
			tare_damage(t, "the names of %u label%s of process %u are missing",
				    p->labels - p->found, p->labels - p->found > 1 ? "s" : "",
				    p->pid);
	}
	check_size(t, head, copying);
}

/* SPDX-License-Identifier: MIT */
/*
 * A program that generates and discards code forever must not fill the cache. When most translated
 * code is dead, or a table is full, a new generation starts. Nothing is linked to the old code any
 * more, so each thread leaves it at its next branch; what it executes is translated again, into the
 * other half of the tables. The old code is kept until every thread has entered the engine since,
 * or waits in a system call, from which it returns through the buckets, which were emptied.
 */
#include <asm/unistd.h>
#include <linux/mman.h>
#include "exact/engine/engine.h"

enum { DEAD_MIN = 1 << 15, LOOK_EVERY = 32, WAIT_ROUNDS = 10000 };

static void retire(void)
{
	for (uint32_t i = eng.first_edge; i < eng.n_edges; i++)
		if (eng.edges[i].site)
			set_rel32(eng.edges[i].site, eng.edges[i].stub);
	for (uint32_t i = eng.first_block; i < eng.n_blocks; i++)
		if (!(eng.blocks[i].flags & B_ONCE))
			block_dead(&eng.blocks[i]);
	pages_without_code();
	if (eng.mode & COUNT_EVERY)
		memset(eng.parts, 0, sizeof eng.parts);
	cache_begin();
	eng.retiring = true;
}

/* Has the thread, if it shares this memory, left the old code? */
static bool is_out(const struct thread *t)
{
	return t->space != eng.space || !t->generation || t->generation == eng.generation ||
		t->in_call;
}

static void give_up(void *start, size_t size)
{
	sys(__NR_madvise, start, size, MADV_DONTNEED);
}

/* Free the previous generation, if no thread is inside. */
static bool release(void)
{
	uint32_t old = eng.generation & 1; /* the half that is not used */

	for (uint32_t i = 0; i < shared_threads(eng.shared); i++)
		if (eng.shared->thread_states[i] == THREAD_LIVE && !is_out(thread_at(i)))
			return false;
	for (uint32_t i = 0; i < eng.n_arenas; i++) {
		struct arena *a = &eng.arenas[i];

		if (a->generation == eng.generation)
			continue;
		give_up(a->blocks, a->n_blocks * sizeof *a->blocks);
		sys(__NR_madvise, a->start, a->end - a->start,
		    eng.alias ? MADV_REMOVE : MADV_DONTNEED);
		a->hot = a->start;
		a->cold = a->end;
		a->n_blocks = 0;
		a->generation = 0;
	}
	give_up(eng.blocks + old * BLOCKS_HALF, BLOCKS_HALF * sizeof *eng.blocks);
	give_up(eng.edges + old * EDGES_HALF, EDGES_HALF * sizeof *eng.edges);
	give_up(eng.map_pool + old * MAP_HALF, MAP_HALF);
	eng.retiring = false;
	return true;
}

/*
 * In a forked child, which is single-threaded: the code is in memory shared with the parent, so do
 * not modify it; abandon all of it.
 */
void retire_all(void)
{
	for (uint32_t i = eng.first_block; i < eng.n_blocks; i++)
		if (!(eng.blocks[i].flags & B_ONCE))
			block_dead(&eng.blocks[i]);
	pages_without_code();
	for (uint32_t i = 0; i < eng.n_arenas; i++) {
		struct arena *a = &eng.arenas[i];

		sys(__NR_munmap, runs_at(a->start), a->end - a->start);
		sys(__NR_munmap, a->start, a->end - a->start);
		own_remove(runs_at(a->start));
		own_remove((uint64_t)a->start);
		limits_mapped(-2 * (int64_t)(a->end - a->start), 0);
		unreserve(a->blocks, ARENA_SIZE / 16 * sizeof *a->blocks);
	}
	eng.n_arenas = 0;
	cache_begin();
	release();
}

/* Needs the lock, and releases it temporarily. */
static void wait_for_others(void)
{
	for (int i = 0; i < WAIT_ROUNDS && !release(); i++) {
		unlock();
		sys(__NR_sched_yield);
		lock();
		if (!eng.retiring)
			return;
	}
}

/*
 * The thread has left translated code, and holds the lock: it no longer executes code that was
 * translated before.
 */
void retire_check(struct thread *t)
{
	static uint32_t looks;

	t->generation = eng.generation;
	t->in_call = 0;
	if (eng.retiring && looks++ % LOOK_EVERY == 0)
		release();
	if (cache_full()) {
		if (eng.retiring)
			wait_for_others();
	} else if (eng.dead_blocks < DEAD_MIN ||
		   eng.dead_blocks * 2 < eng.n_blocks - eng.first_block) {
		return;
	}
	if (eng.retiring)
		return;
	retire();
	t->generation = eng.generation;
}

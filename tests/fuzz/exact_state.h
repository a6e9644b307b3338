/* SPDX-License-Identifier: MIT */
/*
 * The exact engine's shared state as a command may leave it: a valid empty one, then bytes from the
 * input at offsets from the input. The input is a list of writes:
 *
 *	u8   which part: index in parts[]
 *	u16  which element of it
 *	u16  the offset in the element, in units of 4 bytes
 *	u8   n: the number of bytes
 *	u8[n]
 */
#ifndef EXACT_STATE_H
#define EXACT_STATE_H

#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "exact/supervisor.h"
#include "exact/thread.h"

static const struct part {
	uint64_t at, stride, n;
} parts[] = {
	{ 0, sizeof(struct shared_state), 1 },
	{ SHARED_PROCESSES, sizeof(struct process), PROCESSES },
	{ SHARED_THREADS, THREAD_STRIDE, THREADS },
	{ SHARED_THREADS + SAMPLE_RING, THREAD_STRIDE, THREADS },
	{ SHARED_THREADS + SAMPLE_BYTES, THREAD_STRIDE, THREADS },
	{ SHARED_THREADS + THREAD_COUNTERS, THREAD_STRIDE, THREADS },
	{ SHARED_BLOCKS, LINEAGE_STRIDE, LINEAGES },
	{ SHARED_BLOCKS + LINEAGE_KINDS, LINEAGE_STRIDE, LINEAGES },
	{ SHARED_BLOCKS + LINEAGE_SUMS, LINEAGE_STRIDE, LINEAGES },
	{ SHARED_PAST, sizeof(struct past), PAST_MAX },
	{ SHARED_ENDED, sizeof(struct ended_thread), ENDED_MAX },
	{ SHARED_MODULES, sizeof(struct module), MODULES_MAX },
	{ SHARED_MAPPINGS, sizeof(struct mapping), MAPPINGS_MAX },
	{ SHARED_CODE, sizeof(struct code_sum), CODE_MAX },
	{ SHARED_HAPPENINGS, sizeof(struct happening), HAPPENINGS_MAX },
	/* the words that most checks are about */
	{ offsetof(struct shared_state, threads_top), 4, 1 },
	{ offsetof(struct shared_state, n_past), 4, 1 },
	{ offsetof(struct shared_state, not_past), 4, 1 },
	{ offsetof(struct shared_state, n_modules), 4, 1 },
	{ offsetof(struct shared_state, n_happenings), 4, 1 },
	{ offsetof(struct shared_state, thread_states), 4, THREADS },
	{ offsetof(struct shared_state, lineage_top), 4, LINEAGES },
};

static int state_fd = -1;
static struct shared_state *state;

/* An empty state: as after the launch. */
static void state_reset(void)
{
	if (state_fd < 0) {
		state_fd = memfd_create("state", MFD_CLOEXEC);
		must(state_fd >= 0 && ftruncate(state_fd, SHARED_SIZE) == 0);
		state = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			     state_fd, 0);
		must(state != MAP_FAILED);
	}
	must(ftruncate(state_fd, 0) == 0 && ftruncate(state_fd, SHARED_SIZE) == 0);
	state->magic = state->magic_behind = SHARED_MAGIC;
	state->not_past = ~0u;
	for (uint32_t i = 0; i < 4; i++) {
		struct thread *t = (struct thread *)shared_thread(state, i);

		t->not_process = ~t->process;
	}
}

/* Lists are short, so that an input takes milliseconds. Lengths beyond the lists stay. */
static void state_bound(void)
{
	const struct {
		volatile uint32_t *n;
		uint32_t most;
	} lists[] = {
		{ &state->threads_top, THREADS },   { &state->processes_top, PROCESSES },
		{ &state->n_past, PAST_MAX },       { &state->n_ended, ENDED_MAX },
		{ &state->n_modules, MODULES_MAX }, { &state->n_mappings, MAPPINGS_MAX },
		{ &state->n_code, CODE_MAX },       { &state->n_happenings, HAPPENINGS_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (*lists[i].n <= lists[i].most)
			*lists[i].n %= 16;
}

static void state_write(const uint8_t *bytes, size_t n)
{
	const uint8_t *end = bytes + n;

	while (end - bytes >= 6) {
		const struct part *p = &parts[bytes[0] % ARRAY_SIZE(parts)];
		uint64_t element = (bytes[1] | (uint64_t)bytes[2] << 8) % p->n,
			 at = p->at + element * p->stride +
			(bytes[3] | (uint64_t)bytes[4] << 8) * 4 % p->stride;
		size_t size = bytes[5];

		bytes += 6;
		if (size > (size_t)(end - bytes))
			size = (size_t)(end - bytes);
		if (size > SHARED_SIZE - at)
			size = SHARED_SIZE - at;
		memcpy((uint8_t *)state + at, bytes, size);
		bytes += size;
	}
	state_bound();
}

#endif

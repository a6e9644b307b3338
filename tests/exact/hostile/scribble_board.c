/* SPDX-License-Identifier: MIT */
/*
 * scribble_board WHERE SEED FIELD: overwrites the shared state of the exact engine
 * (src/exact/shared_state.h), depending on the seed: one of the fields below, or, after the last of
 * them, random places. WHERE is 1 for the shared state, and 0 for memory of its own: then nothing
 * breaks, and the same number of instructions is executed. `scribble_board` alone lists the fields:
 * a name, and whether counts stay correct, or are refused, after any write.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "exact/shared_state.h"
#include "exact/thread.h"

#define SHARED_PLACE 0x559000000000 /* supervisor.h, shared_places */

#define HEAD(f, safe)                                                                              \
	{                                                                                          \
		"board." #f, offsetof(struct shared_state, f),                                     \
			sizeof(((struct shared_state *)0)->f), safe                                \
	}
#define AT(place, type, f, safe)                                                                   \
	{                                                                                          \
#type "." #f, place + offsetof(struct type, f), sizeof(((struct type *)0)->f),     \
			safe                                                                       \
	}
#define RING   (SHARED_THREADS + SAMPLE_RING)
#define RECORD (SHARED_THREADS + SAMPLE_BYTES)
#define DRAFT  (SHARED_THREADS + SAMPLE_DRAFT)

static const struct field {
	const char *name;
	uint64_t at, size;
	int safe;
} fields[] = {
	HEAD(magic, 1),
	HEAD(magic_behind, 1),
	HEAD(bell, 1),
	HEAD(supervisor, 0),
	HEAD(shared_fd, 1),
	HEAD(command, 0),
	HEAD(gone, 0),
	HEAD(threads_top, 0),
	HEAD(processes_top, 0),
	HEAD(changes, 1),
	HEAD(n_past, 1),
	HEAD(not_past, 1),
	HEAD(n_ended, 1),
	HEAD(births, 1),
	HEAD(serials, 1),
	HEAD(past_overflow, 1),
	HEAD(past_overflow_check, 1),
	HEAD(n_modules, 1),
	HEAD(n_mappings, 1),
	HEAD(n_code, 1),
	HEAD(n_filters, 1),
	HEAD(stops_sent, 1),
	HEAD(unplaced, 1),
	HEAD(every, 0),
	HEAD(every.n_events, 0),
	HEAD(every.event[0].n, 0),
	HEAD(every.event[0].class, 0),
	HEAD(every.n_peek, 0),
	HEAD(every.counts, 0),
	HEAD(every.registers, 0),
	HEAD(n_happenings, 1),
	HEAD(reason, 1),
	HEAD(compared, 1),
	HEAD(n_uncounted, 1),
	HEAD(uncounted, 1),
	HEAD(gainer, 1),
	HEAD(thread_states, 0),
	HEAD(lineage_top[0], 0),
	HEAD(lineage_top, 0),
	HEAD(lineage_kinds[0], 0),
	HEAD(lineage_users, 0),
	AT(SHARED_PROCESSES, process, state, 0),
	AT(SHARED_PROCESSES, process, pid, 0),
	AT(SHARED_PROCESSES, process, serial, 1),
	AT(SHARED_PROCESSES, process, name, 1),
	AT(SHARED_PROCESSES, process, parent, 1),
	AT(SHARED_PROCESSES, process, lineage, 0),
	AT(SHARED_PROCESSES, process, threads, 0),
	AT(SHARED_PROCESSES, process, refused, 0),
	AT(SHARED_PROCESSES, process, reason, 1),
	AT(SHARED_PROCESSES, process, program, 1),
	AT(SHARED_PROCESSES, process, done, 1),
	AT(SHARED_PROCESSES, process, done_check, 1),
	AT(SHARED_PROCESSES, process, question, 0),
	AT(SHARED_PROCESSES, process, dying, 0),
	AT(SHARED_PROCESSES, process, ending, 0),
	AT(SHARED_THREADS, thread, process, 0),
	AT(SHARED_THREADS, thread, not_process, 0),
	AT(SHARED_THREADS, thread, settled, 1),
	AT(SHARED_THREADS, thread, settled_check, 1),
	AT(SHARED_THREADS, thread, born, 0),
	AT(SHARED_THREADS, thread, tid, 0),
	AT(SHARED_THREADS, thread, stable_id, 1),
	AT(SHARED_THREADS, thread, left, 0),
	AT(SHARED_THREADS, thread, sampler, 0),
	AT(RING, sample_ring, head, 0),
	AT(RING, sample_ring, tail, 0),
	AT(RING, sample_ring, moved, 0),
	AT(RING, sample_ring, since, 0),
	AT(RECORD, sample_record, size, 0),
	AT(RECORD, sample_record, has, 0),
	AT(RECORD, sample_record, serial, 0),
	AT(RECORD, sample_record, born, 0),
	AT(RECORD, sample_record, number, 0),
	AT(RECORD, sample_record, chain, 0),
	AT(RECORD, sample_record, stack, 0),
	AT(RECORD, sample_record, event, 0),
	AT(RECORD, sample_record, adds, 0),
	AT(DRAFT, sample_record, size, 0),
	AT(DRAFT, sample_record, chain, 0),
	AT(DRAFT, sample_record, stack, 0),
	{ "records", RECORD, 4096, 0 },
	{ "counters", SHARED_THREADS + THREAD_COUNTERS, 4096, 0 },
	{ "facts", SHARED_BLOCKS, 4096, 0 },
	{ "kinds", SHARED_BLOCKS + LINEAGE_KINDS, 4096, 0 },
	{ "sums", SHARED_BLOCKS + LINEAGE_SUMS, 4096, 0 },
	AT(SHARED_PAST, past, pid, 1),
	AT(SHARED_PAST, past, name, 1),
	AT(SHARED_PAST, past, refused, 1),
	AT(SHARED_PAST, past, counts, 1),
	AT(SHARED_PAST, past, check, 1),
	AT(SHARED_ENDED, ended_thread, serial, 1),
	AT(SHARED_ENDED, ended_thread, ready, 1),
	AT(SHARED_ENDED, ended_thread, counts, 1),
	AT(SHARED_MODULES, module, kind, 0),
	AT(SHARED_MODULES, module, path, 0),
	{ "modules", SHARED_MODULES, 3 * sizeof(struct module), 0 },
	{ "mappings", SHARED_MAPPINGS, 16 * sizeof(struct mapping), 0 },
	AT(SHARED_CODE, code_sum, executions, 0),
	AT(SHARED_CODE, code_sum, module, 0),
	{ "code", SHARED_CODE, 64 * sizeof(struct code_sum), 0 },
	AT(SHARED_FILTERS, filter, ready, 1),
	AT(SHARED_HAPPENINGS, happening, ready, 1),
	AT(SHARED_HAPPENINGS, happening, mapping, 1),
	AT(SHARED_HAPPENINGS, happening, name, 1),
	AT(SHARED_HAPPENINGS, happening, serial, 1),
	{ "happenings", SHARED_HAPPENINGS, 8 * sizeof(struct happening), 1 },
};

enum {
	FIELDS = sizeof fields / sizeof fields[0],
	TURNS = 20000,
	FIRST_TURNS = 2000,
	RANDOM_MOST = 64
};

/* Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (splitmix64). */
static uint64_t state;

static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static __attribute__((noinline)) void work(int turns)
{
	for (volatile int i = 0; i < turns; i++)
		;
	for (int i = 0; i < turns / 500; i++)
		getppid();
}

/* Memory contents must not change the program's path: the test compares its count. */
static void put(uint8_t *at, unsigned size)
{
	const uint64_t values[] = { 0,
				    ~0ull,
				    0x4141414141414141,
				    1,
				    next() % 100,
				    next(),
				    0x7fffffffffffffff,
				    0x80000000,
				    1ull << next() % 64,
				    next() % 100000 };
	uint64_t now = 0, value = values[next() % (sizeof values / sizeof values[0])];

	memcpy(&now, at, size);
	switch (next() % 4) {
	case 0:
		now += value;
		break;
	case 1:
		now ^= value;
		break;
	default:
		now = value;
	}
	memcpy(at, &now, size);
}

/* For lists of records, take the one that tare reads next. */
static uint8_t *place_of(uint8_t *board, const struct field *f)
{
	uint64_t tail = *(volatile uint64_t *)(board + RING + offsetof(struct sample_ring, tail)) %
		SAMPLE_BYTES_SIZE;
	uint64_t mask = 0 -
		(uint64_t)(f->at >= RECORD && f->at < RECORD + sizeof(struct sample_record));

	return board + f->at + (tail & mask);
}

static void fill(uint8_t *board, const struct field *f)
{
	unsigned size = f->size % 8 ? 4 : 8;
	uint8_t *at = place_of(board, f);

	if (f->size < 4)
		size = 1;
	if (next() % 3 == 0) /* all of it */
		memset(at, (int)(next() % 2 * 0xff ^ next() % 2 * 0x41), f->size);
	else /* a word of it */
		put(at + (next() % (f->size / size)) * size, size);
}

/* Spread over the parts in use: the head, the first slots, and the starts of its lists. */
static void fill_random(uint8_t *board)
{
	static const struct {
		uint64_t at, size;
	} parts[] = {
		{ 0, sizeof(struct shared_state) },
		{ 0, offsetof(struct shared_state, thread_states) },
		{ SHARED_PROCESSES, 4 * sizeof(struct process) },
		{ SHARED_THREADS, sizeof(struct thread) },
		{ SHARED_THREADS + SAMPLE_RING, 0x3000 },
		{ SHARED_THREADS + SAMPLE_BYTES, 0x8000 },
		{ SHARED_BLOCKS, 0x8000 },
		{ SHARED_PAST, 0x1000 },
		{ SHARED_ENDED, 0x1000 },
		{ SHARED_MODULES, 0x8000 },
		{ SHARED_MAPPINGS, 0x1000 },
		{ SHARED_CODE, 0x4000 },
		{ SHARED_FILTERS, 0x1000 },
		{ SHARED_HAPPENINGS, 0x4000 },
		{ 0, SHARED_SIZE },
	};
	unsigned n = 1 + next() % RANDOM_MOST;

	for (unsigned i = 0; i < n; i++) {
		unsigned part = next() % (sizeof parts / sizeof parts[0]);

		put(board + parts[part].at + next() % (parts[part].size / 8) * 8, 8);
	}
}

int main(int argc, char **argv)
{
	uint8_t *board[2], *to;
	int field, status;

	if (argc < 4) {
		for (int i = 0; i < FIELDS; i++)
			printf("%s %d\n", fields[i].name, fields[i].safe);
		return 0;
	}
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	board[0] = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	board[1] = (uint8_t *)SHARED_PLACE;
	to = board[argv[1][0] & 1];
	state = strtoull(argv[2], NULL, 10);
	field = (int)strtol(argv[3], NULL, 10);
	if (board[0] == MAP_FAILED)
		return 1;
	work(FIRST_TURNS);
	if (next() % 2) {
		pid_t child = fork();

		if (!child) {
			work(TURNS);
			_exit(0);
		}
		waitpid(child, &status, 0);
	}
	if (field >= 0 && field < FIELDS)
		fill(to, &fields[field]);
	else
		fill_random(to);
	work(TURNS);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Any shared state and any log, as the process that runs tests reads them: an error in words, or
 * pairs within the log and within the room for them. Of the counters only software events are
 * opened, and MSRs of a folder that does not exist.
 */
#include "bench/bench_reader.h"
#include "fuzz.h"

enum { MOST = 32 };

struct head {
	uint8_t how, by_read, counters, cpu, order, fixed;
	uint8_t event[MARK_COUNTERS];
	uint16_t register_bits;
};

static void fill(struct bench_shared *b, const struct head *h)
{
	b->how = h->how;
	b->by_read = h->by_read & 1;
	b->counters = 1 + h->counters % EXACT_CLASSES; /* bench_inside() has refused others */
	b->cpu = (int8_t)h->cpu;
	b->mask = h->register_bits ? UINT64_MAX >> (h->register_bits & 63) : 0;
	for (size_t i = 0; i < MARK_COUNTERS; i++) {
		b->event[i].attr = (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
							     .size = sizeof(b->event[i].attr),
							     .config = h->event[i] & 15,
							     .exclude_kernel = h->event[i] >> 4 &
								     1 };
		b->counter[i] = h->event[i] * 0x101u;
	}
	strcpy(b->root, "/nonexistent");
}

/* What marks write, but for the counters: entries that alternate, with the answer of a mark that
 * could read. */
static void repair(struct bench_reader *r, size_t entries, const struct head *h)
{
	const int32_t answer = (int32_t)r->answer;

	for (size_t i = 0; i < entries; i++) {
		uint64_t *entry = (uint64_t *)(r->log + i * mark_state.stride);

		if (h->order & 1)
			*(uint32_t *)entry = i % 2 ? MARK_STOP : MARK_START;
		if (h->fixed & 1)
			memcpy((char *)entry + 4, &answer, sizeof(answer));
		if (h->fixed & 2 && r->group)
			entry[3] = entry[2];
	}
}

static void read_log(struct bench_reader *r, size_t counters, const struct head *h,
		     const uint8_t *bytes, size_t n)
{
	size_t room = (size_t)(r->guard - r->log), entries;

	n = n < room ? n : room;
	memcpy(r->log, bytes, n);
	entries = n / mark_state.stride;
	mark_state.cursor = r->log + entries * mark_state.stride;
	repair(r, entries, h);
	for (int each = 0; each < 2; each++) {
		size_t most = each ? MOST : SIZE_MAX, pairs;
		/* The cells of the shared state: as many as it has counters. */
		int64_t *to = malloc((each ? MOST : 1) * counters * sizeof(*to));
		enum bench_fault fault = FAULT_CRASH;

		must(to);
		pairs = bench_reader_pairs(r, to, each, most, &fault);
		must(pairs <= most && 2 * pairs <= entries);
		must(fault == FAULT_NONE || fault == FAULT_ORDER || fault == FAULT_OPEN ||
		     fault == FAULT_NO_MARKS || fault == FAULT_SHARED || fault == FAULT_THREAD);
		must(fault != FAULT_NONE || pairs);
		for (size_t i = 0; fault == FAULT_NONE && each && i < pairs * counters; i++)
			must(to[i] >= 0);
		free(to);
	}
	must(bench_reader_held(r));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct bench_shared shared; /* large */
	struct tare_error err = TARE_ERROR_INIT;
	struct bench_reader r;
	struct head h;

	if (n < sizeof(h))
		return 0;
	memcpy(&h, bytes, sizeof(h));
	fill(&shared, &h);
	if (bench_reader_open(&r, &shared, &err) < 0)
		must(err.what[0] && err.code > 0);
	else if (bench_reader_begin(&r))
		read_log(&r, shared.counters, &h, bytes + sizeof(h), n - sizeof(h));
	bench_reader_close(&r);
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "bench/bench_reader.h"
#include "source/perf.h"

enum { GUARD = 1 << 16, GROUP_HEAD = 3 /* nr, enabled, running: source/perf.c */ };

static int open_exact(struct bench_reader *r, struct tare_error *err)
{
#ifdef SYS_arch_prctl
	(void)err;
	r->marks = mark_call;
	r->n = EXACT_CLASSES;
	r->answer = 0;
	mark_state.call.number = SYS_arch_prctl;
	mark_state.call.first = EXACT_READ;
	mark_state.call.third = EXACT_CLASSES;
	mark_state.stride = 8 + 8 * EXACT_CLASSES;
	return 0;
#else
	(void)r;
	return tare_fail(err, ENOTSUP, "there is no exact engine for this processor");
#endif
}

static int open_group(struct bench_reader *r, struct tare_error *err)
{
	const struct target self = { .cpu = -1, .cgroup_fd = -1 };
	const struct encoding **enc = NULL;
	struct encoding leader;
	int ret = events_as_group(&r->events, &enc, &leader, err);

	if (ret < 0)
		return ret;
	leader.attr.pinned = leader.attr.type != PERF_TYPE_SOFTWARE &&
		leader.attr.type != PERF_TYPE_TRACEPOINT;
	ret = source_perf.open(&r->group, enc, r->n, &self, NULL, err);
	free(enc);
	if (ret == 0)
		ret = source_perf.start(r->group, err);
	if (ret < 0)
		return ret;
	r->marks = mark_call;
	r->first = GROUP_HEAD;
	r->step = 2;
	r->answer = (int64_t)(GROUP_HEAD + 2 * r->n) * 8;
	mark_state.call.number = SYS_read;
	mark_state.call.first = (uint64_t)perf_fd(r->group, 0);
	mark_state.call.third = (uint64_t)r->answer;
	mark_state.stride = 8 + (uint64_t)r->answer;
	return 0;
}

#if defined(__x86_64__)
static struct bench_reader *asked; /* for a function without a spare argument */

static int read_msrs(uint64_t *counters)
{
	struct tare_msr_op op[MARK_COUNTERS];
	int ret;

	for (size_t i = 0; i < asked->n; i++)
		op[i] = (struct tare_msr_op){ .kind = TARE_MSR_READ, .msr = asked->msr[i] };
	ret = registers_run(asked->registers, asked->cpu, op, asked->n, NULL, &asked->lost);
	for (size_t i = 0; ret == 0 && i < asked->n; i++)
		counters[i] = op[i].value;
	return ret;
}
#endif

/* tare itself has programmed them, and restores them: here they are only read. */
static int open_msrs(struct bench_reader *r, const struct bench_shared *b, struct tare_error *err)
{
#if defined(__x86_64__)
	const struct registers_options how = { .via = b->via,
					       .root = *b->root ? b->root : NULL,
					       .maker = b->maker };
	int ret;

	if (!mark_function_possible())
		return tare_fail(
			err, ENOTSUP,
			"this processor has no xsave, by which the vector registers are kept meanwhile");
	ret = registers_open(&r->registers, &how, err);
	if (ret < 0)
		return ret;
	memcpy(r->msr, b->counter, sizeof(r->msr));
	r->cpu = b->cpu;
	r->mask = b->mask;
	asked = r;
	r->marks = mark_function;
	r->answer = 0;
	mark_state.function = read_msrs;
	mark_state.stride = 8 + 8 * r->n;
	return 0;
#else
	(void)r, (void)b;
	return tare_fail(err, ENOTSUP, "this processor has no MSRs");
#endif
}

static int open_registers(struct bench_reader *r, struct tare_error *err)
{
	r->pinned = tare_pinned_open(&r->events, err);
	if (!r->pinned)
		return -err->code;
	r->marks = mark_registers[r->n];
	r->mask = r->pinned->mask;
	mark_state.stride = 8 + 8 * r->n;
	return 0;
}

int bench_reader_open(struct bench_reader *r, const struct bench_shared *b, struct tare_error *err)
{
	size_t size;
	int ret = 0;

	*r = (struct bench_reader){ .n = b->counters, .step = 1, .answer = -1, .mask = UINT64_MAX };
	mark_state = (struct mark_state){ 0 };
	if (b->how == BENCH_REGISTER || b->how == BENCH_READ || b->how == BENCH_MSR) {
		if (r->n > MARK_COUNTERS)
			return tare_fail(err, EINVAL, "%zu counters at once", r->n);
		r->events.list.enc = calloc(r->n, sizeof(struct encoding));
		if (!r->events.list.enc)
			return tare_fail_nomem(err);
		r->events.list.n = r->n;
		r->events.list.groups = 1;
		for (size_t i = 0; i < r->n; i++) {
			r->events.list.enc[i] = b->event[i];
			r->events.list.enc[i].source = b->how == BENCH_MSR ? &source_msr
									   : &source_perf;
			r->events.list.enc[i].cpus = (struct cpus){ 0 };
			r->events.list.enc[i].group = 0;
		}
	}
	if (b->how == BENCH_CLOCK) {
		r->marks = mark_clock;
		r->n = 1;
		mark_state.stride = 16;
	} else if (b->how == BENCH_EXACT) {
		ret = open_exact(r, err);
	} else if (b->how == BENCH_MSR) {
		ret = open_msrs(r, b, err);
	} else if (b->how == BENCH_REGISTER && !b->by_read) {
		ret = open_registers(r, err);
	} else {
		ret = open_group(r, err);
	}
	if (ret == 0 && r->n != b->counters) /* the shared state's cells are for this number */
		ret = tare_fail(err, EINVAL,
				"%u counters in the shared state, but the marks read %zu",
				b->counters, r->n);
	if (ret < 0)
		return ret;
	size = ((2 * TARE_BENCH_PAIRS_MAX * mark_state.stride + GUARD - 1) & ~(size_t)(GUARD - 1)) +
		GUARD;
	r->log = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->log == MAP_FAILED)
		return tare_fail_nomem(err);
	r->guard = r->log + size - GUARD;
	mprotect(r->guard, GUARD, PROT_NONE);
	return 0;
}

bool bench_reader_begin(struct bench_reader *r)
{
	uint64_t now[MARK_COUNTERS];

	if (mark_state.cursor)
		memset(r->log, 0, (size_t)(mark_state.cursor - r->log)); /* MARK_STOP */
	mark_state.cursor = r->log;
	if (!r->pinned)
		return true;
	/* Looks the registers up again if the kernel has moved them. */
	if (tare_pinned_read(r->pinned, now, (uint32_t)r->n) < 0)
		return false;
	for (size_t i = 0; i < r->n; i++)
		mark_state.handle[i] = (uint64_t)(uintptr_t)r->pinned->counter[i];
	r->version = r->pinned->version;
	return tare_pmc_version(tare_pmc_pages(r->pinned), (uint32_t)r->n) == r->version;
}

bool bench_reader_held(const struct bench_reader *r)
{
	return !r->pinned ||
		tare_pmc_version(tare_pmc_pages(r->pinned), (uint32_t)r->n) == r->version;
}

static bool answered(const struct bench_reader *r, const uint64_t *entry)
{
	int32_t answer;

	memcpy(&answer, (const char *)entry + 4, sizeof(answer));
	if (r->answer < 0)
		return true;
	return answer == r->answer && (!r->group || entry[2] == entry[3]); /* enabled, running */
}

size_t bench_reader_pairs(const struct bench_reader *r, int64_t *to, bool each, size_t most,
			  enum bench_fault *fault)
{
	size_t words = mark_state.stride / 8, pairs = 0;
	const uint64_t *started = NULL;

	*fault = FAULT_NONE;
	if (!each)
		memset(to, 0, r->n * sizeof(*to));
	for (const uint64_t *e = (const uint64_t *)r->log;
	     (const unsigned char *)e < mark_state.cursor; e += words) {
		bool start = (uint32_t)*e == MARK_START;

		if (start == (started != NULL))
			*fault = FAULT_ORDER;
		else if (!answered(r, e))
			*fault = FAULT_SHARED;
		if (*fault)
			return pairs;
		if (start) {
			started = e;
			continue;
		}
		if (pairs == most)
			return pairs;
		for (size_t i = 0; i < r->n; i++) {
			size_t at = 1 + r->first + i * r->step;
			int64_t d = (int64_t)((e[at] - started[at]) & r->mask);

			if (d < 0) { /* a thread's count does not decrease */
				*fault = FAULT_THREAD;
				return pairs;
			}
			if (each)
				to[pairs * r->n + i] = d;
			else
				to[i] = (int64_t)((uint64_t)to[i] +
						  (uint64_t)
						  /*
							   * a log that a test overwrote may exceed
							   * 2^63
							   */
						  d);
		}
		started = NULL;
		pairs++;
	}
	if (started)
		*fault = FAULT_OPEN;
	else if (!pairs)
		*fault = FAULT_NO_MARKS;
	return pairs;
}

void bench_reader_close(struct bench_reader *r)
{
	tare_pinned_close(r->pinned);
	if (r->group)
		source_perf.close(r->group);
	if (r->registers)
		registers_close(r->registers);
	free(r->events.list.enc);
	r->events.list.enc = NULL;
	if (r->guard)
		munmap(r->log, (size_t)(r->guard - r->log) + GUARD);
	r->guard = NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * The process in which tests run. Results are written to the shared state at once, as the process
 * may crash at any time. On both arm64 and x86, everything that is measured is between the two
 * marks; this code is outside.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "arch/mark.h"
#include "base/clock.h"
#include "cache.h"
#include "base/clock_step.h"
#include "base/num.h"
#include "base/privilege.h"
#include "bench/bench_chain.h"
#include "bench/bench_load.h"
#include "bench/bench_reader.h"

enum { TRIES = 50, BUFFERS = 64, LEAST_CLOCK_NS = 20000000 };

struct inside {
	struct bench_shared *shared;
	struct bench_places at;
	struct bench_reader reader;
	struct bench_chain chain;
	struct tare_bench_test test[BENCH_VARIANTS];
	void (*call[BENCH_VARIANTS])(void);
	uint32_t done[BENCH_VARIANTS]; /* number of runs done */
	char *evict;
	size_t evict_size;
	pid_t pid;
};

static struct inside *in; /* for the signal handler */

/* ---- what went wrong ---- */

static void fault(enum bench_fault f, enum bench_blame blame)
{
	if (in->shared->fault)
		return;
	in->shared->blame = blame;
	in->shared->fault = f;
}

static int fault_words(const struct tare_error *e, enum bench_blame blame)
{
	struct bench_shared *b = in->shared;

	if (!b->fault) {
		b->code = (uint32_t)e->code;
		memcpy(b->what, e->what,
		       sizeof(b->what) < sizeof(e->what) ? sizeof(b->what) : sizeof(e->what));
		memcpy(b->hint, e->hint,
		       sizeof(b->hint) < sizeof(e->hint) ? sizeof(b->hint) : sizeof(e->hint));
		fault(FAULT_WORDS, blame);
	}
	return -e->code;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	const unsigned char *at = info->si_addr;

	(void)context;
	/* There is no log, and no guard page after it, before the first mark. */
	if (number == SIGSEGV && info->si_code > 0 && in->reader.guard && at >= in->reader.guard &&
	    at < in->reader.guard + 65536) {
		fault(FAULT_PAIRS, BENCH_TEST);
	} else if (!in->shared->fault) {
		in->shared->signal = number;
		in->shared->address = info->si_code > 0 ? (uint64_t)(uintptr_t)at : 0;
		in->shared->no_address = number == SIGSEGV && info->si_code == SI_KERNEL;
		fault(FAULT_CRASH, BENCH_TEST);
	}
	_exit(1);
}

static void catch_crashes(void)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP };
	struct sigaction act = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static char room[1 << 16];

	if (sigaltstack(&(stack_t){ .ss_sp = room, .ss_size = sizeof(room) }, NULL) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		sigaction(deadly[i], &act, NULL);
}

/* ---- one run ---- */

/* The baseline of a function given by --function: a call of a function that only returns. */
static void nothing(void)
{
}

static void run_once(uint32_t v)
{
	const struct marks *m = &in->reader.marks;

	if (in->call[v])
		mark_around(m->start, in->call[v], m->stop);
	else
		in->test[v].execute_test(m->start, m->stop);
}

static void run_baseline(uint32_t v, int times)
{
	const struct marks *m = &in->reader.marks;

	if (in->call[v]) {
		for (int i = 0; i < times; i++)
			mark_around(m->start, nothing, m->stop);
	} else if (in->test[v].execute_baseline) {
		in->test[v].execute_baseline(times, m->start, m->stop);
	} else {
		mark_pairs(times, m->start, m->stop);
	}
}

static void make_cold(uint32_t v)
{
	struct tare_bench_buffer buffer[BUFFERS];

	if (in->shared->cold == BENCH_FLUSH) {
		size_t n = in->test[v].buffers(buffer, BUFFERS);

		for (size_t i = 0; i < n && i < BUFFERS; i++)
			cache_flush(buffer[i].at, buffer[i].size);
	}
	for (size_t i = 0; in->shared->cold == BENCH_EVICT && i < in->evict_size; i += 64)
		((volatile char *)in->evict)[i]++;
}

/* `times` 0: a run. Repeats until the kernel does not move the counters meanwhile. */
static bool counted(uint32_t v, int times, int64_t *to, size_t *pairs)
{
	enum bench_fault f = FAULT_MOVED;

	for (int tries = 0; tries < TRIES; tries++) {
		if (!times && in->shared->cold)
			make_cold(v);
		if (!bench_reader_begin(&in->reader)) {
			in->shared->again++;
			continue;
		}
		if (times)
			run_baseline(v, times);
		else
			run_once(v);
		if (getpid() != in->pid) {
			fault(FAULT_FORKED, BENCH_TEST);
			_exit(0);
		}
		in->shared->progress++;
		if (in->shared->fault)
			return false;
		if (!bench_reader_held(&in->reader)) {
			in->shared->again++;
			continue;
		}
		*pairs = bench_reader_pairs(&in->reader, to, times > 0,
					    times > 0 ? (size_t)times : SIZE_MAX, &f);
		if (f == FAULT_NONE && times && *pairs < (size_t)times) {
			struct tare_error err = TARE_ERROR_INIT;

			fault_words(
				(tare_fail(
					 &err, EINVAL,
					 "its execute_baseline(%d, ...) called start and stop %zu times",
					 times, *pairs),
				 &err),
				BENCH_TEST);
			return false;
		}
		break;
	}
	if (f == FAULT_NONE)
		return true;
	if (f == FAULT_SHARED && in->reader.lost.what[0])
		fault_words(&in->reader.lost, BENCH_NOBODY);
	fault(f, f == FAULT_MOVED || f == FAULT_SHARED ? BENCH_NOBODY : BENCH_TEST);
	return false;
}

/* ---- all of it ---- */

static void stage(enum bench_stage s, uint32_t of)
{
	in->shared->of = of;
	in->shared->run = 0;
	in->shared->stage = s;
	in->shared->progress++;
}

static int load(const struct tare_bench_test *linked, struct tare_error *err)
{
	struct bench_shared *b = in->shared;

	for (uint32_t v = 0; v < b->variants; v++) {
		const char *function = b->variant[v].function;
		int ret = 0;

		stage(STAGE_LOAD, v);
		if (linked)
			in->test[v] = *linked;
		else
			ret = bench_load(b->variant[v].path, *function ? function : NULL,
					 &in->test[v], &in->call[v], err);
		if (ret == 0 && !in->call[v] && !in->test[v].execute_test)
			ret = tare_fail(err, ENOENT, "there is no function execute_test() in it");
		if (ret < 0)
			return fault_words(err, BENCH_OBJECT);
	}
	return 0;
}

/* The test's own ops() or bytes(): a divisor, so it must be positive. */
static int ask(uint64_t (*function)(void), const char *name, uint64_t given, uint64_t *out,
	       struct tare_error *err)
{
	*out = given;
	if (given || !function)
		return 0;
	*out = function();
	if (*out && *out <= (UINT64_C(1) << 53))
		return 0;
	tare_fail(err, EINVAL, "its %s() says %llu: a run has 1 to 2^53", name,
		  (unsigned long long)*out);
	tare_hint(err, "leave %s() out where there is nothing to divide by, or say it by --%s",
		  name, name);
	return fault_words(err, BENCH_TEST);
}

static int set_up(struct tare_error *err)
{
	struct bench_shared *b = in->shared;
	long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
	uint64_t ops = 0, bytes = 0;
	int ret;

	for (uint32_t v = 0; v < b->variants; v++) {
		const struct tare_bench_test *t = &in->test[v];

		stage(STAGE_SETUP, v);
		if (t->setup)
			t->setup();
		if (b->stage != STAGE_SETUP) {
			b->of = v;
			fault(FAULT_LONGJMP, BENCH_TEST);
			return -EINVAL;
		}
		ret = ask(in->call[v] ? NULL : t->ops, "ops", b->variant[v].ops, &ops, err);
		if (ret == 0)
			ret = ask(in->call[v] ? NULL : t->bytes, "bytes", b->variant[v].bytes,
				  &bytes, err);
		if (ret < 0)
			return ret;
		b->ops[v] = ops;
		b->bytes[v] = bytes;
		b->own_baseline[v] = t->execute_baseline && !in->call[v];
		if (b->cold == BENCH_FLUSH && !t->buffers) {
			tare_fail(err, EINVAL,
				  "it has no function buffers(), so nothing is known to flush");
			tare_hint(err, "--cold evict empties the caches by reading other memory");
			return fault_words(err, BENCH_OBJECT);
		}
	}
	if (b->cold != BENCH_EVICT)
		return 0;
	in->evict_size = cache > 0 ? 2 * (size_t)cache : 1 << 25;
	in->evict_size = in->evict_size > 1 << 28 ? 1 << 28
		: in->evict_size < 1 << 23        ? 1 << 23
						  : in->evict_size;
	in->evict = mmap(NULL, in->evict_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return in->evict != MAP_FAILED ? 0 : fault_words((tare_fail_nomem(err), err), BENCH_NOBODY);
}

/* The median of three: a single interrupted chain would spoil a batch of baselines. */
static int64_t chain_median(void)
{
	int64_t a = bench_chain_ticks(&in->chain);
	int64_t b = bench_chain_ticks(&in->chain);
	int64_t c = bench_chain_ticks(&in->chain);

	return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* Baselines `from` to `to` (exclusive). */
static bool baselines(uint32_t from, uint32_t to)
{
	struct bench_shared *b = in->shared;

	for (uint32_t v = 0; v < b->variants; v++) {
		stage(STAGE_BASELINE, v);
		for (uint32_t i = from; i < to;) {
			uint32_t n = to - i < TARE_BENCH_PAIRS_MAX ? to - i : TARE_BENCH_PAIRS_MAX;
			int64_t *cell = in->at.base + bench_cell(v, i, b->baselines, b->counters);
			size_t pairs;

			/* Twice: the first one warms up. */
			if (i == from && !counted(v, (int)n, cell, &pairs))
				return false;
			if (!counted(v, (int)n, cell, &pairs))
				return false;
			for (int64_t ticks = b->chain ? chain_median() : 0; n; n--)
				in->at.base_chain[v * b->baselines + i++] = ticks;
		}
	}
	return true;
}

static bool runs(void)
{
	struct bench_shared *b = in->shared;
	int64_t scratch[EXACT_CLASSES];
	size_t pairs;

	for (uint32_t v = 0; v < b->variants; v++) {
		stage(STAGE_WARMUP, v);
		for (uint32_t i = 0; i < b->warmup; i++) {
			b->run = i;
			if (!counted(v, 0, scratch, &pairs))
				return false;
		}
	}
	for (uint32_t i = 0; i < b->runs * b->variants; i++) {
		uint32_t v = in->at.order[i];

		if (v >= b->variants || in->done[v] >= b->runs)
			return false;
		b->of = v;
		b->run = in->done[v];
		b->stage = STAGE_RUN;
		if (!counted(v, 0, in->at.value + bench_cell(v, in->done[v], b->runs, b->counters),
			     &pairs))
			return false;
		in->at.pairs[v * b->runs + in->done[v]] = (uint32_t)pairs;
		if (b->chain)
			in->at.chain[v * b->runs + in->done[v]] = bench_chain_ticks(&in->chain);
		in->done[v]++;
	}
	return true;
}

static uint64_t clock_now(void *data)
{
	(void)data;
	return tare_pmc_clock();
}

static int measure(const struct tare_bench_test *linked, struct tare_error *err)
{
	struct bench_shared *b = in->shared;
	uint64_t ticks, ns;
	int ret;

	/*
	 * Open the counters first, then drop the capabilities needed for that, then load the code.
	 */
	stage(STAGE_BEGIN, 0);
	ret = bench_reader_open(&in->reader, b, err);
	if (ret == 0 && !linked)
		ret = privilege_drop(err);
	if (ret < 0)
		return fault_words(err, BENCH_NOBODY);
	ret = load(linked, err);
	if (ret == 0)
		ret = set_up(err);
	if (ret < 0)
		return ret;
	if (b->chain) {
		bench_chain_begin(&in->chain, clock_step(clock_now, NULL));
		b->chain_adds = bench_chain_adds(&in->chain);
	}
	ticks = tare_pmc_clock();
	ns = clock_now_ns();
	/* Half of the baselines before all runs, half after: their spread then includes a drift. */
	if (!baselines(0, b->baselines / 2) || !runs() ||
	    !baselines(b->baselines / 2, b->baselines))
		return -EINVAL;
	if (b->how == BENCH_CLOCK) {
		while (clock_now_ns() - ns < LEAST_CLOCK_NS)
			;
		b->clock_step = clock_step(clock_now, NULL);
		b->clock_hz = (uint64_t)((double)(tare_pmc_clock() - ticks) /
					 (double)(clock_now_ns() - ns) * 1e9);
	}
	for (uint32_t v = 0; v < b->variants; v++) {
		stage(STAGE_TEARDOWN, v);
		if (in->test[v].teardown && !in->call[v])
			in->test[v].teardown();
	}
	stage(STAGE_DONE, 0);
	return 0;
}

int bench_inside(int fd, const struct tare_bench_test *test, struct tare_error *err)
{
	static struct inside it;
	struct bench_shared *b;
	struct stat st;
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0); /* children of tests end with it */
	in = &it;
	if (fstat(fd, &st) < 0 || (size_t)st.st_size < sizeof(*b))
		return tare_fail(err, EINVAL, "descriptor %d is not what tare bench hands over",
				 fd);
	b = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (b == MAP_FAILED)
		return tare_fail(err, EINVAL, "descriptor %d is not what tare bench hands over: %s",
				 fd, strerror(errno));
	it = (struct inside){ .shared = b, .pid = getpid() };
	if (b->magic != BENCH_MAGIC || !b->variants || b->variants > BENCH_VARIANTS ||
	    b->counters > EXACT_CLASSES || !b->counters)
		return tare_fail(err, EINVAL, "tare bench of another version has started this");
	it.at = bench_places(b, b->variants, b->runs, b->baselines, b->counters);
	if (it.at.size > (size_t)st.st_size)
		return tare_fail(err, EINVAL, "tare bench of another version has started this");
	close(fd);
	catch_crashes();
	ret = measure(test, err);
	bench_reader_close(&it.reader);
	if (ret < 0 && err && !err->code)
		tare_fail(err, EINVAL, "tare bench says what went wrong");
	return ret;
}

int tare_bench_main(int argc, char **argv, const struct tare_bench_test *test,
		    struct tare_error *err)
{
	uint64_t fd;

	if (argc != 3 || strcmp(argv[1], BENCH_WORD) || num_parse(argv[2], &fd, NULL) < 0 ||
	    fd > 1 << 20) {
		tare_fail(err, EINVAL, "this program is a test, and tare bench runs it");
		tare_hint(err, "tare bench %.100s", argc ? argv[0] : "PROGRAM");
		return -EINVAL;
	}
	return tare_end(bench_inside((int)fd, test, err), err);
}

/* SPDX-License-Identifier: MIT */
/*
 * Runs a bench, one set of counters after the other: each in a new process, with a shared state
 * that is read when the process has ended.
 */
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "statistics/median.h"
#include "base/text.h"
#include "bench/bench_shared.h"
#include "bench/bench_chain.h"
#include "bench/bench_child.h"
#include "bench/bench_sets.h"

enum { SAID_MAX = 1 << 20, ERRNO_MOST = 4095 };

struct bench {
	const struct bench_plan *plan;
	struct bench_result *r;
	enum bench_blame *blame;
	struct bench_shared *shared;
	struct bench_places at;
	struct bench_stretch part; /* the part of the runs that is being counted */
	int shared_fd, said_fd, null_fd;
	size_t done, all; /* number of stretches over all sets */
};

size_t bench_stretches(const struct bench_plan *p)
{
	size_t n = p->runs / BENCH_STRETCH_LEAST;

	return !p->cross || !n ? 1 : n < BENCH_STRETCHES ? n : BENCH_STRETCHES;
}

struct bench_stretch bench_stretch(const struct bench_plan *p, size_t i)
{
	uint64_t n = bench_stretches(p);

	return (struct bench_stretch){ .run = (uint32_t)(i * p->runs / n),
				       .end = (uint32_t)((i + 1) * p->runs / n),
				       .base = (uint32_t)(i * p->baselines / n),
				       .base_end = (uint32_t)((i + 1) * p->baselines / n) };
}

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* ---- the order of runs ---- */

/* Source: Marsaglia, "Xorshift RNGs", 2003; with Vigna's multiplication. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/*
 * The order of each round alternates: forward, backward, so that a steady drift affects all
 * variants equally; or it is shuffled.
 */
static void make_order(const struct bench_plan *p, uint32_t *order)
{
	uint32_t n = (uint32_t)p->n_variants;
	uint64_t state = p->seed ? p->seed : 1;

	for (uint32_t round = 0; round < p->runs; round++) {
		uint32_t *o = order + (size_t)round * n;

		for (uint32_t i = 0; i < n; i++)
			o[i] = round % 2 ? n - 1 - i : i;
		for (uint32_t i = n; p->shuffle && i > 1; i--) {
			uint32_t j = (uint32_t)(draw(&state) % i), t = o[i - 1];

			o[i - 1] = o[j];
			o[j] = t;
		}
	}
}

/* ---- what went wrong ---- */

static const char *signal_words(int n)
{
	const char *name = sigabbrev_np(n);

	return name ? name : "?";
}

/* "test.c: run 3 of 100" */
static void put_where(struct text *out, const struct bench *b, uint32_t stage, uint32_t of,
		      uint32_t run)
{
	const struct bench_plan *p = b->plan;
	const struct bench_variant *v = &p->variant[of < p->n_variants ? of : 0];

	text_add(out, "%.100s: ", v->name);
	switch (stage) {
	case STAGE_SETUP:
		text_add(out, "setup()");
		break;
	case STAGE_BASELINE:
		text_add(out,
			 b->shared->own_baseline[of < p->n_variants ? of : 0] ? "execute_baseline()"
									      : "its baseline");
		break;
	case STAGE_WARMUP:
		text_add(out, "warm-up run %u", run + 1);
		break;
	case STAGE_RUN:
		text_add(out, "run %u of %u", b->part.run + run + 1, p->runs);
		break;
	case STAGE_TEARDOWN:
		text_add(out, "teardown()");
		break;
	default:
		text_add(out, "before its first run");
	}
}

static int explain_fault(const struct bench *b, uint32_t fault, struct tare_error *err)
{
	struct bench_shared *shared = b->shared;
	uint32_t stage = shared->stage, of = shared->of;
	const char *name = b->plan->variant[of < b->plan->n_variants ? of : 0].name;
	/* a test may have passed the shared state to a process that still runs */
	char what[sizeof(shared->what)], hint[sizeof(shared->hint)];
	int code = (int)__atomic_load_n(&shared->code, __ATOMIC_RELAXED);
	struct text where = { 0 };
	int ret = -EINVAL;

	put_where(&where, b, stage, of, shared->run);
	memcpy(what, shared->what, sizeof(what));
	memcpy(hint, shared->hint, sizeof(hint));
	what[sizeof(what) - 1] = hint[sizeof(hint) - 1] = '\0';
	switch (fault) {
	case FAULT_WORDS:
		ret = code > 0 && code <= ERRNO_MOST ? -code : -EINVAL;
		tare_fail(err, -ret, "%.100s: %s", stage == STAGE_BEGIN ? "counters" : name, what);
		if (hint[0])
			tare_hint(err, "%s", hint);
		break;
	case FAULT_NO_MARKS:
		tare_fail(err, EINVAL, "%s: it called neither start() nor stop()", where.s);
		tare_hint(
			err,
			"the code to measure goes between start() and stop() in execute_test(start, stop)");
		break;
	case FAULT_ORDER:
		tare_fail(err, EINVAL, "%s: start() and stop() did not alternate", where.s);
		tare_hint(
			err,
			"nested pairs are not supported: call stop() once for each start(), before the next start()");
		break;
	case FAULT_OPEN:
		tare_fail(err, EINVAL, "%s: it called start() and never stop()", where.s);
		break;
	case FAULT_PAIRS:
		tare_fail(err, E2BIG, "%s: more than %d pairs of start() and stop()", where.s,
			  TARE_BENCH_PAIRS_MAX);
		tare_hint(
			err,
			"a loop belongs between start() and stop(), with ops() to say how many rounds it has");
		ret = -E2BIG;
		break;
	case FAULT_THREAD:
		tare_fail(err, EINVAL,
			  "%s: stop() was not called by the thread that called start()", where.s);
		tare_hint(
			err,
			"threads are counted separately: call both in the thread that called execute_test(); --engine clock takes the time between any two");
		break;
	case FAULT_FORKED:
		tare_fail(
			err, EINVAL,
			"%s: a child that it forked came back from execute_test(); only the parent may",
			where.s);
		tare_hint(err, "end the child with _exit()");
		break;
	case FAULT_LONGJMP:
		tare_fail(err, EINVAL, "%.100s: execute_test() was left by longjmp() into setup()",
			  name);
		break;
	case FAULT_CRASH:
		tare_fail(err, EFAULT, "%s: it crashed: SIG%s", where.s,
			  signal_words(shared->signal));
		if (shared->no_address)
			tare_fail(
				err, EFAULT,
				"%s: it crashed: SIGSEGV, by an instruction of the kernel's or an address that is not canonical",
				where.s);
		else if (shared->address || shared->signal == SIGSEGV)
			tare_fail(err, EFAULT, "%s: it crashed: SIG%s at address %#llx", where.s,
				  signal_words(shared->signal),
				  (unsigned long long)shared->address);
		ret = -EFAULT;
		break;
	case FAULT_SHARED:
		tare_fail(err, EBUSY, "%s: the kernel took the counters away during the run",
			  where.s);
		tare_hint(err, "another program counts with them on this CPU; see tare doctor");
		ret = -EBUSY;
		break;
	default:
		tare_fail(err, EINVAL, "%s: the process that ran it reports fault %u", where.s,
			  fault);
	}
	text_free(&where);
	*b->blame = shared->blame == BENCH_TEST || shared->blame == BENCH_OBJECT
		? (enum bench_blame)shared->blame
		: BENCH_NOBODY;
	return ret;
}

static int explain_end(const struct bench *b, const struct bench_child_end *end,
		       struct tare_error *err)
{
	struct bench_shared *shared = b->shared;
	struct text where = { 0 };
	int ret = -EINVAL;

	if (shared->fault)
		return explain_fault(b, shared->fault, err);
	if (shared->stage == STAGE_DONE && WIFEXITED(end->status))
		return 0;
	*b->blame = BENCH_TEST;
	put_where(&where, b, shared->stage, shared->of, shared->run);
	if (end->timed_out) {
		tare_fail(err, ETIMEDOUT, "%s: no end after %g s", where.s,
			  (double)b->plan->timeout_ns / 1e9);
		tare_hint(err, "--timeout gives it longer");
		ret = -ETIMEDOUT;
	} else if (WIFSIGNALED(end->status)) {
		tare_fail(err, EFAULT, "%s: it was killed by SIG%s", where.s,
			  signal_words(WTERMSIG(end->status)));
		ret = -EFAULT;
	} else if (shared->stage == STAGE_BEGIN && !shared->progress &&
		   b->plan->variant[0].program) {
		*b->blame = BENCH_OBJECT;
		tare_fail(err, EINVAL,
			  "%.200s is a program, but no test: it did not call tare_bench_main()",
			  b->plan->variant[0].name);
		tare_hint(err, "tare stat counts whole programs");
	} else {
		tare_fail(err, EINVAL, "%s: it ended its process, by exit status %d", where.s,
			  WEXITSTATUS(end->status));
	}
	text_free(&where);
	return ret;
}

/* ---- one set of counters ---- */

static void fill_shared(const struct bench *b, const struct bench_set *set, bool by_read)
{
	const struct bench_plan *p = b->plan;
	struct bench_shared *shared = b->shared;

	memset(shared, 0, sizeof(*shared));
	shared->magic = BENCH_MAGIC;
	shared->variants = (uint32_t)p->n_variants;
	shared->runs = b->part.end - b->part.run;
	shared->warmup = p->warmup;
	shared->baselines = b->part.base_end - b->part.base;
	shared->counters = (uint32_t)set->n_shared;
	shared->how = set->how;
	shared->by_read = by_read;
	shared->cold = p->cold;
	shared->chain = set->how == BENCH_CLOCK && set->n > 1;
	for (size_t v = 0; v < p->n_variants; v++) {
		const char *looped = set->how == BENCH_CLOCK ? p->variant[v].looped : NULL;

		snprintf(shared->variant[v].path, sizeof(shared->variant[v].path), "%s",
			 looped ? looped : p->variant[v].path);
		snprintf(shared->variant[v].function, sizeof(shared->variant[v].function), "%s",
			 p->variant[v].function ? p->variant[v].function : "");
		shared->variant[v].ops = p->variant[v].ops;
		shared->variant[v].bytes = p->variant[v].bytes;
	}
	for (size_t i = 0;
	     (set->how == BENCH_REGISTER || set->how == BENCH_READ || set->how == BENCH_MSR) &&
	     i < set->n;
	     i++)
		shared->event[i] = p->events->enc[set->event[i]];
}

/*
 * Registers belong to tare: it programs and restores them, whatever happens to the process that
 * reads them. The shared state receives their description.
 */
static int hold_registers(const struct bench *b, const struct bench_set *set,
			  struct counters **held, struct tare_error *err)
{
	const struct target whole = { .pid = -1, .cpu = b->r->cpu, .cgroup_fd = -1 };
	const struct encoding *enc[BENCH_COUNTERS];
	struct bench_shared *shared = b->shared;
	struct msr_counts at;
	int ret;

	*held = NULL;
	if (set->how != BENCH_MSR)
		return 0;
	for (size_t i = 0; i < set->n; i++)
		enc[i] = &b->plan->events->enc[set->event[i]];
	ret = source_msr.open(held, enc, set->n, &whole, NULL, err);
	if (ret == 0)
		ret = source_msr.start(*held, err);
	if (ret == 0)
		ret = source_msr_counts(*held, &at);
	if (ret < 0)
		return ret;
	shared->cpu = b->r->cpu;
	snprintf(shared->via, sizeof(shared->via), "%s", at.via);
	snprintf(shared->root, sizeof(shared->root), "%s", at.root ? at.root : "");
	shared->maker = at.maker;
	shared->mask = at.mask;
	memcpy(shared->counter, at.counter, sizeof(shared->counter));
	return 0;
}

/* Did they count correctly until the end? */
static int let_registers_go(const struct bench *b, const struct bench_set *set,
			    struct counters *held, int ret, struct tare_error *err)
{
	struct tare_reading last[BENCH_COUNTERS];
	struct tare_error lost = TARE_ERROR_INIT;

	if (!held)
		return ret;
	if (ret == 0 && source_msr.read(held, last, &lost) < 0)
		ret = -(lost.code ? lost.code : EIO);
	for (size_t i = 0; ret == 0 && i < set->n; i++)
		if (last[i].quality == TARE_UNAVAILABLE)
			ret = -ENODATA;
	if (lost.what[0] && ret < 0 && err) {
		*b->blame = BENCH_NOBODY;
		*err = lost;
	}
	source_msr.close(held);
	return ret;
}

/* Report progress: how many runs of this stretch are done. */
static void look(void *with)
{
	const struct bench *b = with;
	const struct bench_plan *p = b->plan;
	double all = (double)p->n_variants *
		((double)p->warmup + b->shared->runs + b->shared->baselines),
	       done = (double)b->shared->progress;

	p->progress(p->with, ((double)b->done + (done < all ? done / all : 1)) / (double)b->all);
}

static int run_set(struct bench *b, const struct bench_set *set, bool by_read,
		   struct tare_error *err)
{
	const struct bench_plan *p = b->plan;
	char fd[16];
	char *self[] = { (char *)p->self, "bench", BENCH_WORD, fd, NULL };
	char *program[] = { (char *)p->variant[0].path, BENCH_WORD, fd, NULL };
	struct bench_child child = {
		.argv = p->variant[0].program ? program : self,
		.exact = set->how == BENCH_EXACT,
		.fixed = p->fixed,
		.own_group = true,
		.in = b->null_fd,
		.out = b->said_fd,
		.err = -1,
		.cpu = b->r->cpu,
		.progress = &b->shared->progress,
		.timeout_ns = p->timeout_ns,
		.look = p->progress ? look : NULL,
		.with = b,
	};
	struct bench_child_end end;
	struct counters *held;
	int ret;

	fill_shared(b, set, by_read);
	b->at = bench_places(b->shared, p->n_variants, b->part.end - b->part.run,
			     b->part.base_end - b->part.base, set->n_shared);
	memcpy(b->at.order, b->r->order + b->part.run * p->n_variants,
	       (size_t)(b->part.end - b->part.run) * p->n_variants * sizeof(uint32_t));
	snprintf(fd, sizeof(fd), "%d", b->shared_fd);
	ret = hold_registers(b, set, &held, err);
	if (ret == 0) {
		ret = bench_child(&child, &end, err);
		b->r->by_signal = end.by_signal;
		if (ret == 0 || (ret == -ENOTSUP && (b->shared->fault || end.timed_out)))
			ret = explain_end(b, &end, err);
	}
	return let_registers_go(b, set, held, ret, err);
}

static int by_ticks(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static bool cycles_of(int64_t *to, const int64_t *ticks, const int64_t *chain, size_t n,
		      uint32_t adds)
{
	bool all = true;

	for (size_t i = 0; i < n; i++) {
		to[i] = bench_chain_cycles(ticks[i], chain[i], adds);
		all &= to[i] >= 0;
	}
	return all;
}

/*
 * Cycles: divide the ticks of runs and baselines by those of the chain that was timed after each.
 */
static void take_cycles(struct bench *b, size_t clock, size_t cycles)
{
	const struct bench_plan *p = b->plan;
	struct bench_result *r = b->r;
	struct bench_counter *c = &r->counter[cycles];
	size_t n = p->n_variants * p->runs;
	uint32_t adds = b->shared->chain_adds;
	/* sorted in memory that no test can write to */
	uint64_t *chain = calloc(n + 1, sizeof(*chain));
	bool all = true;

	for (size_t v = 0; v < p->n_variants; v++) {
		const struct bench_series *from = &r->series[v * r->n_counters + clock];
		struct bench_series *to = &r->series[v * r->n_counters + cycles];

		all &= cycles_of(to->value, from->value, b->at.chain + v * p->runs, p->runs, adds);
		all &= cycles_of(to->base, from->base, b->at.base_chain + v * p->baselines,
				 p->baselines, adds);
	}
	if (!all || !chain) {
		c->quality = TARE_UNAVAILABLE;
		snprintf(c->why, sizeof(c->why), "%s",
			 chain ? "the clock did not move during a chain of additions"
			       : "out of memory");
		free(chain);
		return;
	}
	memcpy(chain, b->at.chain, n * sizeof(*chain));
	qsort(chain, n, sizeof(*chain), by_ticks);
	r->chain_adds = adds;
	r->chain_ticks = (double)median_of(chain, n);
	r->chain_spread = (double)(chain[n - 1 - n / 10] - chain[n / 10]) / 2;
	free(chain);
}

/* Copy the set's counters from the shared state to the result, for this stretch. */
static void take_counters(struct bench *b, const struct bench_set *set)
{
	const struct bench_plan *p = b->plan;
	const struct bench_stretch *t = &b->part;
	uint32_t runs = t->end - t->run, baselines = t->base_end - t->base;
	struct bench_result *r = b->r;

	for (size_t i = 0; i < set->n; i++) {
		struct bench_counter *c = &r->counter[set->counter[i]];
		size_t column = set->how == BENCH_EXACT ? set->class[i] : i;

		if (c->how == BENCH_CHAIN) {
			take_cycles(b, set->counter[0], set->counter[i]);
			continue;
		}
		c->again = t->run ? c->again + b->shared->again : b->shared->again;
		for (size_t v = 0; v < p->n_variants; v++) {
			struct bench_series *s = &r->series[v * r->n_counters + set->counter[i]];

			for (uint32_t k = 0; k < runs; k++)
				s->value[t->run + k] =
					b->at.value[bench_cell(v, k, runs, set->n_shared) + column];
			for (uint32_t k = 0; k < baselines; k++)
				s->base[t->base + k] =
					b->at.base[bench_cell(v, k, baselines, set->n_shared) +
						   column];
		}
	}
	for (size_t v = 0; v < p->n_variants; v++) {
		r->ops[v] = b->shared->ops[v];
		r->bytes[v] = b->shared->bytes[v];
		r->own_baseline[v] = b->shared->own_baseline[v];
		memcpy(r->pairs + v * p->runs + t->run, b->at.pairs + v * runs,
		       runs * sizeof(uint32_t));
	}
	if (b->shared->clock_hz)
		r->clock_hz = b->shared->clock_hz;
	if (b->shared->clock_step > 0)
		r->clock_step = b->shared->clock_step;
}

/* A test's standard output goes to this file, at most SAID_MAX bytes: then write(2) fails. */
static void listen_to_it(struct bench *b)
{
	off_t end = lseek(b->said_fd, 0, SEEK_CUR);
	ssize_t n;

	b->r->said = end > 0 ? (uint64_t)end : 0;
	n = pread(b->said_fd, b->r->words, sizeof(b->r->words) - 1, 0);
	if (!b->r->said)
		n = 0;
	b->r->words[n > 0 ? n : 0] = '\0';
	b->r->words[strcspn(b->r->words, "\n")] = '\0';
}

/* ---- all of them ---- */

static int make_room(struct bench *b, const struct bench_sets *sets, struct tare_error *err)
{
	const struct bench_plan *p = b->plan;
	struct bench_result *r = b->r;
	size_t runs = (size_t)p->runs * p->n_variants, shared = 0;

	r->n_counters = sets->n_counters;
	r->series = calloc(p->n_variants * r->n_counters + 1, sizeof(*r->series));
	r->order = calloc(runs, sizeof(*r->order));
	r->pairs = calloc(runs, sizeof(*r->pairs));
	if (!r->series || !r->order || !r->pairs)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < p->n_variants * r->n_counters; i++) {
		r->series[i].value = calloc(p->runs, sizeof(int64_t));
		r->series[i].base = calloc(p->baselines, sizeof(int64_t));
		if (!r->series[i].value || !r->series[i].base)
			return tare_fail_nomem(err);
	}
	make_order(p, r->order);
	for (size_t i = 0; i < sets->n; i++)
		shared = max_size(shared,
				  bench_shared_size(p->n_variants, p->runs, p->baselines,
						    sets->set[i].n_shared));
	b->shared_fd = memfd_create("tare-bench", MFD_ALLOW_SEALING); /* inherited */
	b->said_fd = memfd_create("tare-bench-said", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	b->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (b->shared_fd < 0 || b->said_fd < 0 || b->null_fd < 0 ||
	    ftruncate(b->shared_fd, (off_t)shared) < 0 || ftruncate(b->said_fd, SAID_MAX) < 0 ||
	    fcntl(b->shared_fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0 ||
	    fcntl(b->said_fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		return tare_fail(err, errno, "cannot make a memory file to share with the test: %s",
				 strerror(errno));
	b->shared = mmap(NULL, shared, PROT_READ | PROT_WRITE, MAP_SHARED, b->shared_fd, 0);
	if (b->shared == MAP_FAILED) {
		b->shared = NULL;
		return tare_fail_nomem(err);
	}
	b->at.size = shared;
	return 0;
}

/*
 * One stretch of a set's runs. `by_read`: whether this set is read by system calls, which may be
 * decided here.
 */
static int run_stretch(struct bench *b, const struct bench_set *set, bool *by_read,
		       struct tare_error *err)
{
	int ret = run_set(b, set, *by_read, err);

	/*
	 * The kernel may move counters at each context switch: long tests never have an undisturbed
	 * run.
	 */
	if (set->how == BENCH_REGISTER && !*by_read &&
	    ((ret < 0 && b->shared->fault == FAULT_MOVED) ||
	     (ret == -EOPNOTSUPP && b->shared->stage == STAGE_BEGIN))) {
		*b->blame = BENCH_NOBODY;
		*by_read = true;
		ret = b->part.run ? 0 : run_set(b, set, true, err);
	}
	return ret;
}

/*
 * All sets, stretch by stretch, in alternating order. If a set must be read in another way than in
 * its first stretches, restart: at most once per set.
 */
static int run_sets(struct bench *b, const struct bench_sets *sets, struct tare_error *err)
{
	bool by_read[BENCH_SETS] = { false };
	size_t n = bench_stretches(b->plan);
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < n * sets->n; i++) {
		size_t turn = i / sets->n, at = turn % 2 ? sets->n - 1 - i % sets->n : i % sets->n;
		const struct bench_set *set = &sets->set[at];
		bool before = by_read[at];

		b->part = bench_stretch(b->plan, turn);
		b->done = i;
		b->all = n * sets->n;
		ret = run_stretch(b, set, &by_read[at], err);
		if (ret < 0)
			return ret;
		if (turn && by_read[at] != before) {
			i = SIZE_MAX;
			continue;
		}
		for (size_t k = 0; by_read[at] && k < set->n; k++)
			b->r->counter[set->counter[k]].how = BENCH_READ;
		take_counters(b, set);
	}
	return ret;
}

/* May tare, and so its child, run on that CPU? */
static int try_cpu(int cpu, struct tare_error *err)
{
	cpu_set_t now, one;

	if (cpu < 0 || sched_getaffinity(0, sizeof(now), &now) < 0)
		return 0;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		return tare_fail(
			err, errno,
			"cannot run on CPU %d: there is none, or this process may not use it", cpu);
	sched_setaffinity(0, sizeof(now), &now);
	return 0;
}

int bench_run(const struct bench_plan *plan, struct bench_result *r, enum bench_blame *blame,
	      struct tare_error *err)
{
	struct bench b = {
		.plan = plan, .r = r, .blame = blame, .shared_fd = -1, .said_fd = -1, .null_fd = -1
	};
	struct bench_sets sets = { 0 };
	size_t shared, counted = 0;
	int ret;

	*r = (struct bench_result){ .cpu = plan->cpu == -1    ? sched_getcpu()
					    : plan->cpu == -2 ? -1
							      : plan->cpu };
	for (size_t v = 0; v < plan->n_variants; v++)
		r->rounds[v] = plan->variant[v].looped ? plan->variant[v].rounds : 1;
	*blame = BENCH_NOBODY;
	ret = try_cpu(plan->cpu, err);
	if (ret == 0 && plan->msr && r->cpu < 0)
		ret = tare_fail(err, EINVAL,
				"registers count what one CPU does: not with --cpu any");
	if (ret == 0 && plan->msr)
		source_msr_how(plan->msr);
	if (ret == 0)
		ret = bench_sets_make(&sets, plan, r->cpu, r->counter, err);
	for (size_t i = 0; i < sets.n; i++)
		counted += sets.set[i].how != BENCH_CLOCK;
	if (ret == 0 && (sets.n == 0 || (plan->asked && !counted))) {
		ret = tare_fail(err, ENODATA, "no event can be counted here%s%s",
				r->counter[0].why[0] ? ": " : "", r->counter[0].why);
		tare_hint(err, "%s", r->counter[0].remedy);
	}
	if (ret == 0)
		ret = make_room(&b, &sets, err);
	shared = b.at.size;
	if (ret == 0)
		ret = run_sets(&b, &sets, err);
	if (ret == 0)
		listen_to_it(&b);
	if (b.shared)
		munmap(b.shared, shared);
	for (size_t i = 0; i < 3; i++) {
		int fd = ((int[]){ b.shared_fd, b.said_fd, b.null_fd })[i];

		if (fd >= 0)
			close(fd);
	}
	return ret;
}

void bench_free(struct bench_result *r, const struct bench_plan *plan)
{
	for (size_t i = 0; r->series && i < plan->n_variants * r->n_counters; i++) {
		free(r->series[i].value);
		free(r->series[i].base);
	}
	free(r->series);
	free(r->order);
	free(r->pairs);
	*r = (struct bench_result){ 0 };
}

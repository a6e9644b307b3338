/* SPDX-License-Identifier: MIT */
/*
 * tare bench: the cost of a few lines of code. Files and snippets become tests, a session runs
 * them, the overhead of the marks is subtracted, and views print the results.
 */
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench/cost.h"
#include "base/file.h"
#include "cli/bench/bench_kdb_folder.h"
#include "cli/bench/bench_options.h"
#include "cli/bench/bench_rounds.h"
#include "cli/bench/bench_tests.h"
#include "cli/regions/recording_options.h"
#include "output/input.h"
#include "output/page_file.h"
#include "output/progress.h"
#include "cli/stat/stat_cross_check.h"
#include "cli/stat/stat_irqs.h"
#include "output/whole_file.h"
#include "exact/exact.h"
#include "launch/launch.h"
#include "launch/pidspace.h"
#include "bench/bench_view.h"
#include "launch/determinism_json.h"

/* The test itself failed, or --cross-check found a difference. */
enum { EXIT_SAYS_NO = 1, REMARKS = 24 };

static const char perf_events[] = "cycles:u,branch-misses:u";
#if !HAVE_EXACT
static const char perf_counts[] = "instructions:u,branches:u";
#endif

struct job {
	const struct command *self;
	struct bench_options o;
	struct bench_tests tests;
	struct machine *machine;
	struct encoding_list list;
	struct bench_plan plan;
	struct bench_result result;
	struct bench_stats stats;
	enum bench_blame blame;
	bool clock_alone;       /* only that was requested */
	bool cannot;            /* the request is valid but cannot be counted here */
	struct whole_file file; /* results, except for kdb */
	struct page_file page;
	struct style style;
	char self_path[4096];
	char *remark[REMARKS + 1];
	size_t n_remarks;
	struct tare_error *err;
};

/* ---- what to count ---- */

static bool can_count_exactly(struct tare_error *why)
{
	return exact_probe(why) == 0;
}

static int default_events(struct job *j, struct text *text)
{
	bool exact = j->o.engine != BENCH_ENGINE_PERF && j->o.engine != BENCH_ENGINE_MSR &&
		can_count_exactly(NULL);

	for (int c = 0; exact && c < EXACT_CLASSES; c++)
		text_add(text, "%sexact/%s/", c ? "," : "", exact_class_names[c]);
	if (j->o.engine == BENCH_ENGINE_EXACT)
		return 0;
#if !HAVE_EXACT
	text_add(text, "%s,", perf_counts);
#else
	if (!exact)
		text_add(text, "instructions:u,branches:u,");
	else
		text_add(text, ",");
#endif
	text_add(text, "%s", perf_events);
	return 0;
}

/* Leaves out default events that this machine lacks. */
static void drop_unavailable(struct encoding_list *l)
{
	for (size_t i = 0; i < l->n;) {
		if (!l->enc[i].unavailable) {
			i++;
			continue;
		}
		cpus_free(&l->enc[i].cpus);
		memmove(&l->enc[i], &l->enc[i + 1], (l->n - i - 1) * sizeof(l->enc[i]));
		l->n--;
	}
}

#if defined(__x86_64__)
/* The kernel's msr/tsc/ reads the register that the clock reads with an instruction: one
 * counter, read without a system call. */
static bool is_the_clock(const struct encoding *e)
{
	return !strcmp(e->pmu, "msr") && e->attr.config == 0 && !e->attr.exclude_user &&
		!e->attr.exclude_kernel;
}
#else
static bool is_the_clock(const struct encoding *e)
{
	(void)e;
	return false;
}
#endif

static size_t drop_clock(struct encoding_list *l)
{
	size_t kept = 0, n = l->n;

	for (size_t i = 0; i < n; i++)
		if (is_the_clock(&l->enc[i]))
			cpus_free(&l->enc[i].cpus);
		else
			l->enc[kept++] = l->enc[i];
	l->n = kept;
	return n - kept;
}

/* Adds the same events counted by perf, in separate runs; refused before any run if one of the
 * engines cannot count them. */
static int double_events(struct job *j)
{
	struct cpus on = { 0 };
	char cpu[16];
	int ret;

	snprintf(cpu, sizeof(cpu), "%d", j->o.cpu >= 0 ? j->o.cpu : sched_getcpu());
	source_msr_how(&j->o.msr);
	ret = cpus_parse(cpu, &on, j->err);
	if (ret == 0)
		ret = stat_cross_check_ready(&j->list, &on, j->err);
	cpus_free(&on);
	j->cannot = ret < 0;
	return ret;
}

/* The value comes from runs without an interrupt: there is nothing to subtract. */
static int without_interrupts(const struct event_list *events, struct tare_error *err)
{
	for (size_t i = 0; i < events->n; i++)
		if (stat_irqs_is(&events->event[i])) {
			tare_fail_at(
				err, events->event[i].at, ENOTSUP,
				"%.80s is not counted by tare bench: runs with an interrupt are outside the middle half that gives the value",
				events->event[i].text);
			tare_hint(
				err,
				"use -e instructions:u; --engine exact, which interrupts do not disturb; for whole programs, tare stat");
			return -ENOTSUP;
		}
	return 0;
}

static int choose_events(struct job *j)
{
	const struct encode_options how = { .keep_unavailable = true,
					    .cpu = j->o.msr.cpu,
					    .event_files = j->o.events.n_files ? j->o.events.files
									       : NULL };
	static const enum engine_wish wishes[] = { ENGINE_AUTO, ENGINE_PERF, ENGINE_EXACT,
						   ENGINE_AUTO, ENGINE_MSR };
	struct tare_error cannot = TARE_ERROR_INIT;
	struct engine_question q = { .wish = wishes[j->o.engine], .apart = true };
	struct event_list events = { 0 };
	struct text text = { 0 };
	bool given = j->o.events.given;
	int ret = 0;

	if (j->o.engine == BENCH_ENGINE_CLOCK)
		return 0;
	if (!can_count_exactly(&cannot))
		q.cannot = &cannot;
	if (j->o.engine == BENCH_ENGINE_EXACT && q.cannot) {
		*j->err = cannot;
		j->cannot = true;
		return -cannot.code;
	}
	if (given)
		event_options_join(&j->o.events, &text);
	else
		ret = default_events(j, &text);
	if (ret == 0)
		ret = text.failed ? tare_fail_nomem(j->err)
				  : event_list_parse(text.s, &events, j->err);
	if (ret == 0)
		ret = without_interrupts(&events, j->err);
	if (ret == 0)
		ret = pmu_encode(j->machine, &events, &how, &j->list, j->err);
	if (ret < 0 && (!j->o.events.text || strcmp(text.s, j->o.events.text)))
		j->err->at = -1;
	if (ret == 0)
		ret = engine_choose(&j->list, &q, j->err);
	for (size_t i = 0; ret >= 0 && i < j->list.n; i++) {
		const struct encoding *e = &j->list.enc[i];

		if (encoding_source(e)->clock)
			ret = tare_fail(j->err, EINVAL,
					"%.100s is not a counter; the clock is always measured",
					e->name);
		else if (given && j->o.engine == BENCH_ENGINE_EXACT && !engine_counts(e))
			ret = tare_fail(j->err, EINVAL, "the exact engine does not count %.100s",
					e->name);
	}
	if (ret >= 0 && !given)
		drop_unavailable(&j->list);
	if (ret >= 0 && j->o.engine != BENCH_ENGINE_EXACT && !j->o.cross_check &&
	    drop_clock(&j->list) && !j->list.n)
		j->clock_alone = true;
	if (ret >= 0 && !j->list.n && !j->clock_alone) {
		ret = j->o.engine == BENCH_ENGINE_PERF || j->o.engine == BENCH_ENGINE_MSR;
		if (ret)
			ret = tare_fail(j->err, ENODATA, "this machine has no hardware counters");
		if (ret < 0)
			tare_hint(
				j->err,
				"tare doctor says why; --engine auto counts instructions without them, --engine clock measures time");
		j->cannot = ret < 0;
	}
	event_list_free(&events);
	text_free(&text);
	return ret < 0 ? ret : j->o.cross_check ? double_events(j) : 0;
}

/* ---- remarks ---- */

__attribute__((format(printf, 2, 3))) static void remark(struct job *j, const char *fmt, ...)
{
	va_list ap;

	if (j->n_remarks == REMARKS)
		return;
	va_start(ap, fmt);
	if (vasprintf(&j->remark[j->n_remarks], fmt, ap) >= 0)
		j->n_remarks++;
	else
		j->remark[j->n_remarks] = NULL;
	va_end(ap);
}

static bool counts_cycles(const struct bench_result *r)
{
	for (size_t c = 0; c < r->n_counters; c++)
		if (r->counter[c].quality != TARE_UNAVAILABLE && r->counter[c].how != BENCH_EXACT &&
		    strstr(r->counter[c].name, "cycles"))
			return true;
	return false;
}

static double clock_step(const struct job *j)
{
	for (size_t c = 0; c < j->result.n_counters; c++)
		if (j->result.counter[c].how == BENCH_CLOCK)
			return j->stats.step[c];
	return 0;
}

static void remark_rounds(struct job *j)
{
	bool any = false;

	for (size_t v = 0; v < j->tests.n; v++) {
		any |= j->result.rounds[v] > 1;
		if (j->tests.one_round[v])
			remark(j, "'%.60s' has one round by the clock: with more it %s.",
			       j->tests.name[v],
			       j->tests.one_round[v] == ROUNDS_CRASH
				       ? "crashes"
				       : "takes another time per operation");
	}
	if (any)
		remark(j,
		       "By the clock a run has several rounds over the code, so that a step of the clock "
		       "is less than 1 %% of it. Each round starts with the registers and memory of the "
		       "previous one; --loop 0 turns this off.");
}

/* Remarks on the shortest run if it is too short for the clock. */
static void remark_short(struct job *j, double step)
{
	const struct bench_result *r = &j->result;
	size_t clock = 0, least = 0;
	double ticks, steps;
	uint64_t loop;

	while (clock < j->result.n_counters && j->result.counter[clock].how != BENCH_CLOCK)
		clock++;
	for (size_t v = 1; v < j->tests.n; v++)
		if (bench_ticks(&j->stats, r, v, clock) < bench_ticks(&j->stats, r, least, clock))
			least = v;
	ticks = bench_ticks(&j->stats, r, least, clock);
	steps = ticks / step;
	loop = (j->o.loop ? j->o.loop : r->rounds[least]) * bench_rounds_of(ticks, step);
	if (steps >= BENCH_STEPS_LEAST)
		return;
	if (j->o.n_code)
		remark(j,
		       "A run of '%.60s' takes %.3g steps of the clock, fewer than %d: --loop %llu makes "
		       "runs long enough%s.",
		       j->tests.name[least], steps, BENCH_STEPS_LEAST, (unsigned long long)loop,
		       j->o.is_c[0] ? ", if the compiler leaves the code in the loop (hide, keep)"
				    : "");
	else
		remark(j,
		       "A run of '%.60s' takes %.3g steps of the clock, fewer than %d: a loop between "
		       "start and stop, with ops(), makes runs long enough.",
		       j->tests.name[least], steps, BENCH_STEPS_LEAST);
}

static void remark_clock(struct job *j)
{
	double step = clock_step(j);

	const struct bench_result *r = &j->result;
	double ghz = (double)r->clock_hz / 1e9;

#if defined(__x86_64__)
	remark(j,
	       "tsc is time, not cycles: it ticks at %.3f GHz independent of the core's frequency, and includes interrupts and the hypervisor.",
	       ghz);
#else
	remark(j,
	       "cntvct is the generic timer: it ticks at %.3f MHz, every %.1f ns, which is many cycles, and includes interrupts.",
	       ghz * 1e3, 1 / ghz);
#endif
	if (step > 4)
		remark(j,
		       "The clock advances in steps of %.4g ticks here, so no run is known more precisely "
		       "than that.",
		       step);
	remark_rounds(j);
	remark_short(j, step);
	if (r->chain_adds)
		remark(j,
		       "Cycles are estimated: after each run tare times a chain of %u dependent additions, "
		       "one cycle each, on the same CPU (%.2f GHz). This assumes that the core's frequency is "
		       "the same for both, and that no other thread shares the core.",
		       r->chain_adds, r->chain_adds / r->chain_ticks * ghz);
	if (!counts_cycles(r) && !j->o.events.given && j->o.engine != BENCH_ENGINE_CLOCK)
		remark(j,
		       "Core cycles are missing: this machine has no counter for them (tare doctor says why).");
}

/* Lists the items that were the same in each process, if requested. */
static void remark_fixed(struct job *j)
{
	const struct determinism *f = j->plan.fixed;
	struct text names = { 0 };

	if (!j->o.deterministic || !f)
		return;
	determinism_names_had(&names, f);
	remark(j, "Fixed in each process: %s.", names.s ? names.s : "");
	text_free(&names);
	for (unsigned i = 0; i < FIXED_REMARKS; i++)
		if (determinism_remark_shown(&names, f, i)) {
			remark(j, "%s.", names.s ? names.s : "");
			text_free(&names);
		}
}

static void make_remarks(struct job *j)
{
	const struct bench_result *r = &j->result;
	bool exact = false, negative = false, unbounded = false;
	uint32_t again = 0;

	for (size_t c = 0; c < r->n_counters; c++) {
		const struct bench_counter *k = &r->counter[c];

		exact |= k->how == BENCH_EXACT && k->quality != TARE_UNAVAILABLE;
		again = k->again > again ? k->again : again;
		for (size_t v = 0; v < j->plan.n_variants && k->quality != TARE_UNAVAILABLE; v++) {
			negative |= bench_stat_of(&j->stats, v, c)->value < 0;
			unbounded |= isnan(bench_stat_of(&j->stats, v, c)->low);
		}
	}
	remark_fixed(j);
	if (j->tests.turns)
		remark(j,
		       "In turn: the copies write %s one after the other, and do not wait for each other's results; as written, each may wait for "
		       "the one before. The first measures throughput; the other, if the result is an operand, latency.",
		       j->tests.turns);
	if (exact)
		remark(j,
		       "Instructions and their classes are counted by the exact engine, in user mode, in separate runs: all of them and nothing else.");
	if (j->plan.msr)
		remark(j,
		       "Registers count what the CPU does in the requested modes: the counts include other tasks, interrupts and guests on it.");
	if (j->plan.cross)
		remark(j,
		       "perf counts this task; registers count the CPU. Each counted in separate runs, a few of one, then of "
		       "the other, so that a drift affects both.");
	if (r->clock_hz)
		remark_clock(j);
	if (unbounded)
		remark(j, "The confidence of a value requires at least %d runs and baselines.",
		       BENCH_LEAST);
	if (negative)
		remark(j,
		       "A result below 0 is not an error: those runs cost less than start and stop alone, within the precision of the "
		       "baseline.");
	if (again)
		remark(j, "%u runs were repeated because the kernel moved a counter during them.",
		       again);
	for (size_t c = 0; c < r->n_counters; c++)
		if (r->counter[c].how == BENCH_READ && r->counter[c].quality != TARE_UNAVAILABLE) {
			remark(j,
			       "%.100s%s read by a system call at start and stop: its work in the kernel is subtracted from the counts, but affects caches.",
			       r->counter[c].name,
			       c + 1 < r->n_counters && r->counter[c + 1].how == BENCH_READ
				       ? " and others were"
				       : " was");
			break;
		}
	if (r->said)
		remark(j,
		       "The tests wrote %llu bytes to standard output, which are not shown here. They begin: %s",
		       (unsigned long long)r->said, r->words);
}

/* ---- output ---- */

static int to_page(struct job *j, const struct bench_about *about)
{
	struct text json = { 0 };
	int ret;

	bench_json(&json, about);
	ret = json.failed
		? tare_fail_nomem(j->err)
		: page_file_begin(&j->page, "tare bench", j->plan.variant[0].name, 0, j->err);
	if (ret == 0) {
		page_add(&j->page.page, json.s, json.len);
		ret = page_file_end(&j->page, j->err);
	}
	text_free(&json);
	return ret;
}

static int unwritten(struct job *j, int ret)
{
	return tare_fail(j->err, -ret, "cannot write results to %.200s: %s",
			 j->file.path ? j->file.path : "standard output", strerror(-ret));
}

static int to_parquet(struct job *j, const struct bench_about *about)
{
	struct out out;
	int ret, closed;

	out_open_fd(&out, &j->file.fd);
	ret = bench_parquet(&out, about, j->err);
	closed = out_close(&out);
	if (ret == 0 && closed < 0)
		ret = unwritten(j, closed);
	return ret < 0 ? ret : whole_file_commit(&j->file, j->err);
}

static int to_text(struct job *j, const struct text *text)
{
	int ret = text->failed ? tare_fail_nomem(j->err) : 0,
	    put = ret < 0 ? 0 : file_write_all(j->file.fd, text->s, text->len);

	if (put < 0)
		ret = unwritten(j, put);
	return ret < 0 ? ret : whole_file_commit(&j->file, j->err);
}

static int show(struct job *j)
{
	struct bench_about about = { &j->plan, &j->result, &j->stats,
				     (const char *const *)j->remark, j->o.all };
	struct text text = { 0 };
	int ret = 0;

	make_remarks(j);
	switch (j->o.out.format) {
	case FORMAT_TEXT:
		bench_text(&text, &about, &j->style);
		break;
	case FORMAT_JSON:
		bench_json(&text, &about);
		break;
	case FORMAT_CSV:
		bench_csv(&text, &about);
		break;
	case BENCH_PARQUET:
		ret = to_parquet(j, &about);
		break;
	case BENCH_KDB:
		ret = bench_kdb_folder_write(j->o.out.path, &about, j->err);
		break;
	}
	if (ret == 0 && j->o.out.format <= FORMAT_CSV)
		ret = to_text(j, &text);
	text_free(&text);
	return ret == 0 && j->o.out.html ? to_page(j, &about) : ret;
}

/* "instructions" is the table's name for exact/instructions/. */
static bool is_named(const char *name, const char *typed)
{
	size_t n = strlen(typed);

	return !strcmp(name, typed) ||
		(!strncmp(name, "exact/", 6) && !strncmp(name + 6, typed, n) &&
		 !strcmp(name + 6 + n, "/"));
}

/* Refuses --check of an event that will not be counted, before anything runs. */
static int choose_checked(struct job *j)
{
	const bool clock = j->o.engine != BENCH_ENGINE_EXACT;
	bool found = clock && !strcmp(j->o.check, BENCH_CLOCK_NAME), exact = !clock, cut = false;
	struct text names = { 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < j->list.n; i++) {
		const struct encoding *e = &j->list.enc[i];

		if (names.len < 90)
			text_add(&names, "%s%s", i ? ", " : "", e->name);
		else
			cut = true;
		exact &= engine_counts(e);
		if (!*j->o.check || found || !is_named(e->name, j->o.check))
			continue;
		if (e->unavailable) {
			ret = tare_fail(j->err, e->unavailable,
					"--check: %.60s is unavailable: %.250s", e->name, e->why);
			tare_hint(j->err, "%s", e->remedy);
		}
		j->o.check = e->name;
		found = true;
		exact = engine_counts(e);
	}
	if (ret == 0 && *j->o.check && !found) {
		ret = tare_fail(j->err, ENODATA, "--check: %.60s is not counted", j->o.check);
		tare_hint(j->err, "%.130s%s%s", names.s ? names.s : "", cut ? ", ..." : "",
			  !clock              ? ""
				  : names.len ? ", " BENCH_CLOCK_NAME
					      : BENCH_CLOCK_NAME);
	}
	j->cannot |= ret < 0;
	if (ret == 0 && j->o.baselines && j->o.baselines < BENCH_LEAST &&
	    !(exact && (*j->o.check || !clock)))
		ret = tare_fail(j->err, EINVAL, "--check needs at least %d baselines", BENCH_LEAST);
	text_free(&names);
	return ret;
}

/* Opens the outputs before anything is measured. */
static int prepare(struct job *j)
{
	ssize_t n = readlink("/proc/self/exe", j->self_path, sizeof(j->self_path) - 1);
	int ret = 0;

	if (n <= 0)
		return tare_fail(j->err, errno, "cannot find tare's own path: %s", strerror(errno));
	j->self_path[n] = '\0';
	if (j->o.out.format == BENCH_KDB)
		ret = bench_kdb_folder_check(j->o.out.path, j->err);
	else
		ret = whole_file_open(&j->file, j->o.out.path, j->o.out.format == BENCH_PARQUET,
				      j->err);
	if (ret == 0 && j->o.out.html)
		ret = page_file_open(&j->page, j->o.out.html, j->o.out.path, j->err);
	if (ret < 0)
		return ret;
	j->style = output_style(&(struct output){ .fd = j->file.fd }, j->o.out.colour);
	j->style.thousands = true;
	j->machine = machine_open(NULL, j->err);
	ret = j->machine ? choose_events(j) : -j->err->code;
	return ret == 0 && j->o.check ? choose_checked(j) : ret;
}

static void show_progress(void *with, double part)
{
	progress_show(with, part, "%.0f %% of the runs", 100 * part);
}

static int measure(struct job *j)
{
	struct progress progress;
	int ret = 0;

	j->plan = (struct bench_plan){
		.variant = j->tests.variant,
		.n_variants = j->tests.n,
		.runs = (uint32_t)j->o.runs,
		.warmup = (uint32_t)j->o.warmup,
		.baselines = (uint32_t)(j->o.baselines            ? j->o.baselines
						: j->o.runs > 100 ? j->o.runs
								  : 100),
		.shuffle = j->o.shuffle,
		.seed = j->o.seed ? j->o.seed : 1,
		.cpu = j->o.cpu,
		.cold = j->o.cold,
		.timeout_ns = j->o.timeout_ns,
		.fixed = j->o.aslr ? NULL : &j->o.fixed,
		.events = &j->list,
		.msr = j->o.engine == BENCH_ENGINE_MSR ? &j->o.msr : NULL,
		.cross = j->o.cross_check,
		.asked = !j->clock_alone &&
			(j->o.engine == BENCH_ENGINE_PERF || j->o.engine == BENCH_ENGINE_MSR ||
			 j->o.events.given),
		.clock = j->o.engine != BENCH_ENGINE_EXACT,
		.estimate = j->o.engine == BENCH_ENGINE_AUTO && !j->o.events.given,
		.self = j->self_path,
		.progress = show_progress,
		.with = &progress,
	};
	progress_begin(&progress, "bench", false); /* the tests' output is kept apart */
	if (j->plan.clock && !j->plan.cross)
		ret = bench_rounds_choose(&j->tests, &j->o, &j->plan, &j->result.by_signal, j->err);
	if (ret == 0)
		ret = bench_run(&j->plan, &j->result, &j->blame, j->err);
	progress_end(&progress);
	return ret;
}

/* ---- the end ---- */

/* Estimated cycles are the clock's ticks in another unit, and those are checked. */
static bool is_checked(const struct job *j, size_t counter)
{
	const struct bench_counter *k = &j->result.counter[counter];

	return k->how != BENCH_CHAIN && (!*j->o.check || !strcmp(j->o.check, k->name));
}

static bool costs_more(const struct job *j)
{
	for (size_t v = 1; v < j->plan.n_variants; v++)
		for (size_t c = 0; c < j->result.n_counters; c++) {
			const struct bench_verdict *d = bench_verdict_of(&j->stats, v, c);

			if (is_checked(j, c) && d->beyond && d->change > 0)
				return true;
		}
	return false;
}

/* --check with nothing to compare must fail: each of its events must be counted and compared. */
static int check_compared(const struct job *j)
{
	bool any = false;

	for (size_t c = 0; j->o.check && c < j->result.n_counters; c++) {
		const struct bench_counter *k = &j->result.counter[c];
		bool named = !strcmp(j->o.check, k->name);

		if (!is_checked(j, c))
			continue;
		if (k->quality == TARE_UNAVAILABLE && (named || j->o.events.given))
			return tare_fail(j->err, ENODATA, "--check: %.100s was not counted",
					 k->name);
		for (size_t v = 1; v < j->plan.n_variants && k->quality != TARE_UNAVAILABLE; v++)
			if (!bench_verdict_of(&j->stats, v, c)->tested)
				return tare_fail(
					j->err, ENODATA,
					"--check: %.100s was not compared: at least %d baselines are needed",
					k->name, BENCH_LEAST);
		any |= k->quality != TARE_UNAVAILABLE;
	}
	if (any || !j->o.check)
		return 0;
	return tare_fail(j->err, ENODATA, "--check: %.100s was not counted",
			 *j->o.check ? j->o.check : "it compares nothing");
}

static bool differ(const struct job *j)
{
	for (size_t i = 0; j->o.cross_check && i < j->plan.n_variants * j->result.n_counters; i++)
		if (j->stats.cross[i].beyond)
			return true;
	return false;
}

/* Whatever was found available must have numbers, too. */
static int cross_whole(const struct job *j)
{
	for (size_t c = 0; j->o.cross_check && c < j->result.n_counters; c++)
		if (j->result.counter[c].quality == TARE_UNAVAILABLE)
			return tare_fail(
				j->err, ENODATA,
				"--cross-check needs both, but %.100s has no value: %.255s",
				j->result.counter[c].name, j->result.counter[c].why);
	return 0;
}

static int failed(struct job *j, int ret, bool measuring)
{
	if (j->result.by_signal || j->tests.by_signal)
		return 128 + (j->result.by_signal ? j->result.by_signal : j->tests.by_signal);
	if (ret == -EPIPE)
		return 128 + SIGPIPE;
	complain(j->self, j->err, j->o.events.text);
	if (j->tests.said.len)
		fprintf(stderr, "%s%s", j->tests.said.s,
			j->tests.said.s[j->tests.said.len - 1] == '\n' ? "" : "\n");
	return measuring && j->blame == BENCH_TEST ? EXIT_SAYS_NO : EXIT_CANNOT_MEASURE;
}

static void release(struct job *j)
{
	page_file_abandon(&j->page);
	whole_file_abandon(&j->file);
	bench_stats_free(&j->stats);
	bench_free(&j->result, &j->plan);
	bench_tests_free(&j->tests);
	encoding_list_free(&j->list);
	machine_close(j->machine);
	bench_options_free(&j->o);
	for (size_t i = 0; i < j->n_remarks; i++)
		free(j->remark[i]);
}

static int run_bench(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct job j = { .self = self,
			 .o = BENCH_OPTIONS_INIT,
			 .page = PAGE_FILE_INIT,
			 .file = { .fd = -1 },
			 .err = &err };
	int status, rest = options_parse(self, argc, argv, &j.o, &status), ret;
	bool measuring = false;

	if (rest < 0) {
		bench_options_free(&j.o);
		return status ? EXIT_CANNOT_MEASURE : 0;
	}
	if (j.o.inside >= 0)
		return bench_inside(j.o.inside, NULL, &err) < 0;
	ret = bench_options_check(&j.o, (size_t)(argc - rest), &err);
	if (ret == 0 && j.o.deterministic) {
		status = pidspace_enter(&j.o.fixed, argv[0]);
		if (status >= 0) { /* it was done in a namespace */
			bench_options_free(&j.o);
			return status;
		}
	}
	input_note_all(argv + rest, (size_t)(argc - rest));
	if (ret == 0)
		ret = prepare(&j);
	if (ret == 0)
		ret = bench_tests_make(&j.tests, &j.o, argv + rest, (size_t)(argc - rest), &err);
	if (ret == 0 && j.o.check && j.tests.n < 2)
		ret = tare_fail(&err, EINVAL,
				"--check compares tests with the first one, but there is only one");
	if (ret == 0) {
		measuring = true;
		ret = measure(&j);
	}
	bench_tests_leave_room(&j.tests);
	if (ret == 0)
		ret = cross_whole(&j);
	if (ret == 0)
		ret = bench_stats(&j.stats, &j.plan, &j.result, &err);
	if (ret == 0)
		ret = check_compared(&j);
	if (ret == 0)
		ret = show(&j);
	status = ret < 0                      ? failed(&j, ret, measuring)
		: j.o.check && costs_more(&j) ? EXIT_CHECK
		: differ(&j)                  ? EXIT_SAYS_NO
					      : 0;
	release(&j);
	return status;
}

const struct command cmd_bench = {
	.name = "bench",
	.about = "measure a few lines of code, and subtract the measurement overhead",
	.args = "TEST.{c,S,so}... | --asm CODE | --c CODE",
	.example =
		"  tare bench --asm 'imul rax, rbx'\n"
		"  tare bench --c 'strlen(p)' --init 'char *p = \"hi\"; hide(p)' --include string.h\n"
		"  tare bench --html compared.html old.c new.c",
	.topic = TOPIC_HOW_MUCH,
	.common = true,
	.common_options = "asm c init include event runs cold check all format html",
	.words = WORDS_ANYWHERE,
	.options = bench_option_rows,
	.run = run_bench,
};

/* SPDX-License-Identifier: MIT */
/*
 * tare record: records where events happen, as samples in a perf.data. Options become encodings
 * and a plan; a session passes the kernel's records to a writer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "cli/recordings.h"
#include "output/temp_cleanup.h"
#include "output/output.h"
#include "output/own_stdout.h"
#include "cli/samples/record_alloc.h"
#include "cli/samples/record_options.h"
#include "exact/exact.h"
#include "sample/perfdata_write.h"
#include "launch/environment.h"
#include "launch/determinism_warn.h"
#include "launch/exact_follow.h"
#include "launch/launch.h"
#include "launch/pidspace.h"
#include "output/escape.h"
#include "sample/record_size.h"
#include "sample/record_view.h"

enum {
	RING = 512 << 10,
	RING_MOST = 64 << 20,
	RING_FAST = 4 << 20,     /* initial size if samples may come fast; on 128 CPUs, 512 MiB */
	RING_BESIDE = 256 << 10, /* for records, in addition to an AUX area */
	AUX_AREA = 4 << 20,
	AUX_AREA_LOCKED = 256 << 10,
	RATE_UNKNOWN = 0,
	EXACT_PERIOD = 100003, /* a prime: with --no-jitter few loops have this length */
	EXACT_ACCESS_PERIOD = 10007,
};

struct job {
	struct record_options o;
	char *const *argv;     /* the command, or NULL */
	char *const *all_argv; /* tare's own arguments, for the file */
	struct machine *machine;
	struct encoding_list list;
	struct perfdata_writer *writer;
	struct environment environment;
	struct record_alloc alloc;
	struct determinism fixed;
	struct record_size size;
	uint64_t begin_ns;
	bool exact, phys_data; /* phys_data: requested by name */
	size_t ring_by_rate;
	struct precise_choice precise;
	struct sample_outcome outcome;
	struct tare_error *err;
};

/* ---- what to sample ---- */

static int refuse_unavailable(struct job *j)
{
	for (size_t i = 0; i < j->list.n; i++) {
		const struct encoding *e = &j->list.enc[i];

		if (e->unavailable) {
			tare_fail(j->err, e->unavailable, "%.100s is unavailable: %.250s", e->name,
				  e->why);
			tare_hint(j->err, "%s", e->remedy);
			return -e->unavailable;
		}
		if (!encoding_source(e)->kernel && !engine_counts(e)) {
			tare_fail(j->err, EINVAL, "%.100s cannot be sampled: it does not overflow",
				  e->name);
			tare_hint(
				j->err,
				"tare stat counts it; tare record samples events of the kernel's PMUs, "
				"cpu-clock and page-faults among them");
			return -EINVAL;
		}
	}
	return 0;
}

/* Events that the exact engine samples, and events that it reads with each sample. */
static int check_sampled(struct job *j)
{
	size_t sampled = 0;

	for (size_t i = 0; i < j->list.n; i++) {
		const struct encoding *e = &j->list.enc[i];
		bool samples = exact_samples_event(&j->list, i);

		sampled += samples;
		if (samples && exact_class_of(e) == EXACT_TAKEN) {
			tare_fail(
				j->err, EINVAL,
				"taken branches cannot be sampled: a branch is counted before it is known to be taken");
			tare_hint(
				j->err,
				"exact/branches/ samples all branches, exact/conditional-branches/ those that may fall through");
			return -EINVAL;
		}
	}
	if (sampled > EXACT_EVENTS_MAX)
		return tare_fail(j->err, EINVAL,
				 "the exact engine samples up to %d events in one run, not %zu",
				 EXACT_EVENTS_MAX, sampled);
	if (sampled > 1 && sampled < j->list.n) {
		tare_fail(
			j->err, EINVAL,
			"under the exact engine a group that is read (:S) is recorded without other events");
		tare_hint(j->err, "without :S each event has samples of its own");
		return -EINVAL;
	}
	return 0;
}

/* The counts read at a sample belong to the thread: the increase since the previous sample is
 * attributed to the sample's address. A file also contains exact counts. */
static bool reads_spread(const struct job *j)
{
	bool spread = exact_class_of(&j->list.enc[0]) != EXACT_INSTRUCTIONS;

	for (size_t i = 1; i < j->list.n; i++)
		spread |= exact_class_of(&j->list.enc[i]) == EXACT_TAKEN;
	return j->list.n > 1 && !exact_samples_event(&j->list, 1) && spread;
}

/* A file's feature sections contain each instruction's counts; a pipe has none. */
static void say_spread(const struct record_options *o)
{
	if (strcmp(o->output, "-"))
		fprintf(stderr,
			"tare record: tare report and annotate have exact counts; at single samples, which filters and other tools take, the counts of the other events are spread over the code between samples");
	else
		fprintf(stderr,
			"tare record: the counts of the other events are spread over the code between samples");
	fprintf(stderr,
		": with exact/instructions/ as the first event they are those of the code at each sample, but for taken branches\n");
}

/* Refuses options that the engine cannot do. */
static int check_exact(struct job *j)
{
	const struct record_options *o = &j->o;
	const struct {
		bool given;
		const char *what;
	} rows[] = {
		{ !j->argv, "no command" },
		{ o->pids, "-p" },
		{ o->tids, "-t" },
		{ o->all_cpus, "-a" },
		{ o->cpus.n, "-C" },
		{ !o->how.inherit, "-i" },
		{ o->delay_ns, "-D" },
		{ o->how.calls == CALLS_LBR, "--call-graph lbr" },
		{ o->how.branches, "-b" },
		{ o->how.weight, "-W" },
		{ o->how.physical, "--phys-data" },
		{ o->how.registers, "-I" },
		{ o->how.switches, "--switch-events" },
		{ o->all_kernel, "--all-kernel" },
		{ o->how.clockid != 1, "-k" },
		{ o->rate_given && !o->how.period, "-F" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given) {
			tare_fail(
				j->err, EINVAL,
				"the exact engine samples a command that it starts, with all its children, every N events: "
				"it cannot with %s",
				rows[i].what);
			tare_hint(j->err, "tare record --engine exact -c N -- COMMAND");
			return -EINVAL;
		}
	for (size_t i = 0; i < j->list.n; i++) {
		if (!engine_counts(&j->list.enc[i])) {
			tare_fail(j->err, EINVAL, "the exact engine does not count %.100s",
				  j->list.enc[i].name);
			tare_hint(j->err, "'tare events exact' lists what it does");
			return -EINVAL;
		}
	}
	return check_sampled(j);
}

/*
 * Chosen by name, by an event that only it has, or instead of a missing PMU for `instructions` and
 * `branches` of a command.
 */
static int choose_engine(struct job *j)
{
	const struct engine_question q = { .wish = ENGINE_EXACT };
	bool asked = j->o.engine == ENGINE_EXACT,
	     instead = j->o.engine == ENGINE_AUTO && j->o.events.given && j->argv;
	struct tare_error why = TARE_ERROR_INIT;
	int ret;

	for (size_t i = 0; i < j->list.n; i++) {
		asked |= engine_counts(&j->list.enc[i]);
		instead &= j->list.enc[i].unavailable &&
			j->list.enc[i].attr.type == PERF_TYPE_HARDWARE &&
			(j->list.enc[i].attr.config == PERF_COUNT_HW_INSTRUCTIONS ||
			 j->list.enc[i].attr.config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	}
	instead &= !j->o.rate_given || j->o.how.period;
	if (!asked && !instead)
		return 0;
	ret = exact_probe(&why);
	if (ret < 0 && asked) {
		*j->err = why;
		return ret;
	}
	if (ret < 0)
		return 0;
	ret = engine_choose(&j->list, &q, j->err);
	j->exact = ret >= 0;
	return ret < 0 ? ret : check_exact(j);
}

static int encode(struct job *j, const char *default_event)
{
	const struct encode_options how = { .keep_unavailable = true,
					    .event_files = j->o.events.n_files ? j->o.events.files
									       : NULL };
	int ret = 0;

	encoding_list_free(&j->list);
	j->list = (struct encoding_list){ 0 };
	if (default_event) {
		event_list_free(&j->o.events.list);
		ret = event_list_parse(default_event, &j->o.events.list, j->err);
	}
	if (ret == 0)
		ret = pmu_encode(j->machine, &j->o.events.list, &how, &j->list, j->err);
	if (ret == 0)
		ret = choose_engine(j);
	if (ret == 0)
		ret = refuse_unavailable(j);
	for (size_t i = 0; ret == 0 && (j->o.all_user || j->o.all_kernel) && i < j->list.n; i++)
		encoding_restrict(&j->list.enc[i], j->o.all_user);
	return ret;
}

static bool is_prime(uint64_t n)
{
	for (uint64_t k = 2; k <= n / k; k++)
		if (n % k == 0)
			return false;
	return n > 1;
}

/* A constant period can stay in step with a loop and always sample the same accesses, unless
 * period and loop length have no common divisor. */
static void warn_of_step(const struct record_options *o)
{
	enum { SEARCHED = 1 << 30 };
	uint64_t prime = o->how.period;

	if (prime < 2 || prime > SEARCHED || is_prime(prime) || o->quiet)
		return;
	while (!is_prime(prime))
		prime++;
	fprintf(stderr,
		"tare record: a sample every %llu, always: of a loop with which that has a divisor in common the same accesses are sampled for ever; -c %llu, a prime, has none\n",
		(unsigned long long)o->how.period, (unsigned long long)prime);
}

/* Samples at a fixed distance are not random, so the confidence interval of a share is not valid
 * for them. */
static void warn_of_fixed(const struct record_options *o, uint64_t period)
{
	if (period < 2 || o->quiet)
		return;
	fprintf(stderr,
		"tare record: --no-jitter: a sample exactly every %llu: a loop that is in step with it shows the same place each time, and shares "
		"may be wrong by any amount; without --no-jitter they are not\n",
		(unsigned long long)period);
}

/* The period is in the hardware's unit; a sample has this weight. */
static int choose_period(struct job *j)
{
	struct record_options *o = &j->o;
	const struct precise_choice *p = &j->precise;
	uint64_t asked = o->how.period;

	if (p->period && o->rate_given && !o->how.period) {
		tare_fail(j->err, EINVAL, "-F: %s cannot be sampled at a frequency", p->events);
		tare_hint(j->err, "-c N: one of every N operations; %llu unless given",
			  (unsigned long long)p->period);
		return -EINVAL;
	}
	if (p->period && !o->how.period)
		o->how.period = p->period;
	if (o->how.period && o->how.period < p->least)
		o->how.period = p->least;
	if (o->how.period % p->multiple)
		o->how.period += p->multiple - o->how.period % p->multiple;
	if (asked && asked != o->how.period)
		fprintf(stderr,
			"tare record: a sample every %llu: this PMU counts in multiples of %llu%s\n",
			(unsigned long long)o->how.period, (unsigned long long)p->multiple,
			o->how.period == p->least ? ", which is the minimum" : "");
	return 0;
}

/* Chooses the hardware; for a command without suitable hardware, the exact engine. */
static int choose_precise(struct job *j)
{
	struct record_options *o = &j->o;
	bool exact = o->engine == ENGINE_EXACT;
	struct tare_error why = TARE_ERROR_INIT;
	int ret = 0;

	o->precise_of.all_cpus = o->all_cpus || o->cpus.n;
	if (!exact) {
		ret = precise_choose(j->machine, &o->precise_of, &j->precise, j->err);
		exact = ret == -ENOTSUP && o->engine == ENGINE_AUTO && j->argv &&
			!o->precise_of.min_latency && exact_probe(&why) == 0;
		if (exact && !o->quiet)
			fprintf(stderr, "tare record: %s\n", j->err->what);
	}
	if (exact)
		ret = precise_exact(&o->precise_of, &j->precise, j->err);
	if (ret < 0)
		return ret;
	ret = choose_period(j);
	if (ret < 0)
		return ret;
	o->how.addresses = true;
	o->how.hardware = j->precise.registers;
	o->how.weights = j->precise.weights;
	o->how.weight |= exact ? false : !j->precise.weights;
	if (o->how.period && !exact && j->precise.multiple == 1)
		warn_of_step(o);
	j->phys_data = o->how.physical;
	o->how.physical |= j->precise.physical;
	o->events.given = true;
	if (!o->quiet)
		fprintf(stderr, "tare record: %s (%s)\n", j->precise.events, j->precise.why);
	return event_list_parse(j->precise.events, &o->events.list, j->err);
}

static uint64_t most_rate(void)
{
	char line[32];

	return file_line(NULL, "/proc/sys/kernel/perf_event_max_sample_rate", line, sizeof(line),
			 NULL) < 0
		? RATE_UNKNOWN
		: strtoull(line, NULL, 10);
}

static int choose_rate(struct job *j)
{
	uint64_t most = most_rate();

	if (j->o.how.period || !most)
		return 0;
	if (j->o.frequency_most || (!j->o.rate_given && j->o.how.frequency > most))
		j->o.how.frequency = most;
	if (j->o.how.frequency <= most)
		return 0;
	tare_fail(j->err, EINVAL, "-F %llu: the kernel allows %llu samples a second",
		  (unsigned long long)j->o.how.frequency, (unsigned long long)most);
	tare_hint(j->err,
		  "-F max, or raise kernel.perf_event_max_sample_rate (the kernel lowers it when "
		  "sampling takes too long)");
	return -EINVAL;
}

/* ---- AUX areas ---- */

/* Refuses options that SPE cannot do. Its clock is the kernel's, and context switches identify
 * the thread. */
static int check_aux(struct job *j, const struct encoding *e)
{
	struct record_options *o = &j->o;
	const struct {
		bool given;
		const char *what, *instead;
	} rows[] = {
		{ !o->how.period && !e->attr.sample_period, "a rate (-F)",
		  "-c N takes one of every N operations, 4096 for instance" },
		{ o->clock_given && o->how.clockid >= 0, "another clock (-k)",
		  "-k perf: its times are the kernel's own" },
		{ o->alloc, "--alloc",
		  "allocations have timestamps of another clock than SPE: omit it, or use --engine exact" },
		{ o->precise && o->how.calls != CALLS_NONE, "callers (-g)",
		  "SPE records only the instruction" },
		{ o->precise && o->how.branches, "a stack of branches (-b)",
		  "--precise=branches samples branches with their targets" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given) {
			tare_fail(j->err, EINVAL, "%.100s cannot be recorded with %s", e->name,
				  rows[i].what);
			tare_hint(j->err, "%s", rows[i].instead);
			return -EINVAL;
		}
	o->how.clockid = -1;
	o->how.switches = true;
	return 0;
}

/* Whether the kernel allows locking this much memory. Source: linux kernel/events/core.c,
 * perf_mmap(). */
static bool may_lock_much(void)
{
	char line[32];

	return geteuid() == 0 ||
		(file_line(NULL, "/proc/sys/kernel/perf_event_paranoid", line, sizeof(line),
			   NULL) == 0 &&
		 line[0] == '-');
}

/*
 * perf's sizes for root; for other users both buffers together must fit a CPU's share of
 * kernel.perf_event_mlock_kb (516). With an AUX area there are few records.
 */
static int choose_rings(struct job *j)
{
	struct record_options *o = &j->o;
	bool aux = false, much = may_lock_much();
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < j->list.n; i++)
		if (sample_by_aux(&j->list.enc[i])) {
			aux = true;
			ret = check_aux(j, &j->list.enc[i]);
		}
	if (ret == 0 && o->aux_bytes && !aux) {
		ret = tare_fail(j->err, EINVAL, "-m SIZE,AUX: no recorded event has an AUX area");
		tare_hint(j->err, "Arm's SPE has: --precise, or -e arm_spe_0//");
		ret = -EINVAL;
	}
	j->ring_by_rate = !o->ring_bytes && !aux && much ? RING_FAST : 0;
	if (!o->ring_bytes)
		o->ring_bytes = !aux ? RING : much ? RING_BESIDE : RING_BESIDE / 2;
	if (aux && !o->aux_bytes)
		o->aux_bytes = much ? AUX_AREA : AUX_AREA_LOCKED;
	return ret;
}

/* ---- recording ---- */

static void spare(struct job *j)
{
	temp_cleanup_forget(perfdata_writer_part(j->writer));
	temp_cleanup_forget(j->alloc.path);
}

static bool large_enough(void *with)
{
	struct job *j = with;
	struct text out = { 0 };

	if (perfdata_writer_kept(j->writer))
		temp_cleanup_finish();

	bool enough = record_size_enough(&j->size, perfdata_writer_size(j->writer),
					 record_alloc_size(&j->alloc), clock_now_ns() - j->begin_ns,
					 &out);

	if (out.len && !j->o.quiet)
		fprintf(stderr, "tare record: %s", out.s);
	text_free(&out);
	return enough;
}

/* No signal ends tare until each file has its name; close_writer() handles a file that has none
 * yet. */
static int finish(struct job *j, struct tare_error *err)
{
	int ret, placed;

	temp_cleanup_finish();
	spare(j); /* afterwards the names may belong to other files */
	ret = perfdata_writer_finish(j->writer, &j->outcome, err);
	/* of a recording that was lost: the one before keeps its own */
	placed = ret == -ESTALE ? 0 : record_alloc_place(&j->alloc, ret < 0 ? NULL : err);
	if (!perfdata_writer_part(j->writer))
		temp_cleanup_finished();
	return ret < 0 ? ret : placed;
}

static int record(struct job *j)
{
	const struct record_options *o = &j->o;
	const struct perfdata_write_options file = { .path = o->output,
						     .pipe = own_stdout(),
						     .root = NULL,
						     .argv = j->all_argv,
						     .compress = o->compress,
						     .build_ids = !o->no_build_ids,
						     .clockid = o->how.clockid,
						     .cpu_model = j->fixed.isa_model,
						     .made = temp_cleanup_add };
	struct sample_plan plan = {
		.events = &j->list,
		.how = o->how,
		.argv = j->argv,
		.launcher = &launch_plain,
		.envp = j->alloc.envp,
		.target = { .pids = o->pids,
			    .tids = o->tids,
			    .all_cpus = o->all_cpus,
			    .cpus = o->cpus,
			    .inherit = o->how.inherit },
		.timeout_ns = o->timeout_ns,
		.delay_ns = o->delay_ns,
		.ring_bytes = o->ring_bytes,
		.aux_bytes = o->aux_bytes,
		.ring_most = o->ring_bytes > RING_MOST ? o->ring_bytes : RING_MOST,
		.ring_by_rate = j->ring_by_rate,
		.rate_most = most_rate(),
		.enough = large_enough,
		.with = j,
	};
	struct tare_error late = TARE_ERROR_INIT;
	int ret, finished;

	/* choose the model now: in a pipe, the header is written before the command begins */
	j->fixed = o->fixed;
	if (!o->deterministic)
		j->fixed.set = FIXED_LAYOUT;
	ret = j->exact ? launch_choose_isa(&j->fixed, j->err) : 0;
	if (ret == 0)
		ret = perfdata_writer_open(&j->writer, &file, j->err);

	plan.how.fields = true;
	plan.how.rate_given = o->rate_given;

	if (ret < 0)
		return ret;
	if (j->exact) {
		ret = environment_fix(&j->environment, j->fixed.set, j->fixed.kept, j->argv,
				      plan.envp ? plan.envp : environ, j->err);
		plan.envp = j->environment.envp;
		plan.fixed = &j->fixed;
		if (!plan.how.period)
			plan.how.period = j->o.precise ? EXACT_ACCESS_PERIOD : EXACT_PERIOD;
		plan.how.jitter = !o->no_jitter;
		if (!o->quiet && reads_spread(j))
			say_spread(o);
		if (o->no_jitter)
			warn_of_fixed(o, plan.how.period);
	}
	if (ret < 0)
		return ret;
	j->size = (struct record_size){ .most = o->size_most,
					.file = strcmp(o->output, "-") ? o->output : NULL,
					.less = o->how.period || j->exact ? "a larger -c"
									  : "a lower -F" };
	j->begin_ns = clock_now_ns();
	ret = (j->exact ? sample_exact : sample_run)(&plan, perfdata_writer_sink(j->writer),
						     &j->outcome, j->err);
	if (!j->outcome.began)
		return ret;
	j->outcome.broke_off = ret < 0;
	finished = finish(j, ret < 0 ? &late : j->err);
	if (ret < 0 && !perfdata_writer_kept(j->writer) && j->err->hint[0])
		tare_hint(j->err, "write elsewhere with -o FILE");
	ret = ret < 0 ? ret : finished;
	if (ret == 0 && j->outcome.uncounted[0] && !j->outcome.partial.n)
		ret = exact_fail_uncounted(j->outcome.uncounted, j->outcome.has_status,
					   j->outcome.wait_status, j->err);
	return ret;
}

static void close_writer(struct job *j)
{
	sigset_t before = temp_cleanup_block();

	temp_cleanup_forget(perfdata_writer_part(j->writer));
	perfdata_writer_close(j->writer);
	j->writer = NULL;
	temp_cleanup_unblock(&before);
}

/* Nothing was recorded: resets the job to try another way. */
static void begin_anew(struct job *j)
{
	close_writer(j);
	sample_outcome_free(&j->outcome);
}

/* No event was given and there is no PMU: samples time instead, and reports it. */
static bool try_clock(struct job *j, int ret)
{
	if (j->o.events.given || j->exact || j->outcome.exec_code ||
	    (ret != -ENOENT && ret != -EOPNOTSUPP && ret != -ENODEV))
		return false;
	begin_anew(j);
	return true;
}

static void say_clocks(const struct job *j)
{
	for (size_t i = 0; i < j->list.n; i++) {
		uint64_t asked = sample_clock_short(&j->list.enc[i], &j->o.how);

		if (asked && !j->o.quiet)
			fprintf(stderr,
				"tare record: %s: a sample every 10 us, not every %llu ns: the kernel's clocks do not support shorter periods\n",
				j->list.enc[i].name, (unsigned long long)asked);
	}
}

/* Samples of `event`; NULL: of the requested events. */
static int sample_of(struct job *j, const char *event)
{
	int ret = encode(j, event);

	if (ret == 0)
		ret = choose_rings(j);
	if (ret == 0)
		say_clocks(j);
	return ret < 0 ? ret : record(j);
}

/* Physical addresses were not requested by the user and may be why it was refused: tries again
 * without them. */
static int try_without_physical(struct job *j, int ret)
{
	struct record_options *o = &j->o;

	if (!j->precise.physical || j->phys_data || j->outcome.began || j->outcome.exec_code ||
	    (ret != -EACCES && ret != -EPERM && ret != -EINVAL))
		return ret;
	begin_anew(j);
	if (!o->quiet)
		fprintf(stderr,
			"tare record: recording without physical addresses, because the kernel refused them: %s; kernel.perf_event_paranoid <= 1 or CAP_PERFMON "
			"may allow them\n",
			strerror(-ret));
	o->precise_of.no_physical = true;
	o->how.physical = false;
	event_list_free(&o->events.list);
	ret = choose_precise(j);
	return ret < 0 ? ret : sample_of(j, NULL);
}

/*
 * perf_event_open(2) is refused completely, as in most containers. As in tare stat, the exact
 * engine then runs a command for which no event was given.
 */
static int without_perf(struct job *j, int ret)
{
	struct tare_error first = *j->err, why = TARE_ERROR_INIT;
	const struct record_options *o = &j->o;

	if (j->exact || j->outcome.began || j->outcome.exec_code ||
	    (ret != -EPERM && ret != -EACCES && ret != -ENOSYS) || source_perf.probe(&why) == 0)
		return ret;
	if (o->events.given || o->engine != ENGINE_AUTO || !j->argv || exact_probe(NULL) < 0) {
		tare_hint(j->err, "%s", why.hint);
		return ret;
	}
	begin_anew(j);
	j->o.engine = ENGINE_EXACT;
	ret = sample_of(j, "instructions");
	if (ret == -EINVAL && !j->outcome.began) { /* an option that the engine cannot do */
		tare_hint(
			&first,
			"%.150s; without perf_event_open: tare record --engine exact -c N -- COMMAND",
			j->err->what);
		*j->err = first;
		return -first.code;
	}
	if (j->outcome.began && !o->quiet)
		fprintf(stderr,
			"tare record: perf_event_open is refused here (%s): the exact engine sampled instructions:u instead\n",
			strerror(first.code));
	return ret;
}

static int sample(struct job *j)
{
	int ret = choose_rate(j);
	bool clock = false;

	if (ret == 0 && j->o.precise)
		ret = choose_precise(j);
	if (ret < 0)
		return ret;
	ret = sample_of(j,
			j->o.events.given                     ? NULL
				: j->o.engine == ENGINE_EXACT ? "instructions"
							      : "cycles");
	if (ret < 0)
		ret = try_without_physical(j, ret);
	if (ret < 0 && try_clock(j, ret)) {
		clock = true;
		ret = sample_of(j, "cpu-clock");
	}
	if (ret < 0) {
		ret = without_perf(j, ret);
		clock &= !j->exact;
	}
	if (ret < 0 && j->precise.refused[0] && !j->outcome.began)
		tare_hint(j->err, "%s", j->precise.refused);
	if (ret == -EOPNOTSUPP && (j->o.how.branches || j->o.how.calls == CALLS_LBR))
		tare_hint(j->err, "only the PMU of some processors records branches: try %s",
			  j->o.how.calls == CALLS_LBR ? "--call-graph fp or dwarf"
						      : "without -b, -j");
	if (ret == 0 && clock && !j->o.quiet)
		fprintf(stderr,
			"tare record: no PMU counts cycles here: cpu-clock was sampled instead, a timer\n");
	return ret;
}

/* ---- the end ---- */

static void say_left(struct text *out, const struct perfdata_writer *w)
{
	size_t n;
	const char *newest = perfdata_writer_left(w, &n);

	text_add(out, "  ");
	escape(out, newest, strlen(newest));
	text_add(out, " exists, too: the recording of a killed recorder");
	input_say_parts(out, n);
	text_add(out, "\n");
}

static void say_other_alloc(struct text *out, const char *file)
{
	text_add(out, "  ");
	escape(out, file, strlen(file));
	text_add(
		out,
		" was not moved or removed: it is not an allocation file of this user, nor of this recording\n");
}

static int show(struct job *j, const struct command *self)
{
	struct output out;
	struct text text = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	int ret = output_open(&out, NULL, OUTPUT_WHOLE, STDERR_FILENO, &err);

	if (ret == 0) {
		const struct style style = output_style(&out, WHEN_AUTO);
		struct style with = style;

		with.thousands = true;
		record_view(&text, &j->outcome,
			    j->writer                          ? perfdata_writer_path(j->writer)
				    : strcmp(j->o.output, "-") ? j->o.output
							       : NULL,
			    j->writer ? perfdata_writer_size(j->writer) : 0, j->o.quiet, &with);
		if (!j->o.quiet)
			record_alloc_tell(&j->alloc, &text);
		if (j->writer && perfdata_writer_no_fields(j->writer))
			text_add(
				&text,
				"  the fields of tracepoints cannot be decoded from this file: %s\n",
				perfdata_writer_no_fields(j->writer));
		if (!j->o.quiet && j->writer && perfdata_writer_left(j->writer, NULL))
			say_left(&text, j->writer);
		if (j->writer && !j->alloc.path[0] && perfdata_writer_other_alloc(j->writer))
			say_other_alloc(&text, perfdata_writer_other_alloc(j->writer));
		ret = output_put(&out, &text, &err);
	}
	if (ret < 0 && ret != -EPIPE && ret != -EBADF)
		complain(self, &err, NULL);
	return 0;
}

static int status_of(const struct sample_outcome *o)
{
	int status = o->wait_status;

	if (!o->has_status)
		return o->by_signal && o->by_signal != SIGINT ? 128 + o->by_signal : 0;
	if ((o->timed_out || o->large_enough) && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)
		return 0; /* ended by tare, as requested */
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int exit_status(const struct job *j, int ret)
{
	if (ret >= 0)
		return status_of(&j->outcome);
	if (j->outcome.exec_code == ENOENT)
		return EXIT_NOT_FOUND;
	if (j->outcome.exec_code)
		return EXIT_NOT_EXECUTABLE;
	return ret == -EPIPE ? 128 + SIGPIPE : EXIT_CANNOT_MEASURE;
}

static int begin_alloc(struct job *j)
{
	sigset_t before = temp_cleanup_block();
	int ret = record_alloc_begin(&j->alloc, j->o.output, j->o.size_most, j->err);

	if (j->alloc.path[0])
		temp_cleanup_add(j->alloc.path);
	temp_cleanup_unblock(&before);
	return ret;
}

static int run_record(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct job j = { .o = RECORD_OPTIONS_INIT, .err = &err };
	int status, rest = options_parse(self, argc, argv, &j.o, &status), ret;

	if (rest < 0) {
		record_options_free(&j.o);
		return status;
	}
	j.argv = rest < argc ? argv + rest : NULL;
	j.all_argv = argv - 1; /* argv[0] is "record": the word before it is tare's own name */
	ret = record_options_check(&j.o, j.argv != NULL, &err);
	if (ret == 0 && j.argv && !strcmp(j.o.output, "-"))
		ret = own_stdout_take(&err);
	if (ret == 0 && j.o.deterministic) {
		status = pidspace_enter(&j.o.fixed, j.argv[0]);
		if (status >= 0) {
			record_options_free(&j.o);
			return status;
		}
	}
	if (ret == 0) {
		j.machine = machine_open(NULL, &err);
		ret = j.machine ? 0 : -err.code;
		if (ret == 0 && j.o.alloc)
			ret = begin_alloc(&j);
		if (ret == 0)
			ret = sample(&j);
	}
	if (j.outcome.began) {
		show(&j, self);
		if (j.o.deterministic && !j.o.quiet) {
			determinism_warn_had(self, &j.fixed);
			determinism_warn_missed(self, &j.fixed);
		}
	} else {
		record_alloc_forget(&j.alloc);
		temp_cleanup_forget(j.alloc.path);
	}
	if (ret < 0 && ret != -EPIPE)
		complain(self, &err, j.o.events.text);
	close_writer(&j);
	temp_cleanup_finished();
	status = exit_status(&j, ret);
	sample_outcome_free(&j.outcome);
	environment_free(&j.environment);
	record_alloc_free(&j.alloc);
	encoding_list_free(&j.list);
	machine_close(j.machine);
	record_options_free(&j.o);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.about = "sample events and record them in a perf.data file",
	.args = "[--] COMMAND [ARG]...",
	.example =
		"  tare record -g -- gcc -O2 -c x.c\n  tare record -e cycles:u,branch-misses:u -F 1000 -p 1234\n"
		"  tare record -a --timeout 5s",
	.topic = TOPIC_WHERE,
	.common = true,
	.common_options = "event freq g call-graph pid all-cpus output branch-any "
			  "timeout engine precise alloc",
	.options = record_option_rows,
	.run = run_record,
};

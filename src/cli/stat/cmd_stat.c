/* SPDX-License-Identifier: MIT */
/*
 * tare stat: counts events of a command, a process or the whole machine. Options become events and
 * a plan; a session passes counts to a summary; views print its tables.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>
#include "output/own_stdout.h"
#include "output/progress.h"
#include "cli/stat/stat_cross_check.h"
#include "cli/stat/stat_dry.h"
#include "cli/stat/stat_explain.h"
#include "cli/stat/stat_irqs.h"
#include "cli/stat/stat_options.h"
#include "cli/stat/stat_page.h"
#include "cli/stat/stat_trust.h"
#include "event/metric.h"
#include "exact/exact.h"
#include "msr/msr.h"
#include "launch/cgroup.h"
#include "launch/environment.h"
#include "launch/pidspace.h"
#include "count/event_batches.h"
#include "stat/stat.h"
#include "profile/report/profile_view.h"
#include "stat/stat_view.h"

static const char default_events[] = "task-clock,context-switches,cpu-migrations,page-faults,"
				     "cycles,instructions,branches,branch-misses";

/* Those that a core's counters count. */
static const char cross_events[] = "cycles,instructions,branches,branch-misses";

/* Each -d adds a row. */
static const char *const detail_events[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
	 "iTLB-load-misses"),
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

enum { PROFILE_ROWS = 25 /* for people, unless configured otherwise */ };

struct job {
	const struct command *self;
	struct stat_options o;
	char *const *argv; /* the command, or NULL */
	struct machine *machine;
	struct encoding_list list;
	char **cgroup; /* per encoding */
	int *cgroup_fd;
	struct cpu_place *cpu;
	size_t n_cpu;
	struct control control;
	struct output out;
	struct stat_page page;
	struct stat_explain explain;
	struct stat_trust trust;
	struct stat_irqs irqs;
	time_t started;
	struct style style;
	struct summary *summary;
	struct stat_about about;
	const struct launcher *launcher;
	struct profile *profile;
	bool profiled;                  /* some run */
	struct environment environment; /* of the command, if it is fixed */
	struct determinism fixed;
	const bool *only; /* the events of the current runs; NULL: all */
	bool exact_asked; /* requested by name: without exact counts tare stat fails */
	bool any_interval;
	struct progress progress;
	off_t input;       /* the offset of the file that is standard input; -1: it is none */
	unsigned all_runs; /* with --split and --clean-times further runs */
	struct tare_error *err;
};

/* ---- what to count ---- */

static bool is_listed(const struct event_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strncmp(l->event[i].text, name, strlen(name)) &&
		    (!l->event[i].text[strlen(name)] || l->event[i].text[strlen(name)] == ':'))
			return true;
	return false;
}

/* Adds the events of a metric as one group: the parts of a ratio must be counted at the same
 * time. */
static int add_metric_events(struct event_list *l, const struct metric_row *row,
			     struct tare_error *err)
{
	struct text group = { 0 };
	struct formula *f;
	size_t n = 0;
	int ret = formula_parse(row->formula, &f, err);

	for (size_t i = 0; ret == 0 && i < formula_names(f); i++) {
		const char *name = formula_name(f, i);

		if (strcmp(name, "duration_time") && !is_listed(l, name))
			text_add(&group, "%s%s", n++ ? "," : "{", name);
	}
	if (n) {
		text_add(&group, "}");
		ret = group.failed ? tare_fail_nomem(err) : event_list_parse(group.s, l, err);
		err->at = -1; /* tare wrote this text */
	}
	text_free(&group);
	formula_free(f);
	return ret;
}

static int choose_events(struct job *j)
{
	struct stat_options *o = &j->o;
	struct encode_options how = {
		.keep_unavailable = true,
		.event_files = o->events.n_files ? o->events.files : NULL,
		.cpu = o->cpu_model,
	};
	const struct msr_how registers = { .via = o->via,
					   .root = o->device_root,
					   .cpu = o->cpu_model };
	int ret = 0;

	if (o->null_run)
		return 0;
	if (o->engine == ENGINE_MSR)
		source_msr_how(&registers);
	if (!o->events.given && !o->metrics.n_asked)
		ret = event_list_parse(o->cross_check ? cross_events : default_events,
				       &o->events.list, j->err);
	for (size_t i = 0; ret == 0 && i < o->detail && i < ARRAY_SIZE(detail_events); i++)
		ret = event_list_parse(detail_events[i], &o->events.list, j->err);
	for (size_t i = 0; ret == 0 && i < o->metrics.n_asked; i++)
		ret = add_metric_events(&o->events.list, o->metrics.asked[i], j->err);
	if (ret == 0)
		ret = stat_irqs_expand(&o->events.list, j->machine, j->err);
	if (ret == 0)
		ret = pmu_encode(j->machine, &o->events.list, &how, &j->list, j->err);
	if (ret == 0)
		ret = stat_irqs_find(&j->irqs, &j->list, j->machine, j->err);
	if (ret == 0 && o->all_kernel && j->irqs.n)
		ret = tare_fail(
			j->err, EINVAL,
			"instructions-minus-irqs:u counts user mode: not with --all-kernel");
	/* With --all-user or --all-kernel, default clocks keep counting both modes: otherwise
	 * they would be refused. */
	for (size_t i = 0; ret == 0 && (o->all_user || o->all_kernel) && i < j->list.n; i++)
		if (encoding_source(&j->list.enc[i])->kernel &&
		    (o->events.given || encoding_modes(&j->list.enc[i]) != MODES_CLOCK))
			encoding_restrict(&j->list.enc[i], o->all_user);
	return ret;
}

/* perf's rule: cgroup names are assigned to events in order; a single name is used for all
 * events. */
static int choose_cgroups(struct job *j)
{
	const char *names = j->o.cgroups;
	size_t n = 1, at = 0;

	if (!names)
		return 0;
	for (const char *p = names; *p; p++)
		n += *p == ',';
	if (n > 1 && n != j->o.events.list.n) {
		tare_fail(j->err, EINVAL, "-G: %zu control groups for %zu events", n,
			  j->o.events.list.n);
		tare_hint(j->err, "name one for all events, or one for each");
		return -EINVAL;
	}
	j->cgroup = calloc(j->list.n + 1, sizeof(*j->cgroup));
	j->cgroup_fd = calloc(j->list.n + 1, sizeof(*j->cgroup_fd));
	if (!j->cgroup || !j->cgroup_fd)
		return tare_fail_nomem(j->err);
	for (size_t i = 0; i < j->list.n; i++)
		j->cgroup_fd[i] = -1;
	for (size_t i = 0; i < j->list.n; i++) {
		const char *p = names;

		at = n > 1 ? j->list.enc[i].event : 0;
		for (size_t k = 0; k < at; k++)
			p += strcspn(p, ",") + 1;
		if (!strcspn(p, ","))
			continue;
		j->cgroup[i] = strndup(p, strcspn(p, ","));
		if (!j->cgroup[i])
			return tare_fail_nomem(j->err);
		j->cgroup_fd[i] = cgroup_open(j->cgroup[i], j->err);
		if (j->cgroup_fd[i] < 0)
			return j->cgroup_fd[i];
	}
	return 0;
}

/* The source of a name, the exact engine's among them. */
/* Why the exact engine cannot count the events; 0: it can. */
static int ask_exact(const struct job *j, struct tare_error *why)
{
	const struct stat_options *o = &j->o;
	const struct {
		bool given;
		const char *what;
	} rows[] = { { o->pids, "-p" },           { o->tids, "-t" },
		     { o->all_cpus, "-a" },       { o->cpus.n, "-C" },
		     { o->no_inherit, "-i" },     { o->delay_ns || o->start_disabled, "-D" },
		     { o->control, "--control" }, { !j->argv, "no command" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given) {
			tare_fail(
				why, EINVAL,
				"the exact engine counts a command that it starts, with all its children, from "
				"begin to end: it cannot with %s",
				rows[i].what);
			tare_hint(why, "tare stat --engine exact -- COMMAND");
			return -EINVAL;
		}
	return exact_probe(why);
}

static int choose_engine(struct job *j)
{
	const struct stat_options *o = &j->o;
	struct tare_error cannot = TARE_ERROR_INIT;
	const struct engine_question q = { .wish = o->profile ? ENGINE_EXACT : o->engine,
					   .cannot = ask_exact(j, &cannot) < 0 ? &cannot : NULL,
					   .apart = o->clean_times };
	int exact = 0;

	j->launcher = &launch_plain;
	j->exact_asked = q.wish == ENGINE_EXACT;
	for (size_t i = 0; i < j->list.n; i++)
		j->exact_asked |= engine_counts(&j->list.enc[i]);
	if (!o->root) /* another root's machine is only inspected */
		exact = engine_choose(&j->list, &q, j->err);
	if (exact < 0)
		return exact;
	if (exact)
		j->launcher = &launch_exact;
	j->about.engine = o->engine == ENGINE_MSR ? &source_msr : j->launcher->engine;
	if (!exact && j->argv &&
	    (o->by == BY_PROCESS || (o->by == BY_THREAD && !o->pids && !o->tids))) {
		tare_fail(
			j->err, EINVAL,
			"%s of a command divides what the exact engine counts, and here it counts nothing%s%.120s",
			o->by == BY_PROCESS ? "--per-process" : "--per-thread",
			q.cannot ? ": " : "", cannot.what);
		tare_hint(
			j->err,
			"--engine exact; or start the command, then tare stat --per-thread -p PID");
		return -EINVAL;
	}
	return 0;
}

/* The same memory layout in every run, which exact counts need to be repeatable. */
static int choose_launch(struct job *j)
{
	const struct stat_options *o = &j->o;
	int ret;

	if (!o->deterministic && j->argv &&
	    (o->launch == LAUNCH_FIXED ||
	     (o->launch == LAUNCH_DEFAULT && j->launcher == &launch_exact)))
		j->fixed.set = FIXED_LAYOUT;
	if (!j->fixed.set)
		return 0;
	j->about.fixed = &j->fixed;
	ret = environment_fix(&j->environment, j->fixed.set, j->fixed.kept, j->argv, environ,
			      j->err);
	j->about.environment_bytes = j->environment.bytes;
	j->about.padding = ENVIRONMENT_PADDING;
	return ret;
}

/* ---- output ---- */

/* perf starts an output file with this line. Source: perf-stat(1), "-o". */
static void begin_file(const struct job *j, struct text *out)
{
	char when[32] = "";

	if (!j->o.out.path || j->o.out.format == FORMAT_JSON || j->o.out.format == FORMAT_CSV)
		return;
	ctime_r(&j->started, when);
	text_add(out, "# started on %s\n", when);
}

static int show(struct job *j, const struct stat_table *t, bool interval)
{
	const struct stat_options *o = &j->o;
	struct stat_metrics m;
	struct text text = { 0 };
	bool first = interval && !j->any_interval;
	int ret;

	if (o->quiet)
		return 0;
	ret = metrics_of(t, o->metrics.asked, &m, j->err);

	if (ret < 0)
		return ret;
	if (!j->out.any)
		begin_file(j, &text);
	switch (o->out.format) {
	case FORMAT_TEXT:
		if (interval)
			stat_text_interval(&text, t, &m, &j->about, &j->style, first);
		else
			stat_text(&text, t, &m, &j->about, &j->style);
		break;
	case FORMAT_PERF_CSV:
		stat_perf_csv(&text, t, &m, o->separator, interval);
		break;
	case FORMAT_PERF_JSON:
		stat_perf_json(&text, t, &m, interval);
		break;
	case FORMAT_JSON:
		if (interval)
			stat_json_interval(&text, t, &m);
		else
			stat_json(&text, t, &m, &j->about);
		break;
	case FORMAT_CSV:
		stat_csv(&text, t, &m, interval, first || !interval);
		if (j->about.profile) {
			text_put(&text, "\n", 1);
			profile_csv(&text, j->about.profile, j->about.profile_limit);
		}
		break;
	}
	j->any_interval |= interval;
	metrics_free(&m);
	return output_put(&j->out, &text, j->err);
}

/* --html: the table and, with intervals, each of them. */
static int to_page(struct job *j, const struct stat_table *t, bool interval)
{
	struct stat_about about = j->about;
	struct stat_metrics m;
	int ret;

	if (!j->o.out.html)
		return 0;
	about.profile_limit = j->o.profile_limited ? j->o.profile_limit
						   : 0; /* a page has space for them */
	ret = metrics_of(t, j->o.metrics.asked, &m, j->err);
	if (ret < 0)
		return ret;
	ret = interval ? stat_page_interval(&j->page, t, &m, j->err)
		       : stat_page_write(&j->page, t, &m, &about, j->started, j->err);
	metrics_free(&m);
	return ret;
}

static int show_interval(void *with, const struct stat_table *t, struct tare_error *err)
{
	int ret = to_page(with, t, true);

	(void)err;
	return ret < 0 ? ret : show(with, t, true);
}

static int take_profile(void *with, const struct exact_profile *p, struct tare_error *err)
{
	struct job *j = with;

	j->profiled = true;
	return profile_add(j->profile, p, err);
}

/* ---- the session ---- */

static void say_opened(const struct counting *c)
{
	for (size_t i = 0; i < c->n_enc; i++) {
		const struct encoding *e = &c->enc[i];

		fprintf(stderr, "tare stat: %s: type %u config %#llx%s%s group %u%s%s\n", e->name,
			e->attr.type, (unsigned long long)e->attr.config,
			e->attr.exclude_user ? " exclude_user" : "",
			e->attr.exclude_kernel ? " exclude_kernel" : "", e->group,
			e->unavailable ? ": " : ", opened", e->unavailable ? e->why : "");
	}
}

/* Called before any command starts: if no event can be counted, no command starts. */
static int opened(void *with, const struct counting *c, struct tare_error *err)
{
	struct job *j = with;
	const struct encoding *bad = NULL;
	bool any = c->any_open || !c->n_enc;

	if (j->o.verbose)
		say_opened(c);
	for (size_t i = 0; i < c->n_enc; i++) {
		any |= encoding_source(&c->enc[i])->clock || (j->only && !j->only[i]);
		if (c->enc[i].unavailable && !bad)
			bad = &c->enc[i];
	}
	if (!any && bad) {
		tare_fail(err, bad->unavailable, "%.100s is unavailable: %.250s", bad->name,
			  bad->why);
		tare_hint(err, "%s", bad->remedy);
		return -bad->unavailable;
	}
	if (bad && j->o.no_multiplex) {
		tare_fail(
			err, bad->unavailable,
			"%.100s is unavailable, and --no-multiplex accepts no partial results: %.200s",
			bad->name, bad->why);
		tare_hint(err, "%.120s%sname events with -e that can be counted here", bad->remedy,
			  bad->remedy[0] ? "; or " : "");
		return -bad->unavailable;
	}
	for (size_t i = 0; i < c->n_enc; i++) {
		if (!j->only || j->only[i])
			j->list.enc[i] = c->enc[i]; /* later batches must not undo it */
	}
	return summary_amend(j->summary, j->list.enc, j->list.n, err);
}

/* --no-multiplex: checked before the command starts, so that no run is wasted. */
static int check_fit(struct job *j)
{
	struct event_batches split;
	int ret = event_batches_measure(&split, &j->list, NULL, j->err);
	size_t first = 0;

	if (ret < 0)
		return ret;
	if (split.batches > 1) {
		while (!split.in[j->list.n + first])
			first++;
		tare_fail(j->err, EBUSY,
			  "%.100s does not fit on the counters with the events before it",
			  j->list.enc[first].name);
		tare_hint(j->err, "count fewer events at once, or --split them over several runs");
		ret = -EBUSY;
	}
	event_batches_free(&split);
	return ret;
}

static int show_dry(struct job *j)
{
	const struct count_target target = {
		.pids = j->o.pids, .tids = j->o.tids, .all_cpus = j->o.all_cpus, .cpus = j->o.cpus
	};
	struct text text = { 0 };
	int ret = stat_dry(&text, j->machine, &j->list, &target, j->err);

	if (ret == 0)
		return output_put(&j->out, &text, j->err);
	text_free(&text);
	return ret;
}

static void begin_run(void *with, unsigned run)
{
	struct job *j = with;

	/* each run reads the same file; a pipe, as with perf, is shared by all */
	if (j->input >= 0)
		lseek(STDIN_FILENO, j->input, SEEK_SET);
	progress_show(&j->progress, (double)run / j->all_runs, "run %u of %u", run + 1,
		      j->all_runs);
}

/* Runs for some of the events, added to earlier runs. `only`: NULL for all. */
static int count_batch(struct job *j, struct stat_plan *plan, const bool *only,
		       const struct launcher *launcher, struct stat_outcome *outcome)
{
	struct stat_outcome one;
	int ret;

	if (outcome->by_signal)
		return 0;
	j->only = plan->only = only;
	plan->launcher = launcher;
	plan->profile = j->profile && launcher == &launch_exact ? take_profile : NULL;
	ret = stat_run(plan, summary_sink(j->summary), &one, j->err);
	plan->first_run += one.runs;
	outcome->runs += one.runs;
	outcome->exec_code = one.exec_code;
	outcome->by_signal = one.by_signal;
	if (one.runs)
		j->about.batches++;
	return ret;
}

/* All events that the launcher's runs count; with --split in as many rounds as necessary. */
static int count_rounds(struct job *j, struct stat_plan *plan, const bool *mask,
			const struct launcher *launcher, struct stat_outcome *outcome)
{
	struct event_batches split = { 0 };
	size_t n = j->list.n;
	int ret;

	if (!j->o.split)
		return count_batch(j, plan, mask, launcher, outcome);
	ret = event_batches_measure(&split, &j->list, NULL, j->err);
	j->all_runs = j->o.runs * (split.batches + j->o.clean_times);
	for (unsigned b = 0; ret == 0 && b < split.batches; b++) {
		for (size_t i = 0; mask && i < n; i++)
			split.in[b * n + i] &= mask[i];
		ret = count_batch(j, plan, split.in + b * n, launcher, outcome);
	}
	j->only = NULL;
	event_batches_free(&split);
	return ret;
}

/* --clean-times: events that the engine does not count, and times, are measured in runs without
 * it. */
static int count_apart(struct job *j, struct stat_plan *plan, struct stat_outcome *outcome)
{
	size_t n = j->list.n;
	bool *mask = calloc(2 * n + 1, sizeof(*mask));
	int ret = mask ? 0 : tare_fail_nomem(j->err);

	for (size_t i = 0; mask && i < n; i++) {
		mask[i] = !engine_counts(&j->list.enc[i]);
		mask[n + i] = !mask[i];
	}
	if (ret == 0)
		ret = count_rounds(j, plan, mask, &launch_plain, outcome);
	if (ret == 0)
		ret = count_batch(j, plan, mask + n, &launch_exact, outcome);
	j->only = NULL;
	free(mask);
	return ret;
}

/* --cross-check: a run with registers, one with perf, then in reverse order, so that a drift
 * affects both. */
static int count_by_turns(struct job *j, struct stat_plan *plan, struct stat_outcome *outcome)
{
	size_t n = j->list.n;
	bool *mask = calloc(2 * n + 1, sizeof(*mask));
	int ret = mask ? 0 : tare_fail_nomem(j->err);

	for (size_t i = 0; mask && i < n; i++) {
		mask[i] = encoding_source(&j->list.enc[i])->registers;
		mask[n + i] = !mask[i];
	}
	plan->runs = 1;
	for (unsigned r = 0; ret == 0 && r < 2 * j->o.runs && !outcome->exec_code; r++)
		ret = count_batch(j, plan, mask + ((r + 1) / 2 % 2 ? n : 0), j->launcher, outcome);
	j->only = NULL;
	free(mask);
	return ret;
}

/* The noise budget; it may run the command again, so it comes before the output. */
static int explain(struct job *j, const struct stat_plan *plan, const struct stat_outcome *outcome)
{
	const struct stat_table *t;
	struct stat_plan again = *plan;
	int ret;

	progress_end(&j->progress);
	if (!j->o.explain || !outcome->runs)
		return 0;
	t = summary_table(j->summary, j->err);
	if (!t)
		return -j->err->code;
	again.runs = j->o.runs;
	ret = stat_explain(&j->explain, &again, t,
			   j->o.explain == EXPLAIN_ALL && !outcome->by_signal, j->err);
	j->about.explained = ret == 0 ? &j->explain.explained : NULL;
	return ret;
}

static int count(struct job *j, struct stat_outcome *outcome)
{
	const struct stat_options *o = &j->o;
	bool exact = j->launcher == &launch_exact;
	struct stat_plan plan = {
		.events = &j->list,
		.root = machine_root(j->machine),
		.argv = j->argv,
		.envp = j->environment.envp,
		.fixed = j->fixed.set ? &j->fixed : NULL,
		.partial = true,
		.parts = !exact               ? PARTS_NONE
			: o->by == BY_PROCESS ? PARTS_PROCESSES
			: o->by == BY_THREAD  ? PARTS_THREADS
					      : PARTS_NONE,
		.target = { .pids = o->pids,
			    .tids = o->tids,
			    .all_cpus = o->all_cpus,
			    .cpus = o->cpus,
			    .inherit = !o->no_inherit },
		.cgroup = (const char *const *)j->cgroup,
		.cgroup_fd = j->cgroup_fd,
		.runs = o->runs,
		.interval_ns = o->interval_ns,
		.intervals = o->intervals,
		.timeout_ns = o->timeout_ns,
		.delay_ns = o->delay_ns,
		.start_disabled = o->start_disabled,
		.control = o->control ? &j->control : NULL,
		.opened = opened,
		.pre = o->pre,
		.post = o->post,
		.sync = o->sync,
		.begin = begin_run,
		.around = o->explain,
		.with = j,
	};
	int ret = o->no_multiplex ? check_fit(j) : 0;
	struct stat input;

	if (ret < 0)
		return ret;
	if (j->argv && fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode))
		j->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	j->all_runs = o->runs * (1 + (o->cross_check || (exact && o->clean_times)));
	if (j->argv && j->all_runs > 1 && !o->interval_ns && !o->quiet)
		progress_begin(&j->progress, "stat", true);
	if (o->cross_check)
		return count_by_turns(j, &plan, outcome);
	if (exact && o->clean_times)
		ret = count_apart(j, &plan, outcome);
	else
		ret = count_rounds(j, &plan, NULL, j->launcher, outcome);
	if (ret == 0)
		ret = explain(j, &plan, outcome);
	if (ret != -ENOTSUP || !exact || j->exact_asked || (outcome->runs && !o->clean_times))
		return ret;
	/* The engine was not requested and cannot run this command: nothing has run yet. */
	engine_give_up(&j->list, j->err);
	if (outcome->runs) /* the clean runs are valid; only the counts are missing */
		return summary_amend(j->summary, j->list.enc, j->list.n, j->err);
	j->about.engine = launch_plain.engine;
	ret = count_rounds(j, &plan, NULL, &launch_plain, outcome);
	return ret < 0 ? ret : explain(j, &plan, outcome);
}

/* ---- the end ---- */

static int status_of(const struct stat_table *t)
{
	int status = t->wait_status;

	if (!t->has_status)
		return t->by_signal && t->by_signal != SIGINT ? 128 + t->by_signal : 0;
	for (unsigned i = 0; i < t->runs && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM; i++)
		if (t->end[i].wait_status == status)
			return stat_failed(&t->end[i]) || t->end[i].by_signal
				? 128 + SIGTERM
				: 0; /* ended by tare, as requested */
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* --no-multiplex: fails unless every event was counted for the whole time. */
static int check_whole(struct job *j, const struct stat_table *t)
{
	for (size_t i = 0; j->o.no_multiplex && i < t->n; i++) {
		const struct stat_row *r = &t->row[i];
		const char *name = t->enc[r->event].name;

		if (r->quality != TARE_SCALED && !(r->quality == TARE_UNAVAILABLE && r->enabled_ns))
			continue;
		tare_fail(j->err, EBUSY,
			  "%.100s did not fit: it was counted for %.1f %% of the time", name,
			  100 * r->share);
		tare_hint(j->err,
			  "count fewer events at once, or --split them over several runs; "
			  "'tare doctor' shows "
			  "what else uses counters");
		return -EBUSY;
	}
	return 0;
}

/* If exact counts were requested and there are none, the command's status must not look like
 * success. */
static int check_exact(struct job *j, const struct stat_table *t)
{
	for (size_t i = 0; j->exact_asked && i < t->n; i++) {
		const struct stat_row *r = &t->row[i];

		if (r->quality == TARE_UNAVAILABLE && engine_counts(&t->enc[r->event]))
			return tare_fail(j->err, ENOTSUP, "%.100s could not be counted: %.200s",
					 t->enc[r->event].name, r->why);
	}
	return 0;
}

/* Printed next to a document whose reader may look only at the numbers; not inside it. */
static void say_never_began(const struct job *j, const struct stat_table *t)
{
	struct text words = { 0 };

	if (j->o.out.format != FORMAT_TEXT && j->out.fd != STDERR_FILENO && !j->o.quiet &&
	    stat_never_began(&words, t) && !words.failed)
		fprintf(stderr, "tare stat: %s\n", words.s);
	text_free(&words);
}

static int finish(struct job *j, const struct stat_outcome *outcome)
{
	const struct stat_table *t = outcome->runs ? summary_table(j->summary, j->err) : NULL;
	int ret;

	if (!t)
		return outcome->runs ? -j->err->code : 0;
	j->about.exit_status = t->has_status ? status_of(t) : -1;
	if (j->profiled) {
		j->about.profile = profile_table(j->profile, j->err);
		if (!j->about.profile)
			return -j->err->code;
		j->about.profile_limit = j->o.profile_limit;
		if (!j->o.profile_limited && j->o.out.format == FORMAT_TEXT)
			j->about.profile_limit = PROFILE_ROWS;
	}
	if (j->o.cross_check) {
		ret = stat_cross_check_show(&j->out, t, &j->o, j->argv, &j->style, j->err);
		return ret < 0 ? ret : status_of(t) ? status_of(t) : ret;
	}
	ret = check_whole(j, t);
	if (ret == 0 && j->o.correct)
		ret = stat_trust_correct(&j->trust, j->machine, t, j->err);
	if (ret == 0 && (!j->o.interval_ns || j->o.out.format == FORMAT_JSON || j->o.summary))
		ret = show(j, t, false);
	if (ret == 0)
		ret = to_page(j, t, false);
	if (ret == 0 && j->o.verified_only && !j->o.root)
		ret = stat_trust_alive(&j->trust, t, j->err);
	if (ret == 0)
		ret = check_exact(j, t);
	if (ret == 0)
		say_never_began(j, t);
	return ret < 0 ? ret : status_of(t);
}

static int exit_status(int ret, const struct stat_outcome *outcome)
{
	if (ret >= 0)
		return ret;
	if (outcome->exec_code == ENOENT)
		return EXIT_NOT_FOUND;
	if (outcome->exec_code)
		return EXIT_NOT_EXECUTABLE;
	return ret == -EPIPE ? 128 + SIGPIPE : EXIT_CANNOT_MEASURE;
}

static const char *target_words(struct job *j, struct text *words)
{
	const struct stat_options *o = &j->o;

	if (o->pids)
		text_add(words, "process%s %s", strchr(o->pids, ',') ? "es" : "", o->pids);
	else if (o->tids)
		text_add(words, "thread%s %s", strchr(o->tids, ',') ? "s" : "", o->tids);
	else if (o->all_cpus)
		text_add(words, "the whole machine");
	if (o->cpus.n) {
		text_add(words, "%sCPU%s ", words->len ? " on " : "", o->cpus.n > 1 ? "s" : "");
		cpus_write(words, &o->cpus);
	}
	return words->len ? words->s : NULL;
}

static int open_output(struct job *j)
{
	const struct stat_options *o = &j->o;
	enum output_how how = o->append ? OUTPUT_APPEND
		: o->interval_ns        ? OUTPUT_ROWS
					: OUTPUT_WHOLE;
	bool to_stdout = o->log_fd == STDOUT_FILENO ||
		(o->out.path && own_stdout_is(o->out.path)) ||
		(o->out.html && own_stdout_is(o->out.html));
	int ret = to_stdout && j->argv && !o->root ? own_stdout_take(j->err) : 0,
	    fd = STDERR_FILENO;

	if (o->log_fd >= 0)
		fd = o->log_fd == STDOUT_FILENO ? own_stdout() : o->log_fd;
	return ret < 0 ? ret : output_open(&j->out, o->out.path, how, fd, j->err);
}

static int prepare(struct job *j)
{
	struct stat_options *o = &j->o;
	struct summary_options how = {
		.by = o->by, .intervals = o->interval_ns > 0, .interval = show_interval, .with = j
	};
	struct cpus online = { 0 };
	int ret = open_output(j);

	if (ret < 0)
		return ret;
	if (o->out.html)
		ret = page_file_open(&j->page.file, o->out.html, o->out.path, j->err);
	if (ret < 0)
		return ret;
	j->style = output_style(&j->out, o->out.colour);
	j->style.thousands = !o->no_thousands;
	j->machine = machine_open(o->root, j->err);
	if (!j->machine)
		return -j->err->code;
	ret = choose_events(j);
	if (ret == 0)
		ret = choose_engine(j);
	stat_irqs_settle(&j->irqs, &j->list);
	how.less = j->irqs.less;
	how.n_less = j->irqs.n;
	j->explain.less = &j->irqs;
	if (ret == 0 && !o->root) {
		ret = stat_trust_load(&j->trust, j->machine, &j->list, j->err);
		for (size_t i = 0; ret == 0 && i < j->irqs.n; i++)
			j->trust.view.verdict[j->irqs.less[i].event] =
				NULL; /* the verdict on instructions:u does not apply to it */
		j->about.trust = &j->trust.view;
	}
	if (ret == 0 && o->verified_only && !o->root)
		ret = stat_trust_check(&j->trust, &j->list, o->correct, j->err);
	if (ret == 0 && o->cross_check)
		ret = stat_cross_check_ready(&j->list, &o->cpus, j->err);
	if (ret == 0 && o->profile) {
		j->profile = profile_new(o->profile, j->err);
		ret = j->profile ? 0 : -ENOMEM;
	}
	if (ret == 0)
		ret = choose_launch(j);
	if (ret == 0)
		ret = choose_cgroups(j);
	if (ret == 0 && o->control)
		ret = control_open(&j->control, o->control, j->err);
	if (ret == 0 && o->by != BY_ALL && o->by != BY_THREAD && o->by != BY_PROCESS) {
		ret = cpus_online(machine_root(j->machine), &online, j->err);
		if (ret == 0)
			ret = topology_read(machine_root(j->machine), &online, &j->cpu, &j->n_cpu,
					    j->err);
		cpus_free(&online);
	}
	how.cpu = j->cpu;
	how.n_cpu = j->n_cpu;
	if (ret == 0) {
		j->summary = summary_new(&how, j->err);
		ret = j->summary ? summary_amend(j->summary, j->list.enc, j->list.n, j->err)
				 : -ENOMEM;
	}
	return ret;
}

static void clean_up(struct job *j)
{
	control_close(&j->control);
	stat_page_close(&j->page);
	for (size_t i = 0; i < j->list.n; i++) {
		if (j->cgroup)
			free(j->cgroup[i]);
		if (j->cgroup_fd && j->cgroup_fd[i] >= 0)
			close(j->cgroup_fd[i]);
	}
	free(j->cgroup);
	free(j->cgroup_fd);
	free(j->cpu);
	environment_free(&j->environment);
	stat_explain_free(&j->explain);
	stat_trust_free(&j->trust);
	stat_irqs_free(&j->irqs);
	summary_free(j->summary);
	profile_free(j->profile);
	encoding_list_free(&j->list);
	machine_close(j->machine);
	stat_options_free(&j->o);
}

static int run_stat(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct job j = { .self = self,
			 .o = STAT_OPTIONS_INIT,
			 .control = CONTROL_INIT,
			 .page = STAT_PAGE_INIT,
			 .started = time(NULL),
			 .input = -1,
			 .err = &err };
	struct stat_outcome outcome = { 0 };
	struct text target = { 0 };
	int status, rest = options_parse(self, argc, argv, &j.o, &status);

	if (rest < 0) {
		stat_options_free(&j.o);
		return status;
	}
	j.argv = rest < argc ? argv + rest : NULL;
	j.about.argv = j.argv;
	j.about.metrics_only = j.o.metrics_only;
	j.about.one_line = j.o.interval_ns > 0;
	j.about.clean_times = j.o.clean_times;
	j.about.verbose = j.o.verbose > 0;
	j.about.usual_launch = !j.o.deterministic && j.o.launch == LAUNCH_DEFAULT;
	j.about.aslr = !(personality(0xffffffff) & ADDR_NO_RANDOMIZE);

	int ret = stat_options_check(&j.o, j.argv != NULL, &err);

	if (ret == 0 && j.o.deterministic) {
		j.fixed = j.o.fixed;
		status = j.o.root || !j.argv ? -1 : pidspace_enter(&j.fixed, j.argv[0]);
		if (status >= 0) { /* it was done in a namespace */
			stat_options_free(&j.o);
			return status;
		}
	}

	j.about.target = target_words(&j, &target);
	if (ret == 0)
		ret = prepare(&j);
	if (ret == 0 && j.o.root)
		ret = show_dry(&j);
	else if (ret == 0)
		ret = count(&j, &outcome);
	progress_end(&j.progress);
	if ((ret == 0 && !j.o.root) || (ret != -EPIPE && outcome.runs && !outcome.exec_code)) {
		struct tare_error counting = err;
		int shown = finish(&j, &outcome);

		if (ret < 0)
			/* why the number of runs counted is smaller, not why fewer are printed */
			err = counting;
		else
			ret = shown;
	}

	struct tare_error late = TARE_ERROR_INIT;

	if (output_close(&j.out, &late) < 0 && ret >= 0) {
		err = late;
		ret = -late.code;
	}
	if (ret < 0 && ret != -EPIPE)
		complain(self, &err, j.o.events.text);
	text_free(&target);
	clean_up(&j);
	return exit_status(ret, &outcome);
}

const struct command cmd_stat = {
	.name = "stat",
	.about = "count events of a command, with the confidence of each number",
	.args = "[--] COMMAND [ARG]...",
	.example = "  tare stat -r 5 -- gcc -O2 -c x.c\n  tare stat -e "
		   "instructions:u,branch-misses:u -p 1234 -I 1000",
	.topic = TOPIC_HOW_MUCH,
	.common = true,
	.common_options = "event repeat metrics engine deterministic explain profile per-process "
			  "interval-print pid all-cpus timeout clean-times output format",
	.options = stat_option_rows,
	.run = run_stat,
};

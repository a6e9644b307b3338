/* SPDX-License-Identifier: MIT */
/* perf stat's options by perf's letters, and tare's own by name. */
#include <stdlib.h>
#include <string.h>
#include "symbols/debug_servers.h"
#include "base/num.h"
#include "noise/budget.h"
#include "output/input.h"
#include "cli/stat/stat_options.h"
#include "event/metric.h"

enum { INTERVAL_LEAST_NS = 1000000 };

static int set_event(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	o->event_text = o->events_given ? NULL : arg;
	o->events_given = true;
	return event_list_parse(arg, &o->events, err);
}

static int take_metric(struct stat_options *o, const struct metric_row *row, struct tare_error *err)
{
	for (size_t i = 0; i < o->n_asked; i++)
		if (o->asked[i] == row)
			return 0;
	if (o->n_asked == ASKED_MAX)
		return tare_fail(err, E2BIG, "more than %d metrics", ASKED_MAX);
	o->asked[o->n_asked++] = row;
	return 0;
}

static int no_metric(const char *word, struct tare_error *err)
{
	const char *names[64];
	struct text near = { 0 };
	size_t n = 0;

	for (const struct metric_row *r = metric_rows; r->name && n < ARRAY_SIZE(names); r++)
		if (!n || strcmp(names[n - 1], r->name))
			names[n++] = r->name;
	tare_fail(err, ENOENT, "there is no metric '%.64s'", word);
	text_nearest(&near, word, names, n, 2);
	if (near.len) {
		tare_hint(err, "did you mean %s? --metric 'name=formula' makes your own", near.s);
	} else {
		for (size_t i = 0; i < n; i++)
			text_add(&near, "%s%s", i ? ", " : "", names[i]);
		tare_hint(err, "there are %.200s; --metric 'name=formula' makes your own", near.s);
	}
	text_free(&near);
	return -ENOENT;
}

/* -M: by name. */
static int set_metrics(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	for (const char *p = arg;;) {
		size_t n = strcspn(p, ",");
		char word[64] = "";
		const struct metric_row *row;

		if (n < sizeof(word))
			memcpy(word, p, n);
		row = metric_find(word);
		if (!row)
			return no_metric(word, err);

		int ret = take_metric(o, row, err);

		if (ret < 0 || !p[n])
			return ret;
		p += n + 1;
	}
}

/* --metric 'name=formula', or a name. */
static int set_metric(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;
	size_t n = strcspn(arg, "=");
	struct metric_row row = { .unit = "", .about = "your own", .digits = 3 };
	const char *formula = arg + n + 1; /* after the '=' */
	struct formula *f;

	if (!arg[n])
		return set_metrics(to, arg, err);
	if (!n || o->n_own == ASKED_MAX)
		return tare_fail(err, EINVAL, n ? "more than %d metrics" : "the metric has no name",
				 ASKED_MAX);

	int ret = formula_parse(formula, &f, err);

	if (ret < 0) {
		if (err->at >= 0)
			err->at += (int)(formula - arg);
		return ret;
	}
	if (!formula_names(f))
		ret = tare_fail(err, EINVAL, "the formula names no event");
	formula_free(f);
	while (n && arg[n - 1] == ' ')
		n--;
	row.name = strndup(arg, n);
	row.formula = strdup(formula);
	if (ret == 0 && (!row.name || !row.formula))
		ret = tare_fail_nomem(err);
	if (ret < 0) {
		free((char *)row.name);
		free((char *)row.formula);
		return ret;
	}
	row.unit = row.name;
	o->own[o->n_own] = row;
	return take_metric(o, &o->own[o->n_own++], err);
}

static int set_event_file(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	if (o->n_event_files == EVENT_FILES_MAX)
		return tare_fail(err, E2BIG, "more than %d event files", EVENT_FILES_MAX);
	o->event_files[o->n_event_files++] = arg;
	input_note(arg);
	return 0;
}

static int set_runs(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;
	uint64_t n;
	int ret = num_parse(arg, &n, err);

	if (ret == 0 && n > RUNS_MAX)
		return tare_fail(err, ERANGE, "%.32s runs are more than %d", arg, RUNS_MAX);
	if (ret == 0)
		o->runs = (unsigned)n;
	return ret;
}

static int set_cpus(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	cpus_free(&o->cpus);

	int ret = cpus_parse(arg, &o->cpus, err);

	if (ret == 0 && !o->cpus.n)
		return tare_fail(err, EINVAL, "a list of CPUs such as 0-3,8 is wanted");
	return ret;
}

static int set_interval(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;
	int ret = num_parse_ns(arg, 1000000, &o->interval_ns, err);

	if (ret == 0 && o->interval_ns < INTERVAL_LEAST_NS)
		return tare_fail(err, ERANGE,
				 "an interval of less than 1 ms measures its own printing");
	return ret;
}

static int set_intervals(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;
	uint64_t n;
	int ret = num_parse(arg, &n, err);

	if (ret == 0 && (!n || n > UINT32_MAX))
		return tare_fail(err, ERANGE, "%.32s is no number of intervals", arg);
	if (ret == 0)
		o->intervals = (unsigned)n;
	return ret;
}

static int set_timeout(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;
	int ret = num_parse_ns(arg, 1000000, &o->timeout_ns, err);

	if (ret == 0 && !o->timeout_ns)
		return tare_fail(err, ERANGE, "a time limit of 0 leaves nothing to count");
	return ret;
}

static int set_delay(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	o->start_disabled = !strcmp(arg, "-1");
	o->delay_ns = 0;
	return o->start_disabled ? 0 : num_parse_ns(arg, 1000000, &o->delay_ns, err);
}

static int set_format(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;
	static const struct {
		const char *name;
		enum stat_format format;
	} rows[] = { { "text", FORMAT_TEXT }, { "json", FORMAT_JSON }, { "csv", FORMAT_CSV } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(arg, rows[i].name)) {
			o->format = rows[i].format;
			return 0;
		}
	return tare_fail(err, EINVAL, "there is no format '%.32s': text, json or csv", arg);
}

static int set_separator(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	o->format = FORMAT_PERF_CSV;
	o->separator = !strcmp(arg, "\\t") ? "\t" : arg;
	return *arg ? 0 : tare_fail(err, EINVAL, "the separator is empty");
}

static int set_log_fd(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;
	uint64_t fd;
	int ret = num_parse(arg, &fd, err);

	if (ret == 0 && fd > 1 << 20)
		return tare_fail(err, ERANGE, "%.32s is not a descriptor's number", arg);
	if (ret == 0)
		o->log_fd = (int)fd;
	return ret;
}

static int set_engine(void *to, const char *arg, struct tare_error *err)
{
	static const struct {
		const char *name;
		enum engine_wish wish;
	} rows[] = { { "auto", ENGINE_AUTO }, { "perf", ENGINE_PERF }, { "exact", ENGINE_EXACT },
		     { "msr", ENGINE_MSR } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(arg, rows[i].name)) {
			((struct stat_options *)to)->engine = rows[i].wish;
			return 0;
		}
	return tare_fail(err, EINVAL, "there is no engine '%.32s': auto, perf, exact or msr", arg);
}

static int set_via(void *to, const char *arg, struct tare_error *err)
{
	(void)err;
	((struct stat_options *)to)->via = arg;
	return 0;
}

static int set_device_root(void *to, const char *arg, struct tare_error *err)
{
	(void)err;
	((struct stat_options *)to)->device_root = arg;
	return 0;
}

static int set_cpu_model(void *to, const char *arg, struct tare_error *err)
{
	(void)err;
	((struct stat_options *)to)->cpu_model = arg;
	return 0;
}

static int set_launch(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	if (strcmp(arg, "fixed") && strcmp(arg, "plain"))
		return tare_fail(err, EINVAL, "there is no launch '%.32s': fixed or plain", arg);
	o->launch = !strcmp(arg, "fixed") ? LAUNCH_FIXED : LAUNCH_PLAIN;
	return 0;
}

/* --deterministic[=ITEMS] */
static int set_deterministic(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	o->deterministic = true;
	return fixed_parse(arg, &o->fixed, err);
}

/* --profile[=function|line] */
static int set_profile(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	if (arg && strcmp(arg, "function") && strcmp(arg, "line"))
		return tare_fail(err, EINVAL, "by '%.32s' there is no profile: function or line", arg);
	o->profile = arg && !strcmp(arg, "line") ? PROFILE_LINE : PROFILE_FUNCTION;
	return 0;
}

static int set_debuginfod(void *to, const char *arg, struct tare_error *err)
{
	(void)to, (void)arg;
	return debug_servers_use(err);
}

static int set_profile_limit(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;
	uint64_t n;
	int ret = num_parse(arg, &n, err);

	if (ret == 0) {
		o->profile_limit = (size_t)n;
		o->profile_limited = true;
	}
	return ret;
}

static int set_colour(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;
	static const char *const words[] = { "auto", "always", "never" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(arg, words[i])) {
			o->colour = (enum when)i;
			return 0;
		}
	return tare_fail(err, EINVAL, "'%.32s' is none of auto, always, never", arg);
}

static int set_root(void *to, const char *arg, struct tare_error *err)
{
	((struct stat_options *)to)->root = arg;
	return *arg ? 0 : tare_fail(err, EINVAL, "a directory is wanted");
}

static int set_explain(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	if (arg && strcmp(arg, "all") && strcmp(arg, "regression"))
		return tare_fail(err, EINVAL, "'%.40s' is no way to explain: all or regression", arg);
	o->explain = arg && !strcmp(arg, "regression") ? EXPLAIN_REGRESSION : EXPLAIN_ALL;
	return 0;
}

/* The plain ones: a word kept, a flag set. */
#define KEEP(name, member)                                                                         \
	static int name(void *to, const char *arg, struct tare_error *err)                         \
	{                                                                                          \
		((struct stat_options *)to)->member = arg;                                         \
		return *arg ? 0 : tare_fail(err, EINVAL, "a value is wanted");                     \
	}
#define FLAG(name, member, value)                                                                  \
	static int name(void *to, const char *arg, struct tare_error *err)                         \
	{                                                                                          \
		(void)arg;                                                                         \
		(void)err;                                                                         \
		((struct stat_options *)to)->member = (value);                                     \
		return 0;                                                                          \
	}

KEEP(set_pids, pids)
KEEP(set_tids, tids)
KEEP(set_cgroups, cgroups)
KEEP(set_output, output)
KEEP(set_html, html)
KEEP(set_control, control)
KEEP(set_pre, pre)
KEEP(set_post, post)
FLAG(set_all_cpus, all_cpus, true)
FLAG(set_all_user, all_user, true)
FLAG(set_all_kernel, all_kernel, true)
FLAG(set_sync, sync, true)
FLAG(set_summary, summary, true)
FLAG(set_quiet, quiet, true)
FLAG(set_no_inherit, no_inherit, true)
FLAG(set_no_aggr, by, BY_CPU)
FLAG(set_per_core, by, BY_CORE)
FLAG(set_per_die, by, BY_DIE)
FLAG(set_per_socket, by, BY_SOCKET)
FLAG(set_per_node, by, BY_NODE)
FLAG(set_per_thread, by, BY_THREAD)
FLAG(set_per_process, by, BY_PROCESS)
FLAG(set_clean_times, clean_times, true)
FLAG(set_cross_check, cross_check, true)
FLAG(set_verified_only, verified_only, true)
FLAG(set_correct, correct, true)
FLAG(set_json, format, FORMAT_PERF_JSON)
FLAG(set_append, append, true)
FLAG(set_thousands, no_thousands, false)
FLAG(set_no_thousands, no_thousands, true)
FLAG(set_metric_only, metrics_only, true)
FLAG(set_no_multiplex, no_multiplex, true)
FLAG(set_split, split, true)
FLAG(set_null, null_run, true)
FLAG(set_detail, detail, ((struct stat_options *)to)->detail + 1)
FLAG(set_verbose, verbose, ((struct stat_options *)to)->verbose + 1)

/* perf stat's that are not taken, and what does the same work. */
#define REFUSE(name, why, instead)                                                                 \
	static int name(void *to, const char *arg, struct tare_error *err)                         \
	{                                                                                          \
		(void)to;                                                                          \
		(void)arg;                                                                         \
		tare_fail(err, ENOTSUP, why);                                                      \
		tare_hint(err, instead);                                                           \
		return -ENOTSUP;                                                                   \
	}

REFUSE(no_raw, "a count of part of the time is not shown as if it were of the whole",
       "--no-multiplex or --split give full counts; -j and --format json say how long each was counted")
REFUSE(no_each_cgroup, "events are not repeated for each control group", "-G NAMES: one group for all events, or one for each")
REFUSE(no_merge, "events of one name on several PMUs are told apart as it is: pmu/event/ names one", "tare events explain NAME shows where it is counted")
REFUSE(no_bpf, "no counters are shared through BPF", "-e EVENTS counts with counters of its own")
REFUSE(no_topdown, "levels of top-down analysis are not computed", "-M frontend-stalls,backend-stalls; tare events lists the topdown events of a CPU")

const struct option_row stat_option_rows[] = {
	{ 'e', "event", "EVENTS", "what to count, as perf writes it: cycles:u,{a,b},r1a8",
	  set_event },
	{ 'M', "metrics", "NAMES", "metrics by name (ipc, branch-miss-rate, ...) with their events",
	  set_metrics },
	{ 0, "metric", "NAME=FORMULA", "a metric of your own, with its events", set_metric },
	{ 'd', "detailed", NULL, "more of the default events; up to -d -d -d", set_detail },
	{ 'r', "repeat", "N", "N runs: median, spread, outliers (0: until Ctrl-C)", set_runs },
	{ 'p', "pid", "PIDS", "count running processes, with all their threads", set_pids },
	{ 't', "tid", "TIDS", "count running threads", set_tids },
	{ 'a', "all-cpus", NULL, "count everything on all CPUs", set_all_cpus },
	{ 'C', "cpu", "CPUS", "count everything on these CPUs", set_cpus },
	{ 'G', "cgroup", "NAMES", "with -a: only tasks of control groups", set_cgroups },
	{ 0, "all-user", NULL, NULL, set_all_user },
	{ 0, "all-kernel", NULL, NULL, set_all_kernel },
	{ 'S', "sync", NULL, NULL, set_sync },
	{ 0, "pre", "COMMAND", NULL, set_pre },
	{ 0, "post", "COMMAND", NULL, set_post },
	{ 0, "summary", NULL, NULL, set_summary },
	{ 'q', "quiet", NULL, NULL, set_quiet },
	{ 0, "no-scale", NULL, NULL, no_raw },
	{ 0, "for-each-cgroup", "NAMES", NULL, no_each_cgroup },
	{ 0, "no-merge", NULL, NULL, no_merge },
	{ 'b', "bpf-prog", "IDS", NULL, no_bpf },
	{ 0, "bpf-counters", NULL, NULL, no_bpf },
	{ 0, "topdown", NULL, NULL, no_topdown },
	{ 'i', "no-inherit", NULL, "leave children and new threads out", set_no_inherit },
	{ 'A', "no-aggr", NULL, "with -a or -C: a row per CPU", set_no_aggr },
	{ 0, "per-thread", NULL, "a row per thread: with -p or -t, or of a command's exact counts",
	  set_per_thread },
	{ 0, "per-process", NULL, "a row per process of a command, of its exact counts", set_per_process },
	{ 0, "per-core", NULL, "with -a: a row per core; so --per-die, --per-socket, --per-node",
	  set_per_core },
	{ 0, "per-die", NULL, NULL, set_per_die },
	{ 0, "per-socket", NULL, NULL, set_per_socket },
	{ 0, "per-node", NULL, NULL, set_per_node },
	{ 'I', "interval-print", "MS", "counts of every interval, as it ends", set_interval },
	{ 0, "interval-count", "N", "end after N intervals", set_intervals },
	{ 'D', "delay", "MS", "begin to count after MS; -1: when --control says so", set_delay },
	{ 0, "control", "fd:|fifo:", "IN[,ACK]: obey enable, disable, ping, stop", set_control },
	{ 0, "timeout", "MS", "end after MS", set_timeout },
	{ 0, "no-multiplex", NULL, "full counts or none: fail, naming what did not fit",
	  set_no_multiplex },
	{ 0, "split", NULL, "events that do not fit at once are counted in further rounds",
	  set_split },
	{ 0, "engine", "ENGINE", "auto, perf, exact: what gives user-mode counts; msr: the registers", set_engine },
	{ 0, "via", "WAY", NULL, set_via },
	{ 0, "device-root", "DIR", NULL, set_device_root },
	{ 0, "cpu-model", "MODEL", NULL, set_cpu_model },
	{ 0, "cross-check", NULL, "with --engine msr: perf counts the same in turns; do they agree?", set_cross_check },
	{ 0, "profile", "[BY]", "exact instructions by function, or with =line by source line", set_profile },
	{ 0, "profile-limit", "N", NULL, set_profile_limit },
	{ 0, "debuginfod", NULL, NULL, set_debuginfod },
	{ 0, "verified-only", NULL, "refuse events that tare verify did not find right", set_verified_only },
	{ 0, "correct", NULL, NULL, set_correct },
	{ 0, "clean-times", NULL, "with exact counts: times from further runs, without the engine",
	  set_clean_times },
	{ 0, "launch", "HOW", NULL, set_launch },
	{ 0, "deterministic", "[ITEMS]", "what differs from run to run is fixed; tare run --list shows what", set_deterministic },
	{ 0, "explain", "[HOW]", "with -r: what the spread comes from; =regression: no further runs", set_explain },
	{ 'n', "null", NULL, "count nothing: times only", set_null },
	{ 'o', "output", "FILE", "write there (-: standard output); --append adds to it",
	  set_output },
	{ 0, "append", NULL, NULL, set_append },
	{ 0, "html", "FILE", "write a page there, too: opens in a browser, offline", set_html },
	{ 0, "log-fd", "FD", NULL, set_log_fd },
	{ 0, "format", "FORMAT", "text, json (schema tare/stat/1) or csv (with a header)",
	  set_format },
	{ 'x', "field-separator", "SEP", "perf stat's fields, separated by SEP", set_separator },
	{ 'j', "json-output", NULL, "perf stat's JSON lines", set_json },
	{ 'B', "big-num", NULL, NULL, set_thousands },
	{ 0, "no-big-num", NULL, NULL, set_no_thousands },
	{ 0, "metric-only", NULL, NULL, set_metric_only },
	{ 0, "color", "WHEN", NULL, set_colour },
	{ 'v', "verbose", NULL, NULL, set_verbose },
	{ 0, "event-file", "FILE", "vendor events in JSON, for -e", set_event_file },
	{ 0, "sysfs-root", "DIR", "show what would be opened on the machine whose /sys is there",
	  set_root },
	{ 0 },
};

/* Two counts of the same command are compared, and nothing else is shown. */
static int check_cross(const struct stat_options *o, bool has_command, struct tare_error *err)
{
	const struct {
		bool given;
		const char *what;
	} rows[] = { { o->interval_ns, "-I" },	    { o->split, "--split" },	{ o->by != BY_ALL, "--per-core and the like" },
		     { o->n_asked, "-M" },	    { o->html, "--html" },	{ o->null_run, "-n" },
		     { o->detail, "-d" },	    { o->control, "--control" }, { o->delay_ns || o->start_disabled, "-D" },
		     { !o->runs, "-r 0" },	    { o->root, "--root" },
		     { o->format != FORMAT_TEXT && o->format != FORMAT_JSON, "this format: text or json" } };

	if (o->engine != ENGINE_MSR)
		return tare_fail(err, EINVAL, "--cross-check compares registers with perf: with --engine msr");
	if (!has_command)
		return tare_fail(err, EINVAL, "--cross-check runs a command by turns, and there is none");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given)
			return tare_fail(err, EINVAL, "--cross-check compares whole runs of a command: not with %s", rows[i].what);
	return 0;
}

/* The budget is of whole runs of a command, each event once. */
static int check_explain(const struct stat_options *o, bool has_command, struct tare_error *err)
{
	const struct {
		bool given;
		const char *what;
	} rows[] = { { o->interval_ns, "-I" },
		     { o->split, "--split" },
		     { o->clean_times, "--clean-times" },
		     { o->by != BY_ALL, "rows per CPU, process or thread" },
		     { o->cross_check, "--cross-check" },
		     { o->pids || o->tids, "-p or -t" },
		     { o->all_cpus || o->cpus.n, "-a or -C" },
		     { o->control || o->start_disabled, "--control" },
		     { o->format == FORMAT_PERF_CSV || o->format == FORMAT_PERF_JSON || o->format == FORMAT_CSV, "this format: text or json" } };

	if (!has_command || o->runs < 2 || o->runs > BUDGET_RUNS_MOST) {
		tare_fail(err, EINVAL, "--explain compares runs of a command: 2 to %d of them", BUDGET_RUNS_MOST);
		tare_hint(err, "tare stat -r 20 --explain -- COMMAND");
		return -EINVAL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given)
			return tare_fail(err, EINVAL, "--explain is of whole runs of a command: not with %s", rows[i].what);
	return 0;
}

int stat_options_check(struct stat_options *o, bool has_command, struct tare_error *err)
{
	bool tasks = o->pids || o->tids, wide = o->all_cpus || o->cpus.n;

	if (!has_command && !tasks && !wide && !o->root) {
		tare_fail(err, EINVAL,
			  "nothing to count: no command, process, thread or CPU is named");
		tare_hint(err, "tare stat -- COMMAND, or -p PID, -t TID, -a");
		return -EINVAL;
	}
	if (o->pids && o->tids)
		return tare_fail(err, EINVAL, "-p and -t: choose one");
	if (tasks && o->all_cpus)
		return tare_fail(err, EINVAL,
				 "-a counts everything: it leaves no room for -p or -t");
	if (o->by == BY_PROCESS && (tasks || wide))
		return tare_fail(err, EINVAL, "--per-process divides a command's exact counts: not with -p, -t, -a or -C");
	if (o->by == BY_THREAD && !tasks && wide)
		return tare_fail(err, EINVAL, "--per-thread needs -p or -t, or a command whose counts are exact");
	if (o->by != BY_ALL && o->by != BY_THREAD && o->by != BY_PROCESS && !wide)
		return tare_fail(err, EINVAL, "rows per CPU, core or socket need -a or -C");
	if (o->cgroups && !wide)
		return tare_fail(err, EINVAL,
				 "-G needs -a or -C: control groups are counted per CPU");
	if (o->runs != 1 && !has_command)
		return tare_fail(err, EINVAL, "-r repeats a command, and there is none");
	if (o->split && (!has_command || o->interval_ns || tasks))
		return tare_fail(
		    err, EINVAL,
		    "--split repeats a command: not with -I, -p, -t or without command");
	if (o->split && o->no_multiplex)
		return tare_fail(err, EINVAL, "--split and --no-multiplex: choose one");
	if (o->intervals && !o->interval_ns)
		return tare_fail(err, EINVAL, "--interval-count needs -I");
	if (o->start_disabled && !o->control) {
		tare_fail(err, EINVAL,
			  "-D -1 begins when --control says so, and there is no --control");
		tare_hint(err, "add --control fifo:PATH (mkfifo PATH), and write 'enable' there");
		return -EINVAL;
	}
	if ((o->via || o->device_root || o->cpu_model) && o->engine != ENGINE_MSR)
		return tare_fail(err, EINVAL, "--via, --device-root and --cpu-model are about registers: with --engine msr");
	if (o->engine == ENGINE_MSR && (tasks || o->cgroups || !wide)) {
		tare_fail(err, EINVAL, "registers count what a CPU does, not a task or a group of them: --engine msr goes with -C or -a");
		tare_hint(err, "tare stat --engine msr -C 2 -- taskset -c 2 COMMAND");
		return -EINVAL;
	}
	if (o->cross_check) {
		int ret = check_cross(o, has_command, err);

		if (ret < 0)
			return ret;
	}
	if (o->correct && (o->interval_ns || o->by != BY_ALL || (o->format != FORMAT_TEXT && o->format != FORMAT_JSON)))
		return tare_fail(err, EINVAL, "--correct is of whole runs, as text or json: not with -I, rows per CPU, process or thread, or another format");
	if (o->explain) {
		int ret = check_explain(o, has_command, err);

		if (ret < 0)
			return ret;
	}
	if (o->profile_limited && !o->profile)
		return tare_fail(err, EINVAL, "--profile-limit needs --profile");
	if (o->profile && (o->engine == ENGINE_PERF || o->engine == ENGINE_MSR)) {
		tare_fail(err, EINVAL, "--profile shows what the exact engine counts: not with --engine perf or msr");
		return -EINVAL;
	}
	if (o->profile && (o->interval_ns || o->split || !has_command))
		return tare_fail(err, EINVAL, "--profile is of a whole command: not with -I or --split, or "
					      "without command");
	if (o->profile && (!o->runs || o->runs > PROFILE_RUNS_MAX))
		return tare_fail(err, EINVAL, "--profile takes 1 to %d runs", PROFILE_RUNS_MAX);
	if (o->profile && (o->format == FORMAT_PERF_CSV || o->format == FORMAT_PERF_JSON)) {
		tare_fail(err, EINVAL, "perf's layouts have no room for a profile: not with -x or -j");
		tare_hint(err, "--format csv or --format json");
		return -EINVAL;
	}
	if (o->deterministic && o->launch)
		return tare_fail(err, EINVAL, "--deterministic and --launch: choose one");
	if (o->deterministic && !has_command && !o->root)
		return tare_fail(err, EINVAL, "--deterministic is about starting a command, and there is none");
	if ((o->clean_times || o->launch) && !has_command)
		return tare_fail(err, EINVAL, "--clean-times and --launch are about starting a command, and there is none");
	if (o->clean_times && o->interval_ns)
		return tare_fail(err, EINVAL, "--clean-times and -I: choose one");
	if (o->metrics_only && (o->format == FORMAT_PERF_CSV || o->format == FORMAT_PERF_JSON)) {
		tare_fail(err, EINVAL, "--metric-only is for people: not with -x or -j, whose rows have each metric beside its event");
		tare_hint(err, "-M NAMES chooses the metrics; --format json has them in an array of their own");
		return -EINVAL;
	}
	if (o->all_user && o->all_kernel)
		return tare_fail(err, EINVAL, "--all-user and --all-kernel leave nothing: choose one");
	if ((o->pre || o->post || o->sync) && !has_command)
		return tare_fail(err, EINVAL, "--pre, --post and --sync stand around a command, and there is none");
	if (o->summary && !o->interval_ns)
		return tare_fail(err, EINVAL, "--summary needs -I");
	if (o->summary && (o->format == FORMAT_PERF_CSV || o->format == FORMAT_PERF_JSON || o->format == FORMAT_CSV))
		return tare_fail(err, EINVAL, "--summary is for people: --format json ends with the whole anyway");
	if (o->append && !o->output)
		return tare_fail(err, EINVAL, "--append needs -o FILE");
	if (o->output && o->log_fd >= 0)
		return tare_fail(err, EINVAL, "-o and --log-fd: choose one");
	if (o->runs == 0 && o->interval_ns)
		return tare_fail(err, EINVAL, "-r 0 and -I: choose one");
	return 0;
}

void stat_options_free(struct stat_options *o)
{
	for (size_t i = 0; i < o->n_own; i++) {
		free((char *)o->own[i].name);
		free((char *)o->own[i].formula);
	}
	event_list_free(&o->events);
	cpus_free(&o->cpus);
}

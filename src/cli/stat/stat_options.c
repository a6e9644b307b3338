/* SPDX-License-Identifier: MIT */
/* perf stat's options with perf's letters, and tare's own options by name. */
#include <string.h>
#include "base/num.h"
#include "noise/budget.h"
#include "cli/stat/stat_options.h"

#define OPTIONS struct stat_options

static int set_delay(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	o->start_disabled = !strcmp(arg, "-1");
	o->delay_ns = 0;
	return o->start_disabled ? 0 : num_parse_ns(arg, 1000000, &o->delay_ns, err);
}

static int set_separator(void *to, const char *arg, struct tare_error *err)
{
	struct stat_options *o = to;

	o->out.format = FORMAT_PERF_CSV;
	o->separator = !strcmp(arg, "\\t") ? "\t" : arg;
	return *arg ? 0 : tare_fail(err, EINVAL, "the separator is empty");
}

#define NO_BPF                                                                                     \
	REFUSED("counters are not shared through BPF", "-e EVENTS counts with separate counters")

const struct option_row stat_option_rows[] = {
	EVENT_ROW(events, "what to count, as in perf: cycles:u,{a,b},r1a8"),
	METRIC_ROWS(metrics, "metrics by name (ipc, ...), with their events",
		    "your own metric, with its events"),
	{ 'd', "detailed", NULL, "more of the default events; up to -d -d -d", COUNT(detail) },
	{ 'r', "repeat", "N", "N runs: median, spread, outliers (0: until Ctrl-C)",
	  NUMBER(runs, 0, RUNS_MAX) },
	{ 'p', "pid", "PIDS", "count running processes, with all their threads",
	  TEXT(pids, "value") },
	{ 't', "tid", "TIDS", "count running threads", TEXT(tids, "value") },
	{ 'a', "all-cpus", NULL, "count everything on all CPUs", FLAG(all_cpus) },
	{ 'C', "cpu", "CPUS", "count everything on these CPUs", CPUS(cpus) },
	{ 'G', "cgroup", "NAMES", "with -a: only tasks of control groups", TEXT(cgroups, "value") },
	{ 0, "all-user", NULL, NULL, FLAG(all_user) },
	{ 0, "all-kernel", NULL, NULL, FLAG(all_kernel) },
	{ 'S', "sync", NULL, NULL, FLAG(sync) },
	{ 0, "pre", "COMMAND", NULL, TEXT(pre, "value") },
	{ 0, "post", "COMMAND", NULL, TEXT(post, "value") },
	{ 0, "summary", NULL, NULL, FLAG(summary) },
	{ 'q', "quiet", NULL, NULL, FLAG(quiet) },
	{ 0, "no-scale", NULL, NULL,
	  REFUSED("a count of part of the time is not shown as the total",
		  "--no-multiplex or --split give full counts; -j and --format json say how long each was counted") },
	{ 0, "for-each-cgroup", "NAMES", NULL,
	  REFUSED("events are not repeated for each control group",
		  "-G NAMES: one group for all events, or one for each") },
	{ 0, "no-merge", NULL, NULL,
	  REFUSED("events of one name on several PMUs are always shown separately: pmu/event/ names one",
		  "tare events explain NAME shows where it is counted") },
	{ 'b', "bpf-prog", "IDS", NULL, NO_BPF },
	{ 0, "bpf-counters", NULL, NULL, NO_BPF },
	{ 0, "topdown", NULL, NULL,
	  REFUSED("levels of top-down analysis are not computed",
		  "-M frontend-stalls,backend-stalls; tare events lists the topdown events of a CPU") },
	{ 'i', "no-inherit", NULL, "exclude children and new threads", FLAG(no_inherit) },
	{ 'A', "no-aggr", NULL, "with -a or -C: a row per CPU", VALUE(by, BY_CPU) },
	{ 0, "per-thread", NULL,
	  "a row per thread: with -p or -t, or for a command with exact counts",
	  VALUE(by, BY_THREAD) },
	{ 0, "per-process", NULL, "a row per process of a command, with exact counts",
	  VALUE(by, BY_PROCESS) },
	{ 0, "per-core", NULL, "with -a: a row per core; so --per-die, --per-socket, --per-node",
	  VALUE(by, BY_CORE) },
	{ 0, "per-die", NULL, NULL, VALUE(by, BY_DIE) },
	{ 0, "per-socket", NULL, NULL, VALUE(by, BY_SOCKET) },
	{ 0, "per-node", NULL, NULL, VALUE(by, BY_NODE) },
	{ 'I', "interval-print", "MS", "counts of every interval when it ends",
	  DURATION(interval_ns, 1000000, 1000000),
	  .refusal = "an interval of less than 1 ms would measure its own output" },
	{ 0, "interval-count", "N", "end after N intervals", NUMBER(intervals, 1, UINT32_MAX) },
	{ 'D', "delay", "MS", "start counting after MS; -1: on a --control command",
	  SPECIAL_ALL(set_delay) },
	{ 0, "control", "fd:|fifo:", "IN[,ACK]: obey enable, disable, ping, stop",
	  TEXT(control, "value") },
	{ 0, "timeout", "MS", "end each run after MS", DURATION(timeout_ns, 1000000, 1),
	  .refusal = "a time limit of 0 leaves nothing to count" },
	{ 0, "no-multiplex", NULL, "full counts or none: fail and name the events that do not fit",
	  FLAG(no_multiplex) },
	{ 0, "split", NULL, "count events that do not fit at once in additional runs",
	  FLAG(split) },
	{ 0, "engine", "ENGINE", "auto, perf, exact; msr: the registers",
	  WORD(engine, "engine", "auto", "perf", "exact", "msr") },
	{ 0, "via", "WAY", NULL, TEXT(via, NULL) },
	{ 0, "device-root", "DIR", NULL, TEXT(device_root, NULL) },
	{ 0, "cpu-model", "MODEL", NULL, TEXT(cpu_model, NULL) },
	{ 0, "cross-check", NULL, "with --engine msr: compare with perf in alternating runs",
	  FLAG(cross_check) },
	{ 0, "profile", "[BY]", "exact counts by function; =line: by source line",
	  WORD_FROM(profile, PROFILE_FUNCTION, "profile by", "function", "line") },
	{ 0, "profile-limit", "N", NULL, NUMBER(profile_limit, 0, UINT64_MAX),
	  GIVEN(profile_limited) },
	DEBUGINFOD_ROW(NULL),
	{ 0, "verified-only", NULL, "refuse events that tare verify did not find correct",
	  FLAG(verified_only) },
	{ 0, "correct", NULL, NULL, FLAG(correct) },
	{ 0, "clean-times", NULL,
	  "with exact counts: times from additional runs without the engine", FLAG(clean_times) },
	{ 0, "launch", "HOW", NULL, WORD_FROM(launch, LAUNCH_FIXED, "launch", "fixed", "plain") },
	{ 0, "deterministic", "[ITEMS]",
	  "fix items that vary between runs; tare run --list shows them", DETERMINISTIC(fixed),
	  GIVEN(deterministic) },
	{ 0, "explain", "[HOW]", "with -r: the causes of the spread",
	  WORD_FROM(explain, EXPLAIN_ALL, "way to explain", "all", "regression") },
	{ 'n', "null", NULL, "count nothing: times only", FLAG(null_run) },
	{ 'o', "output", "FILE", "write to FILE (-: standard output); --append adds to it",
	  OUTPUT_FILE(out.path) },
	{ 0, "append", NULL, NULL, FLAG(append) },
	OUTPUT_HTML_ROW(out, "also write an HTML page to FILE"),
	{ 0, "log-fd", "FD", NULL, NUMBER(log_fd, 0, 1 << 20) },
	{ 0, "format", "FORMAT", "text, json (schema tare/stat/1) or csv (with a header)",
	  WORD(out.format, "format", "text", "json", "csv") },
	{ 'x', "field-separator", "SEP", "perf stat's fields, separated by SEP",
	  SPECIAL_ALL(set_separator) },
	{ 'j', "json-output", NULL, "perf stat's JSON lines", VALUE(out.format, FORMAT_PERF_JSON) },
	{ 'B', "big-num", NULL, NULL, VALUE(no_thousands, false) },
	{ 0, "no-big-num", NULL, NULL, FLAG(no_thousands) },
	{ 0, "metric-only", NULL, NULL, FLAG(metrics_only) },
	BLOCK_ROW(out, output_colour_rows),
	{ 'v', "verbose", NULL, NULL, COUNT(verbose) },
	EVENT_FILE_ROW(events, "vendor events in JSON, for -e"),
	{ 0, "sysfs-root", "DIR", "show what would be opened on the machine with this /sys",
	  DIRECTORY(root) },
	{ 0 },
};

/* The cross-check compares two counts of the same command and prints nothing else. */
static int check_cross(const struct stat_options *o, bool has_command, struct tare_error *err)
{
	const struct {
		bool given;
		const char *what;
	} rows[] = { { o->interval_ns, "-I" },
		     { o->split, "--split" },
		     { o->by != BY_ALL, "--per-core and the like" },
		     { o->metrics.n_asked, "-M" },
		     { o->out.html, "--html" },
		     { o->null_run, "-n" },
		     { o->detail, "-d" },
		     { o->control, "--control" },
		     { o->delay_ns || o->start_disabled, "-D" },
		     { !o->runs, "-r 0" },
		     { o->root, "--root" },
		     { o->out.format != FORMAT_TEXT && o->out.format != FORMAT_JSON,
		       "this format: text or json" } };

	if (o->engine != ENGINE_MSR)
		return tare_fail(err, EINVAL,
				 "--cross-check compares registers with perf: with --engine msr");
	if (!has_command)
		return tare_fail(err, EINVAL,
				 "--cross-check runs a command alternately, but there is none");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given)
			return tare_fail(
				err, EINVAL,
				"--cross-check compares whole runs of a command: not with %s",
				rows[i].what);
	return 0;
}

/* The budget needs whole runs of a command, with each event once. */
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
		     { o->out.format == FORMAT_PERF_CSV || o->out.format == FORMAT_PERF_JSON ||
			       o->out.format == FORMAT_CSV,
		       "this format: text or json" } };

	if (!has_command || o->runs < 2 || o->runs > BUDGET_RUNS_MOST) {
		tare_fail(err, EINVAL, "--explain compares runs of a command: 2 to %d of them",
			  BUDGET_RUNS_MOST);
		tare_hint(err, "tare stat -r 20 --explain -- COMMAND");
		return -EINVAL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given)
			return tare_fail(err, EINVAL,
					 "--explain compares whole runs of a command: not with %s",
					 rows[i].what);
	return 0;
}

int stat_options_check(struct stat_options *o, bool has_command, struct tare_error *err)
{
	bool tasks = o->pids || o->tids, wide = o->all_cpus || o->cpus.n;

	if (!has_command && !tasks && !wide && !o->root) {
		tare_fail(err, EINVAL,
			  "nothing to count: no command, process, thread or CPU is given");
		tare_hint(err, "tare stat -- COMMAND, or -p PID, -t TID, -a");
		return -EINVAL;
	}
	if (o->pids && o->tids)
		return tare_fail(err, EINVAL, "-p and -t: choose one");
	if (tasks && o->all_cpus)
		return tare_fail(err, EINVAL, "-a counts everything: it excludes -p and -t");
	if (o->by == BY_PROCESS && (tasks || wide))
		return tare_fail(
			err, EINVAL,
			"--per-process divides a command's exact counts: not with -p, -t, -a or -C");
	if (o->by == BY_THREAD && !tasks && wide)
		return tare_fail(err, EINVAL,
				 "--per-thread needs -p or -t, or a command with exact counts");
	if (o->by != BY_ALL && o->by != BY_THREAD && o->by != BY_PROCESS && !wide)
		return tare_fail(err, EINVAL, "rows per CPU, core or socket need -a or -C");
	if (o->cgroups && !wide)
		return tare_fail(err, EINVAL,
				 "-G needs -a or -C: control groups are counted per CPU");
	if (o->runs != 1 && !has_command)
		return tare_fail(err, EINVAL, "-r repeats a command, but there is none");
	if (o->split && (!has_command || o->interval_ns || tasks))
		return tare_fail(
			err, EINVAL,
			"--split repeats a command: not with -I, -p, -t or without command");
	if (o->split && o->no_multiplex)
		return tare_fail(err, EINVAL, "--split and --no-multiplex: choose one");
	if (o->intervals && !o->interval_ns)
		return tare_fail(err, EINVAL, "--interval-count needs -I");
	if (o->start_disabled && !o->control) {
		tare_fail(
			err, EINVAL,
			"-D -1 starts counting on a --control command, but there is no --control");
		tare_hint(err, "add --control fifo:PATH (mkfifo PATH), and write 'enable' there");
		return -EINVAL;
	}
	if ((o->via || o->device_root || o->cpu_model) && o->engine != ENGINE_MSR)
		return tare_fail(
			err, EINVAL,
			"--via, --device-root and --cpu-model are about registers: with --engine msr");
	if (o->engine == ENGINE_MSR && (tasks || o->cgroups || !wide)) {
		tare_fail(
			err, EINVAL,
			"registers count what a CPU does, not a task or a group of tasks: --engine msr needs -C or -a");
		tare_hint(err, "tare stat --engine msr -C 2 -- taskset -c 2 COMMAND");
		return -EINVAL;
	}
	if (o->cross_check) {
		int ret = check_cross(o, has_command, err);

		if (ret < 0)
			return ret;
	}
	if (o->correct &&
	    (o->interval_ns || o->by != BY_ALL ||
	     (o->out.format != FORMAT_TEXT && o->out.format != FORMAT_JSON)))
		return tare_fail(
			err, EINVAL,
			"--correct needs whole runs, as text or json: not with -I, rows per CPU, process or thread, or another format");
	if (o->explain) {
		int ret = check_explain(o, has_command, err);

		if (ret < 0)
			return ret;
	}
	if (o->profile_limited && !o->profile)
		return tare_fail(err, EINVAL, "--profile-limit needs --profile");
	if (o->profile && (o->engine == ENGINE_PERF || o->engine == ENGINE_MSR)) {
		tare_fail(err, EINVAL,
			  "--profile needs exact counts: not with --engine perf or msr");
		return -EINVAL;
	}
	if (o->profile && (o->interval_ns || o->split || !has_command))
		return tare_fail(err, EINVAL,
				 "--profile needs a whole command: not with -I or --split, or "
				 "without command");
	if (o->profile && (!o->runs || o->runs > PROFILE_RUNS_MAX))
		return tare_fail(err, EINVAL, "--profile takes 1 to %d runs", PROFILE_RUNS_MAX);
	if (o->profile && (o->out.format == FORMAT_PERF_CSV || o->out.format == FORMAT_PERF_JSON)) {
		tare_fail(err, EINVAL, "perf's output formats have no profile: not with -x or -j");
		tare_hint(err, "--format csv or --format json");
		return -EINVAL;
	}
	if (o->deterministic && o->launch)
		return tare_fail(err, EINVAL, "--deterministic and --launch: choose one");
	if (o->deterministic && !has_command && !o->root)
		return tare_fail(err, EINVAL,
				 "--deterministic changes how a command starts, but there is none");
	if ((o->clean_times || o->launch) && !has_command)
		return tare_fail(
			err, EINVAL,
			"--clean-times and --launch change how a command starts, but there is none");
	if (o->clean_times && o->interval_ns)
		return tare_fail(err, EINVAL, "--clean-times and -I: choose one");
	if (o->metrics_only &&
	    (o->out.format == FORMAT_PERF_CSV || o->out.format == FORMAT_PERF_JSON)) {
		tare_fail(
			err, EINVAL,
			"--metric-only is for text: not with -x or -j, where rows have each metric with its event");
		tare_hint(
			err,
			"-M NAMES selects the metrics; --format json has them in a separate array");
		return -EINVAL;
	}
	if (o->all_user && o->all_kernel)
		return tare_fail(err, EINVAL,
				 "--all-user and --all-kernel exclude everything: choose one");
	if ((o->pre || o->post || o->sync) && !has_command)
		return tare_fail(
			err, EINVAL,
			"--pre, --post and --sync run before or after a command, but there is none");
	if (o->summary && !o->interval_ns)
		return tare_fail(err, EINVAL, "--summary needs -I");
	if (o->summary &&
	    (o->out.format == FORMAT_PERF_CSV || o->out.format == FORMAT_PERF_JSON ||
	     o->out.format == FORMAT_CSV))
		return tare_fail(err, EINVAL,
				 "--summary is for text: --format json always ends with the total");
	if (o->append && !o->out.path)
		return tare_fail(err, EINVAL, "--append needs -o FILE");
	if (o->out.path && o->log_fd >= 0)
		return tare_fail(err, EINVAL, "-o and --log-fd: choose one");
	if (o->runs == 0 && o->interval_ns)
		return tare_fail(err, EINVAL, "-r 0 and -I: choose one");
	return 0;
}

void stat_options_free(struct stat_options *o)
{
	metric_options_free(&o->metrics);
	event_options_free(&o->events);
	cpus_free(&o->cpus);
}

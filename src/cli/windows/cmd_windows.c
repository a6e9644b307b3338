/* SPDX-License-Identifier: MIT */
/*
 * tare windows: prints a row of all counters for each window of a run. Options become one group of
 * events and a plan; a session passes windows to a table; views print it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/signal_name.h"
#include "output/own_stdout.h"
#include "output/page_file.h"
#include "cli/windows/windows_diff.h"
#include "cli/windows/windows_options.h"
#include "exact/exact.h"
#include "launch/environment.h"
#include "launch/exact_follow.h"
#include "sample/sample_attr.h"
#include "windows/windows_view.h"

enum { DEFAULT_EVERY = 1000000, ROWS_SHOWN = 40 };

static const char perf_events[] = "cycles,branch-misses,cache-misses";
static const char exact_events[] =
	"exact/conditional-branches/,exact/loads/,exact/stores/,exact/calls/";
static const char clock_events[] = "page-faults,context-switches";

struct job {
	const struct command *self;
	struct windows_options o;
	char *const *argv;
	struct machine *machine;
	struct encoding_list list;
	struct windows *windows;
	struct window_end end;
	struct windows_about about;
	struct environment environment;
	struct determinism fixed;
	struct output out;
	struct page_file page;
	struct style style;
	bool exact, asked; /* the exact engine; requested by name or by one of its events */
	struct tare_error *err;
};

/* ---- what to count ---- */

static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == n && !strncmp(p, name, n))
			return true;
	return false;
}

/* The leader followed by the others, each once. */
static int encode(struct job *j, const char *leader, const char *others)
{
	const struct encode_options how = { .keep_unavailable = true,
					    .event_files = j->o.events.n_files ? j->o.events.files
									       : NULL };
	struct event_list events = { 0 };
	struct text group = { 0 };
	int ret;

	encoding_list_free(&j->list);
	j->list = (struct encoding_list){ 0 };
	text_add(&group, "%s", leader);
	for (const char *p = others; *p; p += strcspn(p, ","), p += *p == ',') {
		char word[200];

		snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, ","), p);
		if (!is_listed(group.s, word))
			text_add(&group, ",%s", word);
	}
	ret = group.failed ? tare_fail_nomem(j->err) : event_list_parse(group.s, &events, j->err);
	if (ret == 0)
		ret = pmu_encode(j->machine, &events, &how, &j->list, j->err);
	if (ret < 0 && (!j->o.events.text || strcmp(group.s, j->o.events.text)))
		j->err->at = -1; /* tare wrote this text */
	for (size_t i = 0; ret == 0 && i + 1 < j->list.n; i++)
		if (j->list.enc[i].event == j->list.enc[i + 1].event)
			ret = tare_fail(
				j->err, EINVAL,
				"%.100s is on several PMUs here: name one, such as cpu_core/instructions/",
				j->list.enc[i].name);
	event_list_free(&events);
	text_free(&group);
	return ret;
}

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
		if (encoding_source(e)->clock)
			return tare_fail(j->err, EINVAL,
					 "%.100s is not a counter: every window has its wall time",
					 e->name);
	}
	return 0;
}

static void drop(struct job *j, size_t i)
{
	cpus_free(&j->list.enc[i].cpus);
	memmove(&j->list.enc[i], &j->list.enc[i + 1], (j->list.n - i - 1) * sizeof(j->list.enc[i]));
	j->list.n--;
}

static bool opens(const struct encoding *e)
{
	const struct target self = { .cpu = -1, .cgroup_fd = -1 };
	struct counters *c;

	if (e->unavailable || source_perf.open(&c, &e, 1, &self, NULL, NULL) < 0)
		return false;
	source_perf.close(c);
	return true;
}

/* Leaves out default events that this machine cannot count. */
static void drop_uncountable(struct job *j)
{
	for (size_t i = 1; i < j->list.n;) {
		struct encoding user = j->list.enc[i];

		encoding_restrict(&user, true);
		if (opens(&j->list.enc[i]) || opens(&user))
			i++;
		else
			drop(j, i);
	}
}

/*
 * The exact engine counts user code only: "instructions" and "instructions:u" are one event there.
 */
static void drop_twins(struct job *j)
{
	for (size_t i = 1; i < j->list.n;) {
		size_t k = 0;

		while (k < i && strcmp(j->list.enc[k].name, j->list.enc[i].name))
			k++;
		if (k < i)
			drop(j, i);
		else
			i++;
	}
}

static const char *wanted_leader(const struct job *j)
{
	return j->o.every_ns ? "task-clock" : j->o.leader[0] ? j->o.leader : "instructions";
}

static bool any_exact(const struct encoding_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (engine_counts(&l->enc[i]))
			return true;
	return false;
}

/*
 * Uses the exact engine if requested, or if it can make such windows and the processor's counters
 * cannot. *why: why it cannot be used.
 */
static int choose_engine(struct job *j)
{
	struct tare_error why = TARE_ERROR_INIT;
	bool asked = j->o.engine == ENGINE_EXACT, can = j->argv && exact_probe(&why) == 0, none;
	const char *leader = wanted_leader(j);
	struct text others = { 0 };
	int ret;

	event_options_join(&j->o.events, &others);
	ret = others.failed ? tare_fail_nomem(j->err) : encode(j, leader, others.s ? others.s : "");
	text_free(&others);
	if (ret < 0)
		return ret;
	none = j->list.enc[0].unavailable != 0;
	asked |= any_exact(&j->list);
	j->asked = asked;
	if (!j->argv && asked)
		tare_fail(&why, EINVAL, "the exact engine counts a command that it starts");
	if (asked && !can) {
		*j->err = why;
		return -why.code;
	}
	j->exact = asked || (none && can && j->o.engine == ENGINE_AUTO && !j->o.every_ns);
	if (!j->o.events.given)
		ret = encode(j, leader,
			     j->exact                ? exact_events
				     : j->o.every_ns ? clock_events
						     : perf_events);
	if (ret == 0 && !j->exact && !j->o.events.given)
		drop_uncountable(j);
	if (ret == 0 && j->exact) {
		const struct engine_question q = { .wish = ENGINE_EXACT };

		ret = engine_choose(&j->list, &q, j->err);
		ret = ret < 0 ? ret : 0;
		if (ret == 0)
			drop_twins(j);
	}
	return ret;
}

/* A time needs a clock; N:cpu-clock is a time, too. */
static int check_time(struct job *j)
{
	const struct sample_how how = { .period = j->o.every };
	const struct encoding *leader = &j->list.enc[0];

	if (j->o.every && j->o.every_timed && strcmp(leader->unit, "ns")) {
		tare_fail(j->err, EINVAL, "--every is a time, but %.100s is not", leader->name);
		tare_hint(j->err,
			  "--every N:%.100s for windows of N of them; or --every with only a time",
			  leader->name);
		return -EINVAL;
	}
	if (!j->o.every || !sample_clock_short(leader, &how))
		return 0;
	return tare_fail(j->err, ERANGE,
			 "the kernel's clocks do not support windows of less than 10 us");
}

/* The exact engine does not count an event: unless it was requested, reports why it is used. */
static int refuse_uncounted(struct job *j, const struct encoding *e)
{
	if (j->asked) {
		tare_fail(j->err, EINVAL, "the exact engine does not count %.100s", e->name);
		tare_hint(j->err, "'tare events exact' lists what it does");
		return -EINVAL;
	}
	tare_fail(
		j->err, EINVAL,
		"windows of %.60s need the exact engine on this machine, and it does not count %.60s",
		wanted_leader(j), e->name);
	tare_hint(
		j->err,
		"--every 10ms makes windows of time, and --every N:%.60s of N %.60s; 'tare events exact' lists what the exact engine counts",
		e->name, e->name);
	return -EINVAL;
}

/* Under the exact engine a window can contain only events that the engine counts. */
static int check_exact(struct job *j)
{
	const struct {
		bool given;
		const char *what;
	} rows[] = { { j->o.pids, "-p" },
		     { j->o.tids, "-t" },
		     { j->o.no_inherit, "-i" },
		     { j->o.delay_ns, "-D" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given)
			return tare_fail(
				j->err, EINVAL,
				"the exact engine counts a command that it starts, with all its children, from "
				"begin to end: not with %s",
				rows[i].what);
	if (j->o.every_ns) {
		tare_fail(j->err, EINVAL, "the exact engine makes windows of events, not of time");
		tare_hint(j->err, "--every 1M, windows of instructions; or --engine perf");
		return -EINVAL;
	}
	if (exact_class_of(&j->list.enc[0]) == EXACT_TAKEN)
		return tare_fail(
			j->err, EINVAL,
			"taken branches cannot define windows: use another event of the exact engine");
	for (size_t i = 0; i < j->list.n; i++)
		if (!engine_counts(&j->list.enc[i]))
			return refuse_uncounted(j, &j->list.enc[i]);
	return 0;
}

/* ---- looking ---- */

static int look(struct job *j)
{
	const struct windows_options *o = &j->o;
	struct window_plan plan = {
		.events = &j->list,
		.every = o->every_ns ? o->every_ns
			: o->every   ? o->every
				     : DEFAULT_EVERY,
		.argv = j->argv,
		.launcher = j->exact ? &launch_exact : &launch_plain,
		.envp = j->environment.envp,
		.fixed = j->exact ? &j->fixed : NULL,
		.target = { .pids = o->pids, .tids = o->tids, .inherit = !o->no_inherit },
		.inherit = !o->no_inherit,
		.timeout_ns = o->timeout_ns,
		.delay_ns = o->delay_ns,
		.interval_ns = o->every_ns,
	};
	int ret = windows_new(&j->windows, &j->list, o->metrics.asked, j->err);

	if (ret == 0 && j->exact) {
		j->fixed.set = FIXED_LAYOUT;
		ret = environment_fix(&j->environment, j->fixed.set, NULL, j->argv, environ,
				      j->err);
		plan.envp = j->environment.envp;
	}
	j->about.every = plan.every;
	if (ret < 0)
		return ret;
	if (o->poll)
		ret = window_poll(&plan, NULL, windows_sink(j->windows), &j->end, j->err);
	else if (j->exact)
		ret = window_exact(&plan, windows_sink(j->windows), &j->end, j->err);
	else
		ret = window_sample(&plan, windows_sink(j->windows), &j->end, j->err);
	windows_rename(j->windows, &j->list);
	return ret;
}

static bool to_stdout(const struct windows_options *o)
{
	return (o->out.path ? own_stdout_is(o->out.path) : o->out.format != FORMAT_TEXT) ||
		(o->out.html && own_stdout_is(o->out.html));
}

static int prepare(struct job *j)
{
	int ret = j->argv && to_stdout(&j->o) ? own_stdout_take(j->err) : 0;

	if (ret == 0)
		ret = output_open(&j->out, j->o.out.path, OUTPUT_WHOLE,
				  j->o.out.format == FORMAT_TEXT ? STDERR_FILENO : own_stdout(),
				  j->err);
	if (ret == 0 && j->o.out.html)
		ret = page_file_open(&j->page, j->o.out.html, j->o.out.path, j->err);
	if (ret < 0)
		return ret;
	j->style = output_style(&j->out, j->o.out.colour);
	j->style.thousands = true;
	j->machine = machine_open(NULL, j->err);
	if (!j->machine)
		return -j->err->code;
	ret = choose_engine(j);
	if (ret == 0)
		ret = check_time(j);
	if (ret == 0)
		ret = refuse_unavailable(j);
	if (ret == 0 && j->exact)
		ret = check_exact(j);
	return ret;
}

/* ---- the end ---- */

static int status_of(const struct window_end *e)
{
	int status = e->wait_status;

	if (!e->has_status)
		return e->by_signal && e->by_signal != SIGINT ? 128 + e->by_signal : 0;
	if (e->timed_out && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)
		return 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Reports what CSV has no row for. */
static void say_rest(const struct job *j, const struct windows_table *t)
{
	const struct style plain = { 0 };
	struct text words = { 0 };

	windows_rest(&words, t, &j->about, &plain);
	if (words.len && !words.failed)
		fprintf(stderr, "tare windows: %s\n", words.s);
	text_free(&words);
}

/* --html: all windows of all threads. */
static int to_page(struct job *j, const struct windows_table *t)
{
	int ret = page_file_begin(&j->page, "tare windows", j->argv ? j->argv[0] : "tare windows",
				  0, j->err);

	if (ret == 0)
		windows_page(page_document(&j->page.page), t, &j->about);
	if (ret == 0)
		ret = windows_unread(t, j->err);
	return ret == 0 ? page_file_end(&j->page, j->err) : ret;
}

static int drain(void *with, const void *bytes, size_t n)
{
	struct job *j = with;
	struct text t = { 0 };

	text_put(&t, bytes, n);
	return output_put(&j->out, &t, j->err);
}

/* CSV or JSON, written as it is generated. */
static int to_program(struct job *j, const struct windows_table *t)
{
	struct out out;
	int ret;

	out_open(&out, drain, j);
	if (j->o.out.format == FORMAT_CSV)
		windows_csv(&out, t, &j->about);
	else
		windows_json(&out, t, &j->about);
	ret = out_close(&out);
	if (ret < 0 && !j->err->code) /* drain() reports why it failed */
		ret = tare_fail_nomem(j->err);
	return ret;
}

static int to_people(struct job *j, const struct windows_table *t)
{
	struct text text = { 0 };

	windows_text(&text, t, &j->about, &j->style);
	return output_put(&j->out, &text, j->err);
}

static int show(struct job *j)
{
	const struct windows_table *t = windows_table(j->windows, j->err);
	char by[SIGNAL_NAME_ROOM];
	int ret;

	if (!t)
		return -j->err->code;
	j->about.argv = j->argv;
	j->about.engine = j->exact ? &source_exact : &source_perf;
	j->about.mode = j->o.poll ? "poll" : "sample";
	j->about.end = &j->end;
	j->about.exit_status = j->end.has_status ? status_of(&j->end) : -1;
	j->about.most_threads = j->o.threads;
	j->about.most_rows = j->o.rows ? 0 : ROWS_SHOWN;
	ret = j->o.out.format == FORMAT_TEXT ? to_people(j, t) : to_program(j, t);
	if (ret == 0)
		ret = windows_unread(t, j->err);
	if (ret < 0)
		output_abandon(&j->out);
	if (ret == 0 && j->end.never_began && j->o.out.format != FORMAT_TEXT)
		fprintf(stderr,
			"tare windows: the command was ended by %s before its first instruction\n",
			signal_name(WTERMSIG(j->end.wait_status), by));
	if (ret == 0 && j->o.out.format == FORMAT_CSV)
		say_rest(j, t);
	return ret == 0 && j->o.out.html ? to_page(j, t) : ret;
}

/* If the temporary file is full, prints the windows up to then, and fails. */
static int look_and_show(struct job *j)
{
	struct tare_error why;
	int ret = look(j);

	if (ret == 0)
		return show(j);
	if (!windows_full(j->windows))
		return ret;
	why = *j->err;
	j->end.cut_off = true;
	show(j);
	*j->err = why;
	return ret;
}

static int exit_status(const struct job *j, int ret)
{
	if (ret >= 0)
		return status_of(&j->end);
	if (j->end.exec_code == ENOENT)
		return EXIT_NOT_FOUND;
	if (j->end.exec_code)
		return EXIT_NOT_EXECUTABLE;
	return ret == -EPIPE ? 128 + SIGPIPE : EXIT_CANNOT_MEASURE;
}

static int run_windows(const struct command *self, int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "diff"))
		return windows_diff_run(argc - 1, argv + 1);

	struct tare_error err = TARE_ERROR_INIT, late = TARE_ERROR_INIT;
	struct job j = {
		.self = self, .o = WINDOWS_OPTIONS_INIT, .page = PAGE_FILE_INIT, .err = &err
	};
	int status, rest = options_parse(self, argc, argv, &j.o, &status), ret;

	if (rest < 0) {
		windows_options_free(&j.o);
		return status;
	}
	j.argv = rest < argc ? argv + rest : NULL;
	ret = windows_options_check(&j.o, j.argv != NULL, &err);
	if (ret == 0)
		ret = prepare(&j);
	if (ret == 0)
		ret = look_and_show(&j);
	if (ret == 0 && j.end.uncounted[0] && !j.end.partial.n)
		ret = exact_fail_uncounted(j.end.uncounted, j.end.has_status, j.end.wait_status,
					   &err);
	if (output_close(&j.out, &late) < 0 && ret >= 0) {
		err = late;
		ret = -late.code;
	}
	if (ret < 0 && ret != -EPIPE)
		complain(self, &err, j.o.events.text);
	status = exit_status(&j, ret);
	page_file_abandon(&j.page);
	windows_free(j.windows);
	free(j.end.rest);
	environment_free(&j.environment);
	encoding_list_free(&j.list);
	machine_close(j.machine);
	windows_options_free(&j.o);
	return status;
}

const struct command cmd_windows = {
	.name = "windows",
	.about = "count over time: a row for every million instructions; find phases",
	.args = "[--] COMMAND [ARG]... | diff A.csv B.csv",
	.example = "  tare windows -e cycles,cache-misses --every 1M -- prog\n"
		   "  tare windows --every 10ms -e page-faults -- make\n"
		   "  tare windows --format csv -o A.csv -- prog; tare windows diff A.csv B.csv",
	.topic = TOPIC_WHERE,
	.common_options = "event every metrics pid timeout engine format output html "
			  "rows",
	.options = windows_option_rows,
	.run = run_windows,
};

/* SPDX-License-Identifier: MIT */
/*
 * tare verify launch: runs a command with everything fixed, then with each item left out, and
 * reports how much its instruction count changes. Items that do not vary within one shell are
 * varied as they would between two shells: the size of the environment, its order, its variables,
 * the width of process IDs, the working directory's name, the locale, the order of directory
 * entries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/common_options.h"
#include "statistics/median.h"
#include "base/signal_name.h"
#include "launch/determinism_warn.h"
#include "output/output.h"
#include "output/progress.h"
#include "cli/trust/verify.h"
#include "launch/environment.h"
#include "launch/pidspace.h"
#include "launch/stdin_replay.h"
#include "stat/repeat_run.h"
#include "verify/verify_launch_view.h"

enum { RUNS_USUAL = 5, RUNS_MOST = 1000, OTHER_STEP = 173, OTHER_VARIABLES = 5 };

/* Items that are left out by setting them to another value each time. */
#define OTHERWISE (FIXED(PID) | FIXED(CWD) | FIXED(READDIR))

struct launch_options {
	struct verify_form form;
	struct determinism fixed;
	enum engine_wish engine;
	unsigned runs;
};

#define OPTIONS struct launch_options

static const struct option_row launch_opts[] = {
	{ 'r', "repeat", "N", "runs under each condition (5)", NUMBER(runs, 2, RUNS_MOST) },
	{ 0, "deterministic", "[ITEMS]",
	  "items to test: +cpu,-vdso (more, less), aslr,pid (only these), all",
	  DETERMINISTIC(fixed) },
	{ 0, "engine", "ENGINE", "exact (default), perf or auto for counting instructions",
	  WORD(engine, "engine", "auto", "perf", "exact") },
	BLOCK_ROW(form, verify_timeout_rows),
	VERIFY_OUTPUT_ROWS("tare/verify-launch/1"),
	{ 0 },
};

/* ---- runs ---- */

struct job {
	struct repeat_run trial;
	struct launch_options *o;
	struct launch_report report;
	struct repeat_run_result
		usual;      /* the run whose output and exit status the others are compared
				 * with: the first, unless it is reported separately */
	char **environment; /* the caller's, with space for one more */
	size_t n_environment;
	struct repeat_run_result last;
	struct stdin_replay input;
	char pwd[FIXED_CWD_BYTES + 8];
	struct progress progress;
	unsigned runs_done, all_runs;
	struct tare_error *err;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Replaces the variable of that name, or appends it. Returns the new number of variables. */
static size_t set_variable(char **envp, size_t vars, char *variable)
{
	size_t name = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < vars; i++)
		if (!strncmp(envp[i], variable, name)) {
			envp[i] = variable;
			return vars;
		}
	envp[vars] = variable;
	return vars + 1;
}

/* Changes the item as another shell would, in its n-th version; `other` stores the changed
 * variable. */
static void vary(struct job *j, const struct determinism *f, unsigned off, unsigned n, char **envp,
		 char *other)
{
	static char locales[][24] = { "LC_ALL=C", "LC_ALL=en_US.UTF-8" },
		    zones[][24] = { "TZ=EST5EDT", "TZ=<+0530>-5:30" };
	static char columns[][16] = { "COLUMNS=100", "COLUMNS=132" },
		    lines[][16] = { "LINES=30", "LINES=50" };
	static char ci[] = "CI=true", build[] = "BUILD_NUMBER=17";
	size_t vars = j->n_environment;

	memcpy(envp, j->environment, vars * sizeof(*envp));
	if ((off & FIXED(ORDER)) && vars)
		for (size_t i = 0; i < vars; i++)
			envp[i] = j->environment[(i + n) % vars];
	if ((off & FIXED(ENVIRONMENT)) && n) {
		strcpy(other, "TARE_OTHER_SHELL=");
		memset(other + strlen(other), '.', (size_t)n * OTHER_STEP % 5000);
		envp[vars++] = other;
	}
	if ((off & FIXED(ENV)) && n)
		vars = set_variable(envp, vars, ci);
	if ((off & FIXED(ENV)) && n && n % 2 == 0)
		vars = set_variable(envp, vars, build);
	if ((off & FIXED(LOCALE)) && n) {
		vars = set_variable(envp, vars, locales[n % 2]);
		vars = set_variable(envp, vars, zones[n % 2]);
	}
	if ((off & FIXED(TERMINAL)) && n) {
		vars = set_variable(envp, vars, columns[n % 2]);
		vars = set_variable(envp, vars, lines[n % 2]);
	}
	if ((off & FIXED(CWD)) && getenv("PWD")) {
		snprintf(j->pwd, sizeof(j->pwd), "PWD=%s", f->cwd);
		vars = set_variable(envp, vars, j->pwd);
	}
	envp[vars] = NULL;
}

/* Keeps the variable that vary() sets if env is fixed. */
static const char *kept_of(const struct determinism *f, unsigned off,
			   char room[2 * FIXED_KEPT_BYTES])
{
	const char *varied = off & FIXED(ENVIRONMENT) ? "TARE_OTHER_SHELL"
		: off & FIXED(LOCALE)                 ? "LC_ALL:TZ"
		: off & FIXED(TERMINAL)               ? "COLUMNS:LINES"
		: off & FIXED(CWD)                    ? "PWD"
						      : "";

	snprintf(room, 2 * FIXED_KEPT_BYTES, "%s%s%s", f->kept, f->kept[0] && varied[0] ? ":" : "",
		 varied);
	return room;
}

static int run_one(struct job *j, struct determinism *f, unsigned off, unsigned n,
		   struct repeat_run_result *run)
{
	static const int widths[] = { 1000, 100, 10000, 500, 20000 };
	struct environment environment;
	char **envp = calloc(j->n_environment + OTHER_VARIABLES, sizeof(*envp)), other[6000] = "",
	     by[SIGNAL_NAME_ROOM], kept[2 * FIXED_KEPT_BYTES];
	int ret;

	if (!envp)
		return tare_fail_nomem(j->err);
	progress_show(&j->progress, (double)j->runs_done / j->all_runs, "run %u of %u%s%s",
		      j->runs_done + 1, j->all_runs, off ? ", without " : "",
		      off ? determinism_rows[__builtin_ctz(off)].name : "");
	j->runs_done++;
	f->first_pid = off & FIXED(PID) ? widths[n % ARRAY_SIZE(widths)] : 0;
	f->turned = (off & FIXED(READDIR)) && n % 2;
	if (off & FIXED(CWD))
		pidspace_rename(f, (size_t)n * 29);
	vary(j, f, off, n, envp, other);
	ret = environment_fix(&environment, f->set, kept_of(f, off, kept), j->trial.argv, envp,
			      j->err);
	if (ret == 0)
		ret = stdin_replay_again(&j->input, j->err);
	if (ret == 0)
		ret = repeat_run_once(&j->trial, f, environment.envp, run, j->err);
	j->last = *run;
	if (off & FIXED(CWD))
		pidspace_rename_end(f);
	environment_free(&environment);
	free(envp);
	if (ret == 0 && run->by_signal)
		ret = tare_fail(j->err, EINTR, "stopped by %s", signal_name(run->by_signal, by));
	if (ret == 0 && run->never_began && !run->timed_out)
		ret = tare_fail(
			j->err, ENODATA,
			"a run was ended by %s before its first instruction: there is nothing to compare",
			signal_name(WTERMSIG(run->wait_status), by));
	if (ret == 0 && run->timed_out)
		ret = tare_fail(j->err, ETIMEDOUT, "a run did not end within --timeout");
	return ret;
}

static bool alike(const struct repeat_run_result *a, const struct repeat_run_result *b)
{
	return a->count[0] == b->count[0] && a->output == b->output &&
		a->wait_status == b->wait_status;
}

/* `counts` has space for n. */
static void sum_up(const struct repeat_run_result *usual, const struct repeat_run_result *run,
		   unsigned n, uint64_t *counts, struct launch_runs *out)
{
	*out = (struct launch_runs){ .runs = n };
	for (unsigned i = 0; i < n; i++) {
		counts[i] = run[i].count[0];
		out->output_differs |= run[i].output != usual->output;
		out->end_differs |= run[i].wait_status != usual->wait_status;
	}
	qsort(counts, n, sizeof(*counts), compare);
	out->min = counts[0];
	out->max = counts[n - 1];
	out->median = median_of(counts, n);
	for (unsigned i = 0; i < n; i++)
		out->different += !i || counts[i] != counts[i - 1];
}

/* Compares the very first run with the others, which may find files that it created. */
static void look_at_first(struct launch_report *r, const struct repeat_run_result *run,
			  uint64_t *counts)
{
	uint64_t count = run->count[0], gap;
	struct launch_runs rest;

	sum_up(&run[1], run + 1, r->runs - 1, counts, &rest);
	gap = count < rest.min ? rest.min - count : count > rest.max ? count - rest.max : 0;
	r->first_most = r->runs > 2 && gap > 4 * (rest.max - rest.min);
	r->first_apart = r->runs > 2 && rest.different == 1 && !rest.output_differs &&
		!rest.end_differs && !alike(&run[0], &run[1]);
	sum_up(&run[r->first_apart], run, 1, counts, &r->first);
	r->exit_status = WIFSIGNALED(run->wait_status) ? 128 + WTERMSIG(run->wait_status)
						       : WEXITSTATUS(run->wait_status);
}

static int run_all(struct job *j, unsigned off, struct launch_runs *out)
{
	struct determinism f = *j->report.fixed;
	unsigned runs = j->o->runs, from = 0;
	struct repeat_run_result *run = calloc(runs, sizeof(*run));
	uint64_t *counts = calloc(runs, sizeof(*counts));
	int ret = run && counts ? 0 : tare_fail_nomem(j->err);

	/* With a PID namespace IDs still exist but have other widths without the item; likewise
	 * the working directory gets another name and directory entries another order. */
	f.set = determinism_tried(&f) & ~(off & ~OTHERWISE);
	f.missed = f.lost = 0;
	for (unsigned n = 0; ret == 0 && n < runs; n++) {
		struct determinism one = f;

		ret = run_one(j, &one, off, n, &run[n]);
		f.missed = one.missed;
		f.lost = one.lost;
		memcpy(f.why, one.why, sizeof(f.why));
		memcpy(f.stripped, one.stripped, sizeof(f.stripped));
		memcpy(f.isa_model, one.isa_model, sizeof(f.isa_model));
		memcpy(f.clock, one.clock, sizeof(f.clock));
	}
	if (ret == 0 && !off) {
		look_at_first(&j->report, run, counts);
		from = j->report.first_apart;
		j->usual = run[from];
	}
	if (ret == 0)
		sum_up(&j->usual, run + from, runs - from, counts, out);
	if (f.stripped[0] && !j->o->fixed.stripped[0])
		memcpy(j->o->fixed.stripped, f.stripped, sizeof(f.stripped));
	if (!off)
		memcpy(j->o->fixed.isa_model, f.isa_model, sizeof(f.isa_model));
	if (!off)
		memcpy(j->o->fixed.clock, f.clock, sizeof(f.clock));
	if (!off) /* items that the launcher could not fix */
		for (unsigned i = 0; i < FIXED_ITEMS; i++)
			if (f.missed & 1u << i)
				(f.lost & 1u << i ? determinism_lose : determinism_miss)(
					&j->o->fixed, (enum determinism_item)i, "%s", f.why[i]);
	free(counts);
	free(run);
	return ret;
}

static int run_conditions(struct job *j)
{
	unsigned items = determinism_had(&j->o->fixed);
	int ret;

	progress_begin(&j->progress, "verify launch", false); /* the command's output is hidden */
	j->all_runs = j->o->runs * (1 + (unsigned)__builtin_popcount(items));
	ret = run_all(j, 0, &j->report.all);

	for (unsigned i = 0; ret == 0 && i < FIXED_ITEMS; i++) {
		if (!(determinism_had(&j->o->fixed) & 1u << i))
			continue;
		ret = run_all(j, 1u << i, &j->report.off[i]);
	}
	progress_end(&j->progress);
	return ret;
}

static int show(struct job *j)
{
	struct document to;
	int ret = document_open(&to, j->o->form.out.path, j->err);

	if (ret < 0)
		return ret;
	to.style.thousands = true;
	if (j->o->form.out.format == FORMAT_JSON)
		verify_launch_json(&to.out, &j->report);
	else
		verify_launch_text(&to.out, &j->report, &to.style);
	return document_close(&to, j->err);
}

static int work(const struct command *self, struct launch_options *o, char *const *argv,
		struct tare_error *err)
{
	struct job j = { .o = o,
			 .environment = environ,
			 .err = err,
			 .report = { .argv = argv, .runs = o->runs, .fixed = &o->fixed } };
	int ret = repeat_run_open(&j.trial, argv, "instructions:u", o->engine, err);

	j.trial.timeout_ns = o->form.timeout_ns;
	j.report.engine = j.trial.launcher->engine;
	while (environ[j.n_environment])
		j.n_environment++;
	j.input.file = j.input.before = -1;
	if (ret == 0)
		ret = verify_begin_input(self, &o->form, &j.input, err);
	if (ret == 0)
		ret = run_conditions(&j);
	stdin_replay_end(&j.input);
	repeat_run_close(&j.trial);
	if (ret == 0)
		ret = show(&j);
	if (ret == 0)
		return launch_repeats(&j.report) ? EXIT_VERIFIED : EXIT_NOT_VERIFIED;
	if (o->fixed.stripped[0])
		determinism_warn_missed(self, &o->fixed);
	complain(self, err, NULL);
	if (j.last.by_signal)
		return 128 + j.last.by_signal;
	return j.last.exec_code == ENOENT ? EXIT_NOT_FOUND
		: j.last.exec_code        ? EXIT_NOT_EXECUTABLE
					  : EXIT_CANNOT_MEASURE;
}

static int run_launch(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct launch_options o = { .runs = RUNS_USUAL, .engine = ENGINE_EXACT };
	int status, rest;

	determinism_parse(NULL, &o.fixed, &err);
	rest = options_parse(self, argc, argv, &o, &status);
	o.fixed.env_open = false; /* all runs have the same environment, unless env is varied */
	if (rest < 0)
		return status;
	if (rest == argc) {
		tare_fail(&err, EINVAL, "which command?");
		tare_hint(&err, "tare verify launch -- COMMAND");
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	status = pidspace_enter(&o.fixed, argv[rest]);
	return status >= 0 ? status : work(self, &o, argv + rest, &err);
}

const struct command verify_launch = {
	.name = "verify launch",
	.about = "show the effect of each item of a deterministic launch on a command",
	.args = "[--] COMMAND [ARG]...",
	.example = "  tare verify launch -- python3 -c 'print(1)'",
	.topic = TOPIC_TRUST,
	.options = launch_opts,
	.run = run_launch,
};

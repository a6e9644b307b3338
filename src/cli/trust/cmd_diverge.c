/* SPDX-License-Identifier: MIT */
/* tare diverge: finds the first instruction after which two runs of a command diverge, and why. */
#include <stdio.h>
#include <unistd.h>
#include "output/output.h"
#include "output/progress.h"
#include "cli/trust/verify.h"
#include "launch/environment.h"
#include "launch/launch_fix.h"
#include "launch/pidspace.h"
#include "diverge/divergence_view.h"

struct diverge_options {
	struct verify_form form;
	struct determinism fixed;
	uint64_t every, runs;
};

static int set_deterministic(void *to, const char *arg, struct tare_error *err)
{
	struct determinism *f = to;
	int ret = determinism_parse(arg, f, err);

	if (ret == 0 && !(f->set & FIXED(ASLR))) {
		tare_fail(err, EINVAL,
			  "without 'aslr' two runs have different addresses and diverge at once");
		tare_hint(err, "tare verify launch shows the effect of that item");
		return -EINVAL;
	}
	return ret;
}

#define OPTIONS struct diverge_options

static const struct option_row diverge_opts[] = {
	{ 0, "deterministic", "[ITEMS]",
	  "items to fix: +cpu,-vdso (more, less), all; 'tare run --list'",
	  SPECIAL(fixed, set_deterministic) },
	{ 0, "every", "N", "instructions between the first checkpoints (65536)",
	  NUMBER(every, 100, 1000000000) },
	{ 'r', "runs", "N", "runs that must take the same path for this result (6)",
	  NUMBER(runs, 2, 1000) },
	BLOCK_ROW(form, verify_timeout_rows),
	VERIFY_OUTPUT_ROWS("tare/diverge/1"),
	{ 0 },
};

struct looked {
	struct progress progress;
	unsigned begun, runs; /* number of runs if none diverges; if they diverge, the number is
			       * not known in advance */
	bool parted;
};

static void show_progress(void *with, unsigned pair, unsigned run)
{
	struct looked *l = with;
	unsigned done = l->begun++;

	l->parted |= pair > 1 &&
		run == 0; /* until one diverges, each run is compared with the first */
	if (!l->parted && done < l->runs)
		progress_show(&l->progress, (double)done / l->runs,
			      "run %u of %u if all take the same path", done + 1, l->runs);
	else
		progress_show(&l->progress, 0, "pair %u, run %u", pair, run + 1);
}

static int show(const struct diverge_options *o, const struct divergence_report *r,
		const struct divergence_about *about, struct tare_error *err)
{
	struct document to;
	int ret = document_open(&to, o->form.out.path, err);

	if (ret < 0)
		return ret;
	to.style.thousands = true;
	if (o->form.out.format == FORMAT_JSON)
		divergence_json(&to.out, r, about);
	else
		divergence_text(&to.out, r, about, &to.style);
	return document_close(&to, err);
}

static int work(const struct command *self, struct diverge_options *o, char *const *argv,
		struct tare_error *err)
{
	struct environment environment = { 0 };
	struct divergence d = { 0 };
	struct divergence_report report = { 0 };
	const struct divergence_about about = { .argv = argv, .fixed = &o->fixed };
	struct diverge_plan plan = { .argv = argv,
				     .fixed = &o->fixed,
				     .timeout_ns = o->form.timeout_ns,
				     .every = o->every,
				     .runs = (unsigned)o->runs };
	struct looked looked = { .runs = plan.runs ? plan.runs : DIVERGE_RUNS };
	struct stdin_replay input = { -1, -1, -1 };
	int ret = environment_fix(&environment, o->fixed.set, o->fixed.kept, argv, environ, err);

	plan.envp = environment.envp;
	plan.with = &looked;
	progress_begin(&looked.progress, "diverge", false); /* the command's output is hidden */
	plan.progress = show_progress;
	if (ret == 0)
		ret = exact_probe(err);
	if (ret == 0 && fix_layout_refused()) {
		ret = tare_fail(err, EPERM,
				"addresses are random, and two runs diverge at once: %s",
				fix_layout_refused());
		tare_hint(err,
			  "in a container: allow it (docker: --security-opt seccomp=unconfined)");
	}
	plan.input = &input;
	if (ret == 0)
		ret = verify_begin_input(self, &o->form, &input, err);
	if (ret == 0)
		ret = diverge_search(&plan, &d, err);
	if (ret == 0)
		ret = divergence_explain(&report, &d, environment.bytes, &plan, err);
	progress_end(&looked.progress);
	if (ret == 0)
		ret = show(o, &report, &about, err);
	if (ret == 0)
		ret = d.verdict == DIVERGE_SAME && !d.uncounted[0] ? EXIT_VERIFIED
								   : EXIT_NOT_VERIFIED;
	stdin_replay_end(&input);
	divergence_free(&report);
	diverge_free(&d);
	environment_free(&environment);
	if (ret >= 0)
		return ret;
	complain(self, err, NULL);
	if (plan.by_signal)
		return 128 + plan.by_signal;
	return plan.exec_code == ENOENT ? EXIT_NOT_FOUND
		: plan.exec_code        ? EXIT_NOT_EXECUTABLE
					: EXIT_CANNOT_MEASURE;
}

static int run_diverge(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct diverge_options o = { 0 };
	int status, rest;

	determinism_parse(NULL, &o.fixed, &err);
	rest = options_parse(self, argc, argv, &o, &status);
	o.fixed.env_open = false; /* all runs have the same environment */
	if (rest < 0)
		return status;
	if (rest == argc) {
		tare_fail(&err, EINVAL, "which command?");
		tare_hint(&err, "tare diverge -- COMMAND");
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	status = pidspace_enter(&o.fixed, argv[rest]);
	return status >= 0 ? status : work(self, &o, argv + rest, &err);
}

const struct command cmd_diverge = {
	.name = "diverge",
	.about = "find where two runs of a command diverge, and the cause",
	.args = "[--] COMMAND [ARG]...",
	.example = "  tare diverge -- python3 -c 'print(1)'",
	.topic = TOPIC_TRUST,
	.common = true,
	.options = diverge_opts,
	.run = run_diverge,
};

/* SPDX-License-Identifier: MIT */
/* tare run: starts a command the same way each time, without counting. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include "cli/common_options.h"
#include "exact/isa.h"
#include "launch/determinism_warn.h"
#include "launch/environment.h"
#include "launch/follow.h"
#include "launch/pidspace.h"
#include "output/output.h"

struct run_options {
	struct determinism fixed;
	bool list, verbose, isa_dump;
};

#define OPTIONS struct run_options

static const struct option_row run_opts[] = {
	{ 0, "deterministic", "[ITEMS]",
	  "items to fix: +cpu,-vdso (more, less), aslr,pid (only these), all, none",
	  DETERMINISTIC(fixed) },
	{ 0, "list", NULL, "show the items and which are fixed by default", FLAG(list) },
	{ 0, "isa-dump", NULL, "print what cpuid answers on this machine, for isa=FILE",
	  FLAG(isa_dump) },
	{ 'v', "verbose", NULL, "show the fixed items", FLAG(verbose) },
	{ 0 },
};

/* "exact": by default, if the exact engine counts. */
static const char *kind_of(const struct determinism_row *r)
{
	return !r->usual ? "by name" : r->engine ? "exact" : "usual";
}

static void put_items(struct text *out)
{
	for (size_t i = 0; i < FIXED_ITEMS; i++)
		text_add(out, "%-12s %-8s %s\n", determinism_rows[i].name,
			 kind_of(&determinism_rows[i]), determinism_rows[i].about);
}

static void put_isa(struct text *out)
{
	struct isa_model host;

	isa_host(&host);
	isa_dump(out, &host);
}

/* On standard output. */
static int show(const struct command *self, void (*put)(struct text *))
{
	struct tare_error err = TARE_ERROR_INIT;
	struct document d;
	int ret = document_open(&d, "-", &err);

	if (ret == 0) {
		put(&d.out);
		if (!d.out.len)
			tare_fail(&err, ENOTSUP,
				  "there is no CPUID on this machine: it is no x86-64");
		ret = document_close(&d, &err);
	}
	if (ret == 0 && !err.what[0])
		return 0;
	complain(self, &err, NULL);
	return EXIT_CANNOT_MEASURE;
}

static int start(const struct command *self, struct run_options *o, char *const *argv,
		 struct tare_error *err)
{
	const struct count_target target = { .all_cpus = true };
	struct environment environment = { 0 };
	struct follow_plan plan = {
		.argv = argv, .launcher = &launch_plain, .fixed = &o->fixed, .target = &target
	};
	struct follow end = { 0 };
	int ret = environment_fix(&environment, o->fixed.set, o->fixed.kept, argv, environ, err);

	plan.envp = environment.envp;
	if (ret == 0)
		ret = follow_command(&plan, &end, err);
	environment_free(&environment);
	determinism_warn_missed(self, &o->fixed);
	if (ret < 0) {
		complain(self, err, NULL);
		return end.exec_code == ENOENT ? EXIT_NOT_FOUND
			: end.exec_code        ? EXIT_NOT_EXECUTABLE
					       : EXIT_CANNOT_MEASURE;
	}
	if (o->verbose)
		determinism_warn_had(self, &o->fixed);
	return follow_status(&end);
}

static int run_program(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct run_options o = { 0 };
	int status, rest;

	determinism_parse(NULL, &o.fixed, &err);
	o.fixed.env_open = false; /* only reported with --deterministic */
	rest = options_parse(self, argc, argv, &o, &status);
	if (rest < 0)
		return status;
	if (o.list && rest == argc)
		return show(self, put_items);
	if (o.isa_dump && rest == argc)
		return show(self, put_isa);
	if (o.list || o.isa_dump || rest == argc) {
		tare_fail(&err, EINVAL,
			  o.list               ? "--list takes no command"
				  : o.isa_dump ? "--isa-dump takes no command"
					       : "which command?");
		tare_hint(&err, "tare run -- COMMAND");
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	status = pidspace_enter(&o.fixed, argv[rest]);
	return status >= 0 ? status : start(self, &o, argv + rest, &err);
}

const struct command cmd_run = {
	.name = "run",
	.about = "run a command under the same conditions each time, without counting",
	.args = "[--] COMMAND [ARG]...",
	.example =
		"  tare run -- python3 -c 'print(hash(\"x\"))'\n  tare run --deterministic=+cpu -- perf stat ./prog",
	.topic = TOPIC_TRUST,
	.options = run_opts,
	.run = run_program,
};

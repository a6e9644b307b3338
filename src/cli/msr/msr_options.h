/* SPDX-License-Identifier: MIT */
/* The options of tare msr. cmd_msr.c parses them; plan and watch have their own files. */
#ifndef CLI_MSR_MSR_OPTIONS_H
#define CLI_MSR_MSR_OPTIONS_H

#include "cli/common_options.h"
#include "output/options/output_options.h"
#include "msr/registers.h"
#include "msr/msr_view.h"

enum { MSR_TRACE = FORMAT_CSV }; /* a special format instead of csv */

struct msr_options {
	struct output_options out;
	struct cpus cpus;
	bool all_cpus;
	const char *via, *root;      /* how registers are accessed */
	struct event_options events; /* plan */
	const char *cpu;
	uint64_t interval_ns; /* watch */
	uint64_t ticks;       /* 0: until it is interrupted */
};

/* Each returns the exit status. `n` words after the subcommand. */
int msr_plan_command(const struct command *self, const struct msr_options *o, char **word, int n);
int msr_watch_command(const struct command *self, const struct msr_options *o, char **word, int n);

/* The CPUs given by the user; CPU 0 by default. */
int msr_cpus(const struct msr_options *o, struct cpus *out, struct tare_error *err);
int msr_open(struct registers **out, const struct msr_options *o, bool write,
	     struct tare_error *err);
int msr_failed(const struct command *self, const struct tare_error *err);
/* To standard output. */
int msr_put(const struct command *self, struct text *t);

#endif

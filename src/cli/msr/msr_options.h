/* SPDX-License-Identifier: MIT */
/* What tare msr was told; its words are in cmd_msr.c, plan and watch have a file each. */
#ifndef CLI_MSR_MSR_OPTIONS_H
#define CLI_MSR_MSR_OPTIONS_H

#include "cli/common_options.h"
#include "output/options/output_options.h"
#include "msr/registers.h"
#include "msr/msr_view.h"

enum { MSR_TRACE = FORMAT_CSV }; /* a format of its own, in the place of csv */

struct msr_options {
	struct output_options out;
	struct cpus cpus;
	bool all_cpus;
	const char *via, *root;   /* the way to registers */
	struct event_options events; /* plan */
	const char *cpu;
	uint64_t interval_ns;     /* watch */
	uint64_t ticks;           /* 0: until it is interrupted */
};

/* Each: exit status. `n` words behind the name of what is to be done. */
int msr_plan_command(const struct command *self, const struct msr_options *o, char **word, int n);
int msr_watch_command(const struct command *self, const struct msr_options *o, char **word, int n);

/* The CPUs that were named; CPU 0 by default. */
int msr_cpus(const struct msr_options *o, struct cpus *out, struct tare_error *err);
int msr_open(struct registers **out, const struct msr_options *o, bool write, struct tare_error *err);
int msr_failed(const struct command *self, const struct tare_error *err);
/* To standard output. */
int msr_put(const struct command *self, struct text *t);

#endif

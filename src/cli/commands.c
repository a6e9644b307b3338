/* SPDX-License-Identifier: MIT */
/* The list of commands: one row each. */
#include "output/command.h"

extern const struct command cmd_doctor;
extern const struct command cmd_events;
extern const struct command cmd_regions;
extern const struct command cmd_run;
extern const struct command cmd_stat;
extern const struct command cmd_compare;
extern const struct command cmd_gate;
extern const struct command cmd_bisect;
extern const struct command cmd_history;
extern const struct command cmd_dump;
extern const struct command cmd_export;
extern const struct command cmd_record;
extern const struct command cmd_annotate;
extern const struct command cmd_report;
extern const struct command cmd_summarize;
extern const struct command cmd_aggregate;
extern const struct command cmd_diff;
extern const struct command cmd_diverge;
extern const struct command cmd_verify;
extern const struct command cmd_windows;
extern const struct command cmd_memory;
extern const struct command cmd_sharing;
extern const struct command cmd_msr;
extern const struct command cmd_bench;
extern const struct command cmd_scan;

const struct command *const commands[] = {
	&cmd_stat,   &cmd_compare, &cmd_gate,     &cmd_bisect,    &cmd_history,   &cmd_regions,
	&cmd_run,    &cmd_verify,  &cmd_diverge,  &cmd_scan,      &cmd_doctor,    &cmd_events,
	&cmd_record, &cmd_report,  &cmd_annotate, &cmd_memory,    &cmd_sharing,   &cmd_windows,
	&cmd_bench,  &cmd_dump,    &cmd_export,   &cmd_summarize, &cmd_aggregate, &cmd_diff,
	&cmd_msr,    NULL,
};

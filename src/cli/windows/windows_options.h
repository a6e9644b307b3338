/* SPDX-License-Identifier: MIT */
/* The options of `tare windows`, parsed into a struct. */
#ifndef CLI_WINDOWS_WINDOWS_OPTIONS_H
#define CLI_WINDOWS_WINDOWS_OPTIONS_H

#include "cli/common_options.h"
#include "launch/engine.h"
#include "output/options/output_options.h"

struct windows_options {
	struct event_options events;
	struct metric_options metrics;

	uint64_t every, every_ns; /* of the event, or a time */
	bool every_timed;         /* given as a time; of the event if one is named */
	char leader[160];         /* "": instructions */
	bool every_given, poll;
	const char *pids, *tids;
	bool no_inherit;
	uint64_t timeout_ns, delay_ns;
	enum engine_wish engine;

	struct output_options out;
	size_t threads;
	bool rows;
};

#define WINDOWS_OPTIONS_INIT                                                                       \
	{                                                                                          \
		.threads = 6                                                                       \
	}

extern const struct option_row windows_option_rows[];
int windows_options_check(struct windows_options *o, bool has_command, struct tare_error *err);
void windows_options_free(struct windows_options *o);

#endif

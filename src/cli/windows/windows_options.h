/* SPDX-License-Identifier: MIT */
/* The options of `tare windows`: words -> a struct. */
#ifndef CLI_WINDOWS_WINDOWS_OPTIONS_H
#define CLI_WINDOWS_WINDOWS_OPTIONS_H

#include "count/metrics.h"
#include "output/command.h"
#include "output/output.h"
#include "event/event.h"
#include "launch/engine.h"

enum { WINDOWS_ASKED_MAX = 32, WINDOWS_FILES_MAX = 16 };

enum windows_format { WINDOWS_TEXT, WINDOWS_CSV, WINDOWS_JSON };

struct windows_options {
	struct text events; /* as given, by commas */
	const char *event_text;
	bool events_given;
	const char *event_files[WINDOWS_FILES_MAX + 1];
	size_t n_event_files;
	struct metric_row own[WINDOWS_ASKED_MAX]; /* name and formula are owned */
	const struct metric_row *asked[WINDOWS_ASKED_MAX + 1];
	size_t n_asked, n_own;

	uint64_t every, every_ns; /* of the event; or of time */
	bool every_timed;	  /* it was given as a time; of the event's, where one is named */
	char leader[160];	  /* "": instructions */
	bool every_given, poll;
	const char *pids, *tids;
	bool no_inherit;
	uint64_t timeout_ns, delay_ns;
	enum engine_wish engine;

	enum windows_format format;
	const char *output, *html;
	size_t threads;
	bool rows;
	enum when colour;
};

#define WINDOWS_OPTIONS_INIT                                                                                           \
	{                                                                                                              \
		.threads = 6                                                                                           \
	}

extern const struct option_row windows_option_rows[];
int windows_options_check(struct windows_options *o, bool has_command, struct tare_error *err);
void windows_options_free(struct windows_options *o);

#endif

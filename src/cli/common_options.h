/* SPDX-License-Identifier: MIT */
/* Options shared by several commands: events, metrics, deterministic launches, debuginfo
 * servers. */
#ifndef CLI_COMMON_OPTIONS_H
#define CLI_COMMON_OPTIONS_H

#include "count/metrics.h"
#include "event/event.h"
#include "launch/determinism.h"
#include "output/options/option.h"

enum { EVENT_FILES_MAX = 16, METRICS_MAX = 32 };

struct event_options {
	struct event_list list;
	const char *text;    /* the argument of -e, if there was exactly one */
	bool given, grouped; /* grouped: some are in braces */
	const char *files[EVENT_FILES_MAX + 1];
	size_t n_files;
};

struct metric_options {
	const struct metric_row *asked[METRICS_MAX + 1];
	struct metric_row own[METRICS_MAX]; /* --metric name=formula; name and formula are owned */
	size_t n_asked, n_own;
};

int event_option_set(void *event_options, const char *arg, struct tare_error *err);
int metrics_option_set(void *metric_options, const char *arg, struct tare_error *err);
int metric_option_set(void *metric_options, const char *arg, struct tare_error *err);
int deterministic_option_set(void *fixed, const char *arg, struct tare_error *err);
int debuginfod_option_set(void *none, const char *arg, struct tare_error *err);

/* `m`: the member, a struct event_options, struct metric_options or struct determinism. */
#define EVENT_ROW(m, about_)                                                                       \
	{                                                                                          \
		'e', "event", "EVENTS", about_, SPECIAL(m, event_option_set)                       \
	}
#define EVENT_FILE_ROW(m, about_)                                                                  \
	{                                                                                          \
		0, "event-file", "FILE", about_,                                                   \
			INPUTS(m.files, m.n_files, EVENT_FILES_MAX, "event files")                 \
	}
#define METRIC_ROWS(m, about_names, about_own)                                                     \
	{ 'M', "metrics", "NAMES", about_names, SPECIAL(m, metrics_option_set) },                  \
	{                                                                                          \
		0, "metric", "NAME=FORMULA", about_own, SPECIAL(m, metric_option_set)              \
	}
#define DETERMINISTIC(m) SPECIAL(m, deterministic_option_set)
#define DEBUGINFOD_ROW(about_)                                                                     \
	{                                                                                          \
		0, "debuginfod", NULL, about_, SPECIAL_ALL(debuginfod_option_set)                  \
	}

/* The events as one comma-separated list without groups. */
void event_options_join(const struct event_options *o, struct text *out);
void event_options_free(struct event_options *o);
void metric_options_free(struct metric_options *o);

#endif

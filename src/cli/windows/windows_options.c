/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "base/num.h"
#include "cli/windows/windows_options.h"

#define OPTIONS struct windows_options

/* N, N:EVENT, a time or a clock's time: 1000000, 1M, 1M:cycles:u, 10ms, 10ms:task-clock */
static int set_every(void *to, const char *arg, struct tare_error *err)
{
	struct windows_options *o = to;
	size_t n = strcspn(arg, ":");
	char number[32];
	uint64_t every;
	int ret;

	snprintf(number, sizeof(number), "%.*s", (int)(n < sizeof(number) ? n : sizeof(number) - 1),
		 arg);
	o->every_given = true;
	o->every = o->every_ns = 0;
	o->leader[0] = '\0';
	o->every_timed = n >= 2 && n < sizeof(number) && number[n - 1] == 's';
	ret = n >= sizeof(number) ? tare_fail(err, ERANGE, "'%.64s' is not a window length", arg)
		: o->every_timed  ? num_parse_ns(number, 0, &every, err)
				  : num_parse(number, &every, err);
	if (ret < 0)
		return ret;
	if (!every || every >> 62)
		return o->every_timed
			? tare_fail(err, ERANGE,
				    every ? "windows of %.30s are impossible"
					  : "windows of zero length are impossible",
				    number)
			: tare_fail(err, ERANGE, "windows of %.30s events are impossible", number);
	if (arg[n])
		snprintf(o->leader, sizeof(o->leader), "%s", arg + n + 1);
	if (arg[n] && !o->leader[0])
		return tare_fail_at(err, (int)n + 1, EINVAL, "an event is expected after ':'");
	*(o->every_timed && !o->leader[0] ? &o->every_ns : &o->every) = every;
	return 0;
}

const struct option_row windows_option_rows[] = {
	EVENT_ROW(events, "what to count in each window, by commas"),
	{ 0, "every", "N[:EVENT]",
	  "length of a window: events (instructions), or time as 10ms; default: 1M",
	  SPECIAL_ALL(set_every) },
	METRIC_ROWS(metrics, "metrics to add to those that the events allow",
		    "your own metric, such as 'lpi=loads / instructions'"),
	{ 0, "mode", "MODE", "sample (by overflow, per thread) or poll (by a timer)",
	  WORD(poll, "mode", "sample", "poll") },
	{ 'p', "pid", "PIDS", "running processes", TEXT(pids, NULL) },
	{ 't', "tid", "TIDS", "single threads", TEXT(tids, NULL) },
	{ 'i', "no-inherit", NULL, "only the first thread, on any CPU", FLAG(no_inherit) },
	{ 'D', "delay", "MS", "start that long after the command", DURATION(delay_ns, 1000000, 0) },
	{ 0, "timeout", "MS", "end after that long", DURATION(timeout_ns, 1000000, 0) },
	{ 0, "engine", "NAME", "auto, perf or exact",
	  WORD(engine, "engine", "auto", "perf", "exact") },
	OUTPUT_FORMAT_ROWS(out, "text, csv or json", "text", "json", "csv"),
	{ 'o', "output", "FILE", "write to FILE; - is standard output", OUTPUT_FILE(out.path) },
	OUTPUT_HTML_ROW(out, "also write an HTML page with zoomable plots to FILE"),
	{ 0, "threads", "N", "show N in text; 0: all; default: 6", NUMBER(threads, 0, UINT64_MAX) },
	{ 0, "rows", NULL, "show each window in text, also when there are many", FLAG(rows) },
	EVENT_FILE_ROW(events, NULL),
	BLOCK_ROW(out, output_colour_rows),
	{ 0 },
};

int windows_options_check(struct windows_options *o, bool has_command, struct tare_error *err)
{
	int ret = 0;

	if (o->pids && o->tids)
		ret = tare_fail(err, EINVAL, "-p and -t: name processes or threads");
	else if (has_command && (o->pids || o->tids))
		ret = tare_fail(err, EINVAL, "a command, and -p or -t: choose one");
	else if (o->events.grouped)
		ret = tare_fail(err, EINVAL,
				"--event: all events are one group here: name them without braces");
	else if (!has_command && !o->pids && !o->tids) {
		ret = tare_fail(err, EINVAL, "there is nothing to count");
		tare_hint(err, "give a command after the options, or -p PID");
	} else if (o->poll && !o->every_ns) {
		ret = tare_fail(err, EINVAL, "--mode poll reads by a timer, but --every %s",
				o->every_timed ? "names an event" : "is not a time");
		tare_hint(err, "--every 10ms; or --mode sample for windows of events");
	} else if (o->poll && o->every_ns < 1000000) {
		ret = tare_fail(err, ERANGE,
				"a timer of less than 1 ms would measure its own reads");
	} else if (o->every_ns && o->every_ns < 10000) {
		ret = tare_fail(err, ERANGE,
				"the kernel's clocks do not support windows of less than 10 us");
	}
	return ret;
}

void windows_options_free(struct windows_options *o)
{
	metric_options_free(&o->metrics);
	event_options_free(&o->events);
}

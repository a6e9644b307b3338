/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "output/input.h"
#include "cli/windows/windows_options.h"
#include "event/metric.h"

#define OPTION(name, statement)                                                                                        \
	static int set_##name(void *to, const char *arg, struct tare_error *err)                                       \
	{                                                                                                              \
		struct windows_options *o = to;                                                                        \
                                                                                                                       \
		(void)arg, (void)err;                                                                                  \
		statement;                                                                                             \
		return 0;                                                                                              \
	}

OPTION(pids, o->pids = arg)
OPTION(tids, o->tids = arg)
OPTION(no_inherit, o->no_inherit = true)
OPTION(output, o->output = arg)
OPTION(html, o->html = arg)
OPTION(rows, o->rows = true)

/* Parsed twice: here for its mistakes, at their place; and in one group with all others later. */
static int set_event(void *to, const char *arg, struct tare_error *err)
{
	struct windows_options *o = to;
	struct event_list parsed = { 0 };
	int ret = event_list_parse(arg, &parsed, err);

	o->event_text = o->events_given ? NULL : arg;
	o->events_given = true;
	for (size_t i = 0; ret == 0 && i < parsed.n; i++)
		text_add(&o->events, "%s%s", o->events.len ? "," : "", parsed.event[i].text);
	event_list_free(&parsed);
	if (ret == 0 && strpbrk(arg, "{}"))
		return tare_fail(err, EINVAL, "all events are one group here: name them without braces");
	return ret == 0 && o->events.failed ? tare_fail_nomem(err) : ret;
}

static int set_event_file(void *to, const char *arg, struct tare_error *err)
{
	struct windows_options *o = to;

	if (o->n_event_files == WINDOWS_FILES_MAX)
		return tare_fail(err, E2BIG, "more than %d event files", WINDOWS_FILES_MAX);
	o->event_files[o->n_event_files++] = arg;
	input_note(arg);
	return 0;
}

/* N, N:EVENT, a time or a time of a clock: 1000000, 1M, 1M:cycles:u, 10ms, 10ms:task-clock */
static int set_every(void *to, const char *arg, struct tare_error *err)
{
	struct windows_options *o = to;
	size_t n = strcspn(arg, ":");
	char number[32];
	uint64_t every;
	int ret;

	snprintf(number, sizeof(number), "%.*s", (int)(n < sizeof(number) ? n : sizeof(number) - 1), arg);
	o->every_given = true;
	o->every = o->every_ns = 0;
	o->leader[0] = '\0';
	o->every_timed = n >= 2 && n < sizeof(number) && number[n - 1] == 's';
	ret = n >= sizeof(number)  ? tare_fail(err, ERANGE, "'%.64s' is no length of a window", arg)
	      : o->every_timed ? num_parse_ns(number, 0, &every, err)
			       : num_parse(number, &every, err);
	if (ret < 0)
		return ret;
	if (!every || every >> 62)
		return o->every_timed ? tare_fail(err, ERANGE, every ? "windows of %.30s cannot be" : "windows of no time", number)
				      : tare_fail(err, ERANGE, "windows of %.30s events cannot be", number);
	if (arg[n])
		snprintf(o->leader, sizeof(o->leader), "%s", arg + n + 1);
	if (arg[n] && !o->leader[0])
		return tare_fail_at(err, (int)n + 1, EINVAL, "an event is wanted behind ':'");
	*(o->every_timed && !o->leader[0] ? &o->every_ns : &o->every) = every;
	return 0;
}

static int set_mode(void *to, const char *arg, struct tare_error *err)
{
	if (strcmp(arg, "poll") && strcmp(arg, "sample"))
		return tare_fail(err, EINVAL, "there is no mode '%.32s': sample or poll", arg);
	((struct windows_options *)to)->poll = !strcmp(arg, "poll");
	return 0;
}

static int take_metric(struct windows_options *o, const struct metric_row *row, struct tare_error *err)
{
	if (o->n_asked == WINDOWS_ASKED_MAX)
		return tare_fail(err, E2BIG, "more than %d metrics", WINDOWS_ASKED_MAX);
	o->asked[o->n_asked++] = row;
	return 0;
}

/* name=formula, or names of the table. */
static int set_metric(void *to, const char *arg, struct tare_error *err)
{
	struct windows_options *o = to;
	size_t n = strcspn(arg, "=");
	struct metric_row row = { .unit = "", .about = "your own", .digits = 3 };
	struct formula *f;
	int ret = 0;

	for (const char *p = arg; !arg[n] && ret == 0; p++) {
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, ","), p);
		if (!metric_find(word)) {
			tare_fail(err, ENOENT, "there is no metric '%.60s'", word);
			tare_hint(err, "--metric 'name=formula' makes your own");
			return -ENOENT;
		}
		ret = take_metric(o, metric_find(word), err);
		p += strcspn(p, ",");
		if (!*p)
			return ret;
	}
	if (!n || o->n_own == WINDOWS_ASKED_MAX)
		return tare_fail(err, EINVAL, n ? "more than %d metrics" : "the metric has no name", WINDOWS_ASKED_MAX);
	ret = formula_parse(arg + n + 1, &f, err);
	if (ret < 0) {
		if (err->at >= 0)
			err->at += (int)n + 1;
		return ret;
	}
	formula_free(f);
	row.name = strndup(arg, n);
	row.formula = strdup(arg + n + 1);
	if (!row.name || !row.formula) {
		free((char *)row.name);
		free((char *)row.formula);
		return tare_fail_nomem(err);
	}
	o->own[o->n_own] = row;
	return take_metric(o, &o->own[o->n_own++], err);
}

static int set_timeout(void *to, const char *arg, struct tare_error *err)
{
	return num_parse_ns(arg, 1000000, &((struct windows_options *)to)->timeout_ns, err);
}

static int set_delay(void *to, const char *arg, struct tare_error *err)
{
	return num_parse_ns(arg, 1000000, &((struct windows_options *)to)->delay_ns, err);
}

static int set_engine(void *to, const char *arg, struct tare_error *err)
{
	static const char *const words[] = { "auto", "perf", "exact" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(arg, words[i])) {
			((struct windows_options *)to)->engine = (enum engine_wish)i;
			return 0;
		}
	return tare_fail(err, EINVAL, "there is no engine '%.32s': auto, perf or exact", arg);
}

static int set_format(void *to, const char *arg, struct tare_error *err)
{
	static const char *const words[] = { "text", "csv", "json" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(arg, words[i])) {
			((struct windows_options *)to)->format = (enum windows_format)i;
			return 0;
		}
	return tare_fail(err, EINVAL, "there is no format '%.32s': text, csv or json", arg);
}

static int set_threads(void *to, const char *arg, struct tare_error *err)
{
	uint64_t n;
	int ret = num_parse(arg, &n, err);

	if (ret == 0)
		((struct windows_options *)to)->threads = (size_t)n;
	return ret;
}

static int set_colour(void *to, const char *arg, struct tare_error *err)
{
	static const char *const words[] = { "auto", "always", "never" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(arg, words[i])) {
			((struct windows_options *)to)->colour = (enum when)i;
			return 0;
		}
	return tare_fail(err, EINVAL, "'%.32s' is none of auto, always, never", arg);
}

const struct option_row windows_option_rows[] = {
	{ 'e', "event", "EVENTS", "what to count in each window, by commas", set_event },
	{ 0, "every", "N[:EVENT]", "length of a window: events (instructions), or time as 10ms; default: 1M", set_every },
	{ 'M', "metrics", "NAMES", "metrics to work out; those that the events allow are anyway", set_metric },
	{ 0, "metric", "NAME=FORMULA", "one of your own, such as 'lpi=loads / instructions'", set_metric },
	{ 0, "mode", "MODE", "sample (by overflow, per thread) or poll (by a timer)", set_mode },
	{ 'p', "pid", "PIDS", "running processes", set_pids },
	{ 't', "tid", "TIDS", "single threads", set_tids },
	{ 'i', "no-inherit", NULL, "only the first thread, on any CPU", set_no_inherit },
	{ 'D', "delay", "MS", "begin that long after the start", set_delay },
	{ 0, "timeout", "MS", "end after that long", set_timeout },
	{ 0, "engine", "NAME", "auto, perf or exact", set_engine },
	{ 0, "format", "NAME", "text, csv or json", set_format },
	{ 'o', "output", "FILE", "write there; - is standard output", set_output },
	{ 0, "html", "FILE", "write a page there, too: plots that zoom, offline", set_html },
	{ 0, "threads", "N", "show that many in text; 0: all; default: 6", set_threads },
	{ 0, "rows", NULL, "show each window in text, also when there are many", set_rows },
	{ 0, "event-file", "FILE", NULL, set_event_file },
	{ 0, "color", "WHEN", NULL, set_colour },
	{ 0 },
};

int windows_options_check(struct windows_options *o, bool has_command, struct tare_error *err)
{
	int ret = 0;

	if (o->pids && o->tids)
		ret = tare_fail(err, EINVAL, "-p and -t: name processes or threads");
	else if (has_command && (o->pids || o->tids))
		ret = tare_fail(err, EINVAL, "a command, and -p or -t: choose one");
	else if (!has_command && !o->pids && !o->tids) {
		ret = tare_fail(err, EINVAL, "there is nothing to look at");
		tare_hint(err, "give a command after the options, or -p PID");
	} else if (o->poll && !o->every_ns) {
		ret = tare_fail(err, EINVAL, "--mode poll reads by a timer, and --every %s",
				o->every_timed ? "names an event" : "is no time");
		tare_hint(err, "--every 10ms; or --mode sample, whose windows are of events");
	} else if (o->poll && o->every_ns < 1000000) {
		ret = tare_fail(err, ERANGE, "a timer of less than 1 ms measures its own reading");
	} else if (o->every_ns && o->every_ns < 10000) {
		ret = tare_fail(err, ERANGE, "the kernel's clocks make no windows of less than 10 us");
	}
	return ret;
}

void windows_options_free(struct windows_options *o)
{
	for (size_t i = 0; i < o->n_own; i++) {
		free((char *)o->own[i].name);
		free((char *)o->own[i].formula);
	}
	text_free(&o->events);
}

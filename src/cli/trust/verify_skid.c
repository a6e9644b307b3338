/* SPDX-License-Identifier: MIT */
/*
 * tare verify skid: samples events that one known instruction of a loop causes, at each precise
 * level, and reports how far the samples are from it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/file.h"
#include "output/output.h"
#include "cli/trust/skid_file.h"
#include "cli/trust/verify.h"
#include "sample/perfdata_write_features.h"
#include "verify/skid_measure.h"
#include "verify/verify_skid_view.h"

enum { LEVELS = 4, ROWS_MOST = 32, CLOCK_PERIOD = 100003, TIMES_MOST = 8192 };

struct skid_options {
	struct verify_form form;
	bool no_store;
	char stored[256], why_not[400]; /* where it was stored, or why not; "": not requested */
};

#define OPTIONS struct skid_options

static const struct option_row skid_opts[] = {
	VERIFY_OUTPUT_ROWS("tare/verify-skid/1"),
	{ 0, "no-store", NULL, "do not store the results for tare report", FLAG(no_store) },
	{ 0 },
};

static int add_place(void *with, uint64_t ip, uint64_t time_ns)
{
	(void)time_ns;
	skid_add(with, ip);
	return 0;
}

struct times {
	uint64_t at[TIMES_MOST];
	size_t n;
};

static int add_time(void *with, uint64_t ip, uint64_t time_ns)
{
	struct times *t = with;

	(void)ip;
	if (t->n < TIMES_MOST)
		t->at[t->n++] = time_ns;
	return 0;
}

static void say_why(struct skid_row *r, int code)
{
	if (code == ENOENT || code == ENODEV)
		snprintf(r->why, sizeof(r->why), "no PMU counts it here");
	else if ((code == EOPNOTSUPP || code == EINVAL) && r->level)
		snprintf(r->why, sizeof(r->why), "unsupported at this level");
	else if (code == EACCES || code == EPERM)
		snprintf(r->why, sizeof(r->why),
			 "not allowed: kernel.perf_event_paranoid, 'tare doctor' says more");
	else
		snprintf(r->why, sizeof(r->why), "%s", strerror(code));
}

/* Software events have one level; so do missing events. */
static size_t measure_event(const struct skid_event *e, struct skid_row *row, struct skid *s)
{
	size_t n = 0;

	for (unsigned level = 0; level < (e->hardware ? LEVELS : 1); level++) {
		struct skid_row *r = &row[n++];
		struct tare_error err = TARE_ERROR_INIT;
		int ret;

		*r = (struct skid_row){
			.event = e->name, .of = e, .level = level, .hardware = e->hardware
		};
		skid_begin(s, skid_loop(e->loop));
		ret = skid_measure(e, level, add_place, s, &err);
		if (ret < 0) {
			say_why(r, -ret);
			if (!level)
				break;
			continue;
		}
		r->measured = true;
		r->samples = s->samples;
		skid_judge(s, level, &r->result);
	}
	return n;
}

static void measure_clock(struct skid_report *r)
{
	struct times *t = calloc(1, sizeof(*t));
	struct tare_error err = TARE_ERROR_INIT;

	r->clock_period = CLOCK_PERIOD;
	if (t && skid_measure_clock(CLOCK_PERIOD, add_time, t, &err) == 0) {
		r->clock_samples = t->n;
		r->clock = skid_intervals(t->at, t->n, &r->clock_median, &r->clock_p99,
					  &r->clock_most);
	}
	free(t);
}

/* For tare report. It is no failure if it cannot be stored. Too few samples are not stored. */
static void keep(struct skid_options *o, const struct skid_report *r)
{
	struct skid_kept one[ROWS_MOST], first = { .time = time(NULL) };
	struct tare_error err = TARE_ERROR_INIT;
	size_t n = 0;

	if (!feature_cpuid(first.cpu, sizeof(first.cpu), NULL) ||
	    file_line(NULL, "/proc/sys/kernel/osrelease", first.release, sizeof(first.release),
		      NULL) < 0) {
		snprintf(o->why_not, sizeof(o->why_not), "the machine does not name its CPU");
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct skid_row *row = &r->row[i];

		if (!row->measured || row->result.shape == SKID_TOO_FEW)
			continue;
		one[n] = first;
		snprintf(one[n].event, sizeof(one[n].event), "%s", row->event);
		one[n].type = row->of->type;
		one[n].config = row->of->config;
		one[n].level = row->level;
		one[n].samples = row->samples;
		one[n].exact = row->result.exact;
		one[n].median = row->result.median.instructions;
		one[n++].p99 = row->result.p99.instructions;
	}
	if (n && skid_keep(one, n, o->stored, sizeof(o->stored), &err) < 0) {
		o->stored[0] = '\0';
		snprintf(o->why_not, sizeof(o->why_not), "%s", err.what);
	}
}

static int show(const struct skid_options *o, const struct skid_report *r, struct tare_error *err)
{
	struct document to;
	int ret = document_open(&to, o->form.out.path, err);

	if (ret < 0)
		return ret;
	if (o->form.out.format == FORMAT_JSON)
		verify_skid_json(&to.out, r);
	else
		verify_skid_text(&to.out, r, &to.style);
	if (o->form.out.format != FORMAT_JSON && o->stored[0])
		text_add(
			&to.out,
			" Stored in %s: tare report and tare annotate show it with samples. --no-store stores nothing.\n",
			o->stored);
	if (o->form.out.format != FORMAT_JSON && o->why_not[0])
		text_add(&to.out, " Not stored for tare report: %s.\n", o->why_not);
	return document_close(&to, err);
}

static int status_of(const struct skid_report *r)
{
	bool hardware = false, kept = true;

	for (size_t i = 0; i < r->n; i++) {
		hardware |= r->row[i].hardware && r->row[i].measured;
		kept &= !r->row[i].measured || r->row[i].result.kept;
	}
	return !kept ? EXIT_NOT_VERIFIED : hardware ? EXIT_VERIFIED : EXIT_NOTHING_VERIFIED;
}

static int run_skid(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct skid_options o = { 0 };
	struct skid_row row[ROWS_MOST];
	struct skid_report r = { .row = row };
	struct skid *s;
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;

	if (rest < 0)
		return status;
	if (rest < argc) {
		tare_fail(&err, EINVAL,
			  "'%.100s': verify skid takes no command, it samples its own loops",
			  argv[rest]);
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	s = calloc(1, sizeof(*s));
	ret = s ? 0 : tare_fail_nomem(&err);
	for (const struct skid_event *e = skid_events;
	     ret == 0 && e->name && r.n + LEVELS <= ROWS_MOST; e++)
		r.n += measure_event(e, row + r.n, s);
	free(s);
	if (ret == 0) {
		measure_clock(&r);
		if (!o.no_store)
			keep(&o, &r);
		if (o.stored[0])
			verify_say_kept(&o.form, o.form.out.format != FORMAT_JSON, "verify skid",
					o.stored);
		ret = show(&o, &r, &err);
	}
	if (ret < 0)
		complain(self, &err, NULL);
	return ret < 0 ? EXIT_CANNOT_MEASURE : status_of(&r);
}

const struct command verify_skid = {
	.name = "verify skid",
	.about = "measure the distance of samples from the causing instruction",
	.args = "",
	.example = "  tare verify skid",
	.topic = TOPIC_TRUST,
	.options = skid_opts,
	.run = run_skid,
};

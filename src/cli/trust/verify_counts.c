/* SPDX-License-Identifier: MIT */
/* tare verify counts: each event counts work of known size and gets a verdict. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <time.h>
#include "cli/common_options.h"
#include "verify/verify.h"
#include "output/output.h"
#include "output/progress.h"
#include "cli/trust/verdict_file.h"
#include "cli/trust/verify.h"
#include "exact/exact.h"
#include "pmu/classes.h"
#include "pmu/machine.h"
#include "launch/engine.h"
#include "output/json.h"

#define USUAL_EVENTS "instructions:u,branches:u,cycles:u,page-faults:u,minor-faults:u"

struct counts_options {
	struct verify_form form;
	struct event_options events;
	bool no_store;
	char stored[256],
		why_not[400]; /* where verdicts were stored, or why not; "": not requested */
};

#define OPTIONS struct counts_options

static const struct option_row counts_opts[] = {
	EVENT_ROW(events, "the events; default: " USUAL_EVENTS),
	VERIFY_OUTPUT_ROWS("tare/verify/1"),
	{ 0, "no-store", NULL, "do not store the verdicts for tare stat", FLAG(no_store) },
	{ 0 },
};

struct row {
	const struct encoding *event;
	struct verify_result result;
	bool interrupts_known;
	char why[sizeof(
		((struct tare_error *)0)->what)]; /* why the work was not counted; else "" */
};

/* Events that the kernel counts stay 0 if nothing of that kind happens: that is no fault. */
static void excuse_idle(struct verify_result *r, const struct perf_event_attr *attr)
{
	if (r->verdict != VERIFY_DEAD ||
	    (attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
	     attr->type != PERF_TYPE_BREAKPOINT))
		return;
	r->verdict = VERIFY_UNTESTED;
	r->idle = true;
}

static void judge(struct row *row, struct machine *machine)
{
	struct tare_error err = TARE_ERROR_INIT;
	const struct source *source = encoding_source(row->event);
	struct verify_sample samples[VERIFY_SAMPLES_MOST];
	struct calibration *shop = NULL;
	int n = -ENOTSUP, class = class_of(row->event, machine_cpu(machine));

	row->result.as = WORK_UNKNOWN;
	if (engine_counts(row->event) && exact_probe(&err) == 0) {
		row->result.verdict = VERIFY_EXACT;
		snprintf(row->why, sizeof(row->why),
			 "by design: the exact engine counts each instruction itself");
		return;
	}
	if (engine_counts(row->event))
		; /* it reports why not */
	else if (row->event->place != PLACE_TASK)
		tare_fail(&err, ENOTSUP, "it counts whole CPUs or units, not a thread's work");
	else if (source->clock)
		tare_fail(&err, ENOTSUP, "it is a clock: it has no correct count");
	else
		n = calibration_open(&shop, row->event->cpus.n ? row->event->cpus.cpu[0] : -1,
				     &err);
	if (shop)
		n = verify_work(samples, row->event, class, source, shop, &row->interrupts_known,
				&err);
	calibration_close(shop);
	if (n >= 0) {
		row->result = class == WORK_UNKNOWN ? verify_judge_any(samples, (size_t)n)
						    : verify_judge(samples, (size_t)n);
		if (class == WORK_UNKNOWN)
			excuse_idle(&row->result, &row->event->attr);
	} else
		snprintf(row->why, sizeof(row->why), "%s", err.what);
}

static void words_of(struct text *out, const struct row *row)
{
	if (row->why[0])
		text_add(out, "%s", row->why);
	else
		verify_words(out, &row->result);
}

static enum ink ink_of(const struct verify_result *r)
{
	if (verify_trusted(r))
		return INK_STRONG;
	return r->verdict == VERIFY_UNTESTED || r->verdict == VERIFY_UNAVAILABLE ? INK_FAINT
										 : INK_CAREFUL;
}

static void put_text(struct text *out, const struct row *row, size_t n, const struct style *s)
{
	bool any = false;

	text_put(out, "\n", 1);
	for (size_t i = 0; i < n; i++) {
		struct text words = { 0 };

		any |= row[i].result.samples > 0;
		words_of(&words, &row[i]);
		text_add(out, " %-24.60s %s%-18s%s %s\n", row[i].event->name,
			 ink_on(s, ink_of(&row[i].result)), verify_names[row[i].result.verdict],
			 ink_off(s), words.s ? words.s : "");
		text_free(&words);
	}
	if (any)
		text_add(
			out,
			"\n Each counted loops of known length and pages touched for the first time, many times, in this thread, on one CPU.\n");
}

static void put_json(struct text *out, const struct counts_options *o, const struct row *row,
		     size_t n)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/verify/1");
	json_string(&j, "stored", o->stored[0] ? o->stored : NULL);
	json_string(&j, "not_stored", o->why_not[0] ? o->why_not : NULL);
	json_array(&j, "events");
	for (size_t i = 0; i < n; i++) {
		const struct verify_result *r = &row[i].result;
		struct text words = { 0 }, kinds = { 0 };

		words_of(&words, &row[i]);
		verify_name_kinds(&kinds, r->kinds);
		json_object(&j, NULL);
		json_string(&j, "event", row[i].event->name);
		json_string(&j, "verdict", verify_names[r->verdict]);
		json_bool(&j, "trusted", verify_trusted(r));
		json_string(&j, "words", words.s);
		json_uint(&j, "samples", r->samples);
		json_int(&j, "fixed", r->fixed);
		json_int(&j, "per_fault", r->per_fault);
		json_int(&j, "per_syscall", r->per_syscall);
		json_string(&j, "counts", r->as == WORK_UNKNOWN ? NULL : work_class_names[r->as]);
		json_string(&j, "wrong_for", kinds.s ? kinds.s : "");
		json_real(&j, "per_turn", r->per_turn);
		json_uint(&j, "per_interrupt", r->per_interrupt);
		json_uint(&j, "interrupts", r->interrupts);
		json_bool(&j, "interrupts_known", row[i].interrupts_known);
		json_uint(&j, "over", r->over);
		json_uint(&j, "spread", r->spread);
		json_real(&j, "factor", r->factor);
		json_real(&j, "share", r->share);
		json_end(&j);
		text_free(&words);
		text_free(&kinds);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}

/* For tare stat. It is no failure if they cannot be stored. */
static void keep(struct counts_options *o, struct machine *machine, const struct row *row, size_t n)
{
	struct verdict *one = calloc(n + 1, sizeof(*one)), first = { .time = time(NULL) };
	struct tare_error err = TARE_ERROR_INIT;
	size_t m = 0;

	verdict_machine(first.machine, sizeof(first.machine), machine_root(machine),
			machine_cpu(machine));
	verdict_boot(first.boot, sizeof(first.boot), machine_root(machine));
	for (size_t i = 0; one && i < n; i++) {
		one[m] = first;
		one[m].result = row[i].result;
		m += row[i].result.samples &&
			verdict_event(one[m].event, sizeof(one[m].event), row[i].event);
	}
	if (one && m && verdict_keep(one, m, &err) < 0)
		snprintf(o->why_not, sizeof(o->why_not), "%s", err.what);
	else if (one && m && !verdict_path(o->stored, sizeof(o->stored)))
		o->stored[0] = '\0';
	free(one);
}

static int show(const struct counts_options *o, const struct row *row, size_t n,
		struct tare_error *err)
{
	struct document to;
	int ret = document_open(&to, o->form.out.path, err);

	if (ret < 0)
		return ret;
	if (o->form.out.format == FORMAT_JSON)
		put_json(&to.out, o, row, n);
	else
		put_text(&to.out, row, n, &to.style);
	if (o->form.out.format != FORMAT_JSON && o->stored[0])
		text_add(
			&to.out,
			" Stored in %s: tare stat shows them with its counts. --no-store stores nothing.\n",
			o->stored);
	if (o->form.out.format != FORMAT_JSON && o->why_not[0])
		text_add(&to.out, " Not stored for tare stat: %s.\n", o->why_not);
	return document_close(&to, err);
}

/* The combined result of all rows. */
static int status_of(const struct row *row, size_t n, struct tare_error *err)
{
	bool any = false, bad = false;

	for (size_t i = 0; i < n; i++) {
		enum verify_verdict v = row[i].result.verdict;

		any |= v != VERIFY_UNAVAILABLE && v != VERIFY_UNTESTED;
		bad |= v != VERIFY_UNAVAILABLE && v != VERIFY_UNTESTED &&
			!verify_trusted(&row[i].result);
	}
	if (!any) {
		tare_fail(err, ENOTSUP, "these events cannot be verified here");
		tare_hint(err, "each row has its reason; tare doctor says what the machine lacks");
		return EXIT_NOTHING_VERIFIED;
	}
	return bad ? EXIT_NOT_VERIFIED : EXIT_VERIFIED;
}

static int work(struct counts_options *o, struct tare_error *err)
{
	const struct encode_options how = { .keep_unavailable = true };
	struct machine *machine = machine_open(NULL, err);
	struct encoding_list list = { 0 };
	struct row *row = NULL;
	struct progress progress;
	int ret = machine ? 0 : -err->code;

	if (ret == 0 && !o->events.given) {
		ret = event_list_parse(USUAL_EVENTS, &o->events.list, err);
		err->at = -1;
	}
	if (ret == 0)
		ret = pmu_encode(machine, &o->events.list, &how, &list, err);
	row = ret == 0 ? calloc(list.n + 1, sizeof(*row)) : NULL;
	if (ret == 0 && !row)
		ret = tare_fail_nomem(err);
	progress_begin(&progress, "verify", false);
	for (size_t i = 0; ret == 0 && i < list.n; i++) {
		progress_show(&progress, (double)i / (double)list.n, "event %zu of %zu: %.60s",
			      i + 1, list.n, list.enc[i].name);
		row[i].event = &list.enc[i];
		judge(&row[i], machine);
	}
	progress_end(&progress);
	if (ret == 0 && !o->no_store)
		keep(o, machine, row, list.n);
	if (o->stored[0])
		verify_say_kept(&o->form, true, "verify", o->stored);
	if (ret == 0)
		ret = show(o, row, list.n, err);
	if (ret == 0)
		ret = status_of(row, list.n, err);
	free(row);
	encoding_list_free(&list);
	machine_close(machine);
	return ret;
}

static int run_counts(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct counts_options o = { 0 };
	int status, rest = options_parse(self, argc, argv, &o, &status);

	if (rest >= 0 && rest < argc) {
		status = tare_fail(&err, EINVAL,
				   "'%.64s' is not expected: counts takes only options",
				   argv[rest]);
		tare_hint(&err, "tare verify launch -- COMMAND verifies a command");
	} else if (rest >= 0) {
		status = work(&o, &err);
	}
	event_options_free(&o.events);
	if (rest >= 0 && (status < 0 || status == EXIT_NOTHING_VERIFIED))
		complain(self, &err, o.events.text);
	return status < 0 ? EXIT_CANNOT_MEASURE : status;
}

const struct command verify_counts = {
	.name = "verify counts",
	.about = "check whether events count correctly: exact, noisy, dead, ...",
	.args = "",
	.example = "  tare verify counts\n  tare verify counts -e instructions:u,r00c4:u",
	.topic = TOPIC_TRUST,
	.options = counts_opts,
	.run = run_counts,
};

/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/stat/stat_trust.h"
#include "cli/trust/verdict_file.h"
#include "pmu/machine.h"
#include "pmu/interrupts.h"
#include "count/counting.h"
#include "launch/engine.h"

/* Whether one of the core's counters is used. */
static bool uses_core(const struct encoding_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct encoding *e = &list->enc[i];

		if (!e->unavailable && !engine_counts(e) && encoding_source(e)->kernel &&
		    (e->place == PLACE_CORE || e->attr.type == PERF_TYPE_HARDWARE ||
		     e->attr.type == PERF_TYPE_HW_CACHE || e->attr.type == PERF_TYPE_RAW))
			return true;
	}
	return false;
}

/* Faults that are visible without a test; several kinds of core are visible in the table. */
static int look_for_faults(struct stat_trust *t, struct tare_error *err)
{
	static struct host host; /* several KiB: too large for the stack */
	size_t n;

	if (host_look(&host, NULL, NULL) < 0)
		return 0;
	t->fault = malloc(FAULTS_MOST * sizeof(*t->fault));
	if (!t->fault)
		return tare_fail_nomem(err);
	n = faults_judge(&host, t->fault, FAULTS_MOST);
	for (size_t i = 0; i < n; i++)
		if (t->fault[i].state == FAULT_PRESENT && strcmp(t->fault[i].fault.id, "hybrid"))
			t->fault[t->view.n_faults++] = t->fault[i];
	t->view.fault = t->fault;
	return 0;
}

/* Opens it for this thread and closes it again. A user who may not count the kernel counts user
 * mode only, and the verdict must be for what is counted. */
static int open_once(struct stat_trust *t, const struct encoding_list *list, struct tare_error *err)
{
	struct place self = { .cpu = -1, .shown = { .cpu = -1 } };
	const struct places tasks = { .place = &self, .n = 1 };
	const struct count_target target = { .inherit = true };
	bool *only = calloc(list->n + 1, sizeof(*only));
	struct counting c;
	int ret;

	t->opened = calloc(list->n + 1, sizeof(*t->opened));
	if (!only || !t->opened) {
		free(only);
		return tare_fail_nomem(err);
	}
	for (size_t i = 0; i < list->n; i++)
		only[i] = !engine_counts(&list->enc[i]) && list->enc[i].place != PLACE_UNCORE;
	ret = counting_open(
		&c, list,
		&(struct counting_options){ .target = &target, .tasks = &tasks, .only = only },
		err);
	if (ret == 0) {
		memcpy(t->opened, c.enc, list->n * sizeof(*c.enc));
		counting_close(&c);
	}
	free(only);
	return ret;
}

int stat_trust_load(struct stat_trust *t, struct machine *machine, const struct encoding_list *list,
		    struct tare_error *err)
{
	struct tare_error trouble = TARE_ERROR_INIT;
	char event[96];
	int ret;

	t->view.boot = t->boot;
	t->view.verdict = calloc(list->n + 1, sizeof(*t->view.verdict));
	if (!t->view.verdict)
		return tare_fail_nomem(err);
	t->view.n = list->n;
	if (uses_core(list) && look_for_faults(t, err) < 0)
		return -ENOMEM;
	if (verdict_load(&t->all, &trouble) < 0)
		snprintf(t->view.trouble, sizeof(t->view.trouble), "%s", trouble.what);
	if (!t->all.n)
		return 0;
	ret = open_once(t, list, err);
	if (ret < 0)
		return ret;
	verdict_machine(t->machine, sizeof(t->machine), machine_root(machine),
			machine_cpu(machine));
	verdict_boot(t->boot, sizeof(t->boot), machine_root(machine));
	for (size_t i = 0; i < list->n; i++)
		if (!engine_counts(&list->enc[i]) &&
		    verdict_event(event, sizeof(event), &t->opened[i]))
			t->view.verdict[i] = verdicts_find(&t->all, event, t->machine);
	return 0;
}

/* A time is not a count, so there is nothing to verify; an exact count is correct by
 * construction. */
static bool needs_none(const struct encoding *e)
{
	return encoding_source(e)->exact || encoding_source(e)->clock || !strcmp(e->unit, "ns");
}

static bool is_good(const struct verdict *v, bool correct)
{
	return v && (verify_trusted(&v->result) || (correct && overcount_needed(&v->result)));
}

static void list_name(struct text *out, const char *name)
{
	text_add(out, "%s%s", out->len ? "," : "", name);
}

int stat_trust_check(struct stat_trust *t, const struct encoding_list *list, bool correct,
		     struct tare_error *err)
{
	struct text missing = { 0 }, bad = { 0 }, good = { 0 };
	bool again = false;
	int ret = 0;

	for (size_t i = 0; i < list->n; i++)
		if (!strncmp(list->enc[i].name, "instructions-minus-irqs", 23) &&
		    !needs_none(&list->enc[i])) {
			tare_fail(
				err, ENODATA,
				"--verified-only: there are no verdicts of %.60s, a difference of two events",
				list->enc[i].name);
			tare_hint(
				err,
				"--correct -e instructions:u subtracts the excess that tare verify counts -e instructions:u found");
			return -ENODATA;
		}
	if (!t->opened)
		ret = open_once(t, list, err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < list->n; i++) {
		const struct encoding *e = &t->opened[i];
		const struct verdict *v = t->view.verdict[i];

		if (e->unavailable)
			continue;
		if (needs_none(e) || is_good(v, correct) ||
		    (v && v->result.verdict == VERIFY_DEAD)) {
			list_name(&good, e->name);
		} else if (v) {
			text_add(&bad, "%s%s (%s)", bad.len ? ", " : "", e->name,
				 verify_names[v->result.verdict]);
			again |= v->result.verdict != VERIFY_UNTESTED;
		} else {
			list_name(&missing, e->name);
		}
	}
	if (t->view.trouble[0] && missing.len) {
		ret = tare_fail(err, ENODATA,
				"--verified-only: the verdicts cannot be read: %.180s",
				t->view.trouble);
		tare_hint(err, "remove that file, then run tare verify counts -e %.80s", missing.s);
	} else if (missing.len) {
		ret = tare_fail(
			err, ENODATA,
			"--verified-only: no verdict for %.180s on this CPU, microcode and kernel",
			missing.s);
		tare_hint(err, "run tare verify counts -e %.120s", missing.s);
	} else if (bad.len) {
		ret = tare_fail(err, ENODATA, "--verified-only: not reliable here: %.190s", bad.s);
		tare_hint(
			err, "%s%.60s%s", good.len ? "leave it out: -e " : "leave it out",
			good.len ? good.s : "",
			again ? "; or run tare verify counts again: another program may have used the counters"
			      : "");
	}
	text_free(&missing);
	text_free(&bad);
	text_free(&good);
	return ret;
}

int stat_trust_alive(const struct stat_trust *t, const struct stat_table *table,
		     struct tare_error *err)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct stat_row *r = &table->row[i];
		const struct verdict *v = trust_of(&t->view, r->event);

		if (!v || v->result.verdict != VERIFY_DEAD || r->quality == TARE_UNAVAILABLE)
			continue;
		if (trust_refuted(v, r)) {
			tare_fail(
				err, ENODATA,
				"--verified-only: %.60s counted, so its verdict 'dead' is refuted, and its accuracy is unknown",
				table->enc[r->event].name);
			tare_hint(err,
				  "refuted: run tare verify again: tare verify counts -e %.60s",
				  table->enc[r->event].name);
			return -ENODATA;
		}
		tare_fail(
			err, ENODATA,
			"--verified-only: %.60s counted 0, but tare verify found it dead: this 0 is meaningless",
			table->enc[r->event].name);
		tare_hint(
			err,
			"leave it out, or run tare verify counts again: another program may have used the counters");
		return -ENODATA;
	}
	return 0;
}

/* The row of the event that counts this CPU's interrupts in user mode, if there is one. */
static const struct stat_row *interrupts_row(struct machine *machine,
					     const struct stat_table *table)
{
	const struct encode_options how = { .keep_unavailable = true };
	const struct stat_row *found = NULL;
	struct event_list events = { 0 };
	struct encoding_list list = { 0 };
	struct interrupts_event irqs;
	char wanted[96], event[96];

	if (interrupts_of_cpu(&irqs, machine_cpu(machine), NULL) == 0 &&
	    event_list_parse(irqs.event, &events, NULL) == 0 &&
	    pmu_encode(machine, &events, &how, &list, NULL) == 0 && list.n == 1 &&
	    !list.enc[0].unavailable && verdict_event(wanted, sizeof(wanted), &list.enc[0]))
		for (size_t i = 0; i < table->n && !found; i++)
			if (verdict_event(event, sizeof(event), &table->enc[table->row[i].event]) &&
			    !strcmp(event, wanted))
				found = &table->row[i];
	encoding_list_free(&list);
	event_list_free(&events);
	return found;
}

static const struct stat_row *faults_row(const struct stat_trust *t, const struct stat_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct encoding *e = &table->enc[table->row[i].event];
		const struct verdict *v = trust_of(&t->view, table->row[i].event);

		if (e->attr.type == PERF_TYPE_SOFTWARE &&
		    e->attr.config == PERF_COUNT_SW_PAGE_FAULTS && v && verify_trusted(&v->result))
			return &table->row[i];
	}
	return NULL;
}

int stat_trust_correct(struct stat_trust *t, struct machine *machine,
		       const struct stat_table *table, struct tare_error *err)
{
	struct overcount_from from = { .faults = faults_row(t, table),
				       .interrupts = interrupts_row(machine, table) };
	int ret = 0;

	t->view.corrected = calloc(table->n + 1, sizeof(*t->view.corrected));
	if (!t->view.corrected)
		return tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < table->n; i++) {
		const struct verdict *v = trust_of(&t->view, table->row[i].event);

		if (!v || !overcount_needed(&v->result))
			continue;
		from.of = &v->result;
		ret = overcount_row(&t->view.corrected[t->view.n_corrected++], table,
				    &table->row[i], &from, err);
	}
	return ret;
}

void stat_trust_free(struct stat_trust *t)
{
	free(t->view.verdict);
	free(t->fault);
	free(t->opened);
	free(t->view.corrected);
	verdicts_free(&t->all);
	*t = (struct stat_trust){ 0 };
}

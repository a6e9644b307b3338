/* SPDX-License-Identifier: MIT */
/*
 * The verdict first; then the findings, worst first, each with its importance and the command to
 * type.
 */
#include <inttypes.h>
#include <string.h>
#include "doctor/doctor_view.h"
#include "output/json.h"
#include "output/style.h"

enum { MARK_COLUMNS = 6, ID_COLUMNS = 16, INDENT = MARK_COLUMNS + ID_COLUMNS, NARROWEST = 60 };

static const struct {
	const char *name, *colour;
} marks[] = {
	[MARK_FAIL] = { "FAIL", "\033[1;31m" },
	[MARK_WARN] = { "warn", "\033[33m" },
	[MARK_OK] = { "ok", "\033[32m" },
};

static const char *sudo(const struct host *h, const struct fix *x)
{
	bool is_root = x->place == FIX_HERE && h->uid == 0;

	return x->as_root && !is_root ? "sudo " : "";
}

/* A command stays on one line, whatever its length, so that it can be copied. */
static void remedy(struct text *out, const struct host *h, const struct fix *x)
{
	static const char *const lead[] = {
		[FIX_HERE] = "type:",
		[FIX_START] = "start with:",
		[FIX_HOST] = "on the host:",
	};

	text_add(out, "%*s%-12s %s%s\n", INDENT, "", lead[x->place], sudo(h, x), x->text);
	if (x->effect[0])
		text_add(out, "%*s%-12s (%s)\n", INDENT, "", "", x->effect);
}

void doctor_text(struct text *out, const struct host *h, const struct diagnosis *d,
		 struct doctor_style style)
{
	unsigned width = style.width < NARROWEST ? NARROWEST : style.width;

	put_wrapped(out, d->sentence, 0, 0, width);
	text_put(out, "\n", 1);
	for (unsigned i = 0; i < d->findings; i++) {
		const struct finding *f = &d->finding[i];

		text_add(out, "%s%-*s%s%-*s", style.colour ? marks[f->mark].colour : "",
			 MARK_COLUMNS, marks[f->mark].name, style.colour ? "\033[0m" : "",
			 ID_COLUMNS, f->id);
		put_wrapped(out, f->what, INDENT, INDENT, width);
		if (f->mark == MARK_OK)
			continue;
		text_add(out, "%*s", INDENT, "");
		put_wrapped(out, f->why, INDENT, INDENT, width);
		for (unsigned x = 0; x < f->fixes; x++)
			remedy(out, h, &f->fix[x]);
	}
}

static void json_known(struct json *j, const char *key, long value)
{
	json_int_if(j, key, value != HOST_UNKNOWN, value);
}

static void json_share(struct json *j, const char *key, double share)
{
	json_real_if(j, key, share >= 0, share);
}

static void json_fix(struct json *j, const struct host *h, const struct fix *x)
{
	static const char *const places[] = {
		[FIX_HERE] = "here",
		[FIX_START] = "start",
		[FIX_HOST] = "host",
	};

	json_object(j, NULL);
	json_string(j, "command", x->text);
	json_string(j, "place", places[x->place]);
	json_bool(j, "as_root", x->as_root);
	json_bool(j, "needs_sudo", sudo(h, x)[0] != '\0');
	json_string(j, "effect", x->effect);
	json_end(j);
}

static void json_finding(struct json *j, const struct host *h, const struct finding *f)
{
	static const char *const names[] = {
		[MARK_FAIL] = "fail", [MARK_WARN] = "warn", [MARK_OK] = "ok"
	};

	json_object(j, NULL);
	json_string(j, "id", f->id);
	json_string(j, "mark", names[f->mark]);
	json_string(j, "what", f->what);
	json_string(j, "why", f->why[0] ? f->why : NULL);
	json_array(j, "fix");
	for (unsigned i = 0; i < f->fixes; i++)
		json_fix(j, h, &f->fix[i]);
	json_end(j);
	json_end(j);
}

static const char *const outcomes[] = {
	[OUTCOME_UNTRIED] = "untried", [OUTCOME_REFUSED] = "refused", [OUTCOME_OFF] = "never ran",
	[OUTCOME_ZERO] = "zero",       [OUTCOME_WRONG] = "wrong",     [OUTCOME_SHARED] = "shared",
	[OUTCOME_COUNTED] = "counted",
};

static void json_attempt(struct json *j, const char *event, const struct attempt *a)
{
	bool counted = a->outcome >= OUTCOME_ZERO; /* there is no number before it */

	json_object(j, NULL);
	json_string(j, "event", event);
	json_string(j, "outcome", outcomes[a->outcome]);
	json_string(j, "error", a->outcome == OUTCOME_REFUSED ? strerror(a->code) : NULL);
	json_uint_if(j, "count", counted, a->count);
	json_uint(j, "low", a->low);
	json_uint(j, "high", a->high);
	json_end(j);
}

static void json_machine(struct json *j, const struct host *h)
{
	static const char *const events[] = {
		[TRY_TASK_CLOCK] = "task-clock",
		[TRY_FAULTS] = "page-faults:u",
		[TRY_SWITCHES] = "context-switches",
		[TRY_CPU_WIDE] = "cpu-clock on one CPU",
		[TRY_INSTRUCTIONS] = "instructions:u",
		[TRY_CYCLES] = "cycles:u",
		[TRY_KERNEL] = "instructions:k",
		[TRY_USER_READ] = "instructions:u read from user space",
	};

	json_object(j, "facts");
	json_bool(j, "tried", h->live);
	json_string(j, "kernel", h->kernel[0] ? h->kernel : NULL);
	json_known(j, "uid", h->uid);
	json_known(j, "perf_event_paranoid", h->paranoid);
	json_known(j, "perf_user_access", h->user_access);
	json_known(j, "nmi_watchdog", h->nmi_watchdog);
	json_known(j, "perf_event_mlock_kb", h->mlock_kb);
	json_known(j, "perf_event_max_sample_rate", h->sample_rate);
	json_known(j, "kptr_restrict", h->kptr_restrict);
	json_known(j, "seccomp", h->seccomp);
	json_string(j, "container", h->container[0] ? h->container : NULL);
	json_bool(j, "user_namespace", h->user_namespace);
	json_known(j, "smt_active", h->smt_active);
	json_known(j, "cpus_online", h->cpus_online);
	json_string(j, "cpu", h->cpu.model[0] ? h->cpu.model : NULL);
	json_string(j, "cpu_id", h->cpu_id[0] ? h->cpu_id : NULL);
	json_string(j, "microcode", h->microcode[0] ? h->microcode : NULL);
	json_known(j, "hz", h->hz);
	json_string(j, "nohz_full", h->nohz_full[0] ? h->nohz_full : NULL);
	json_string(j, "governor", h->governor[0] ? h->governor : NULL);
	json_known(j, "turbo", h->turbo);
	json_known(j, "freeze_on_smi", h->freeze_on_smi);
	json_share(j, "steal_share", h->steal_share);
	json_share(j, "sibling_busy", h->sibling_busy);
	json_bool_if(j, "exact_engine", h->live, h->exact_works);
	json_array(j, "pmus");
	for (unsigned i = 0; i < h->pmus; i++) {
		const struct core_pmu *p = &h->pmu[i];
		bool known = p->programmable || p->fixed;

		json_object(j, NULL);
		json_string(j, "name", p->name);
		json_string(j, "cpus", p->cpus[0] ? p->cpus : NULL);
		json_string(j, "outcome", outcomes[p->instructions.outcome]);
		json_known(j, "programmable", known ? (long)p->programmable : HOST_UNKNOWN);
		json_known(j, "fixed", known ? (long)p->fixed : HOST_UNKNOWN);
		json_end(j);
	}
	json_end(j);
	json_array(j, "tries");
	for (int i = 0; i < TRY_COUNT; i++)
		json_attempt(j, events[i], &h->tries[i]);
	json_end(j);
	json_end(j);
}

void doctor_json(struct text *out, const struct host *h, const struct diagnosis *d)
{
	static const char *const verdicts[] = {
		[VERDICT_HARDWARE] = "hardware",
		[VERDICT_SOFTWARE] = "software",
		[VERDICT_NOTHING] = "nothing",
	};
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/doctor/1");
	json_string(&j, "verdict", verdicts[d->verdict]);
	json_int(&j, "exit_status", d->verdict);
	json_string(&j, "sentence", d->sentence);
	json_array(&j, "findings");
	for (unsigned i = 0; i < d->findings; i++)
		json_finding(&j, h, &d->finding[i]);
	json_end(&j);
	json_machine(&j, h);
	json_end(&j);
	*out = j.out;
}

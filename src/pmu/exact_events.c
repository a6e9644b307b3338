/* SPDX-License-Identifier: MIT */
/*
 * exact/loads/ and similar events. They exist on every machine: binary translation counts them, not
 * hardware. attr.config is the class's number; user mode is implied and cannot be changed.
 */
#include <stdio.h>
#include <string.h>
#include "pmu/encode.h"
#include "pmu/exact_events.h"

const struct exact_event exact_events[EXACT_EVENTS] = {
	{ "instructions",
	  "instructions retired in user mode; a repeated string instruction is one" },
	{ "branches", "near jumps, calls and returns" },
	{ "conditional-branches", "branches that may fall through" },
	{ "taken-branches", "branches that did not fall through" },
	{ "calls", "near calls" },
	{ "returns", "near returns" },
	{ "indirect-branches", "jumps and calls through a register or memory, returns apart" },
	{ "loads",
	  "memory operands read, implicit ones too; a gather is one, and so is a prefetch or a flush of a cache line" },
	{ "stores", "memory operands written, implicit ones too; a scatter is one" },
	{ "atomics", "locked instructions, and xchg with memory" },
	{ "rep", "repeated string instructions" },
	{ "syscalls", "syscall instructions" },
	{ "x87", "x87 floating-point instructions" },
	{ "mmx", "instructions that name an MMX register" },
	{ "vector-128", "instructions whose widest vector register has 128 bits, scalar SSE too" },
	{ "vector-256", "instructions whose widest vector register has 256 bits" },
	{ "vector-512", "instructions whose widest vector register has 512 bits" },
	{ "accesses", "memory operands accessed; one that is read and written is one" },
};

static const char absent_why[] =
	"the exact engine translates x86-64 programs only, and this is another machine";
static const char absent_remedy[] =
	"instructions:u, branches:u count it roughly where there is a PMU";

static int unknown(struct encoder *e, const struct event_term *t)
{
	const char *names[EXACT_EVENTS];
	struct text near = { 0 };

	for (int i = 0; i < EXACT_EVENTS; i++)
		names[i] = exact_events[i].name;
	tare_fail_at(e->err, t ? t->at : e->ev->at, ENOENT, "the exact engine has no event '%.60s'",
		     t ? t->name : e->ev->text);
	text_nearest(&near, t ? t->name : "", names, EXACT_EVENTS, 3);
	tare_hint(e->err, near.len ? "did you mean %s?" : "'tare events exact' lists them%s",
		  near.len ? near.s : "");
	text_free(&near);
	return -ENOENT;
}

/* The only term of an event of the engine: its sampling period. */
static bool is_period(const struct event_term *t)
{
	return !strcmp(t->name, "period") && t->value && t->is_number && t->number;
}

int encode_exact(struct encoder *e)
{
	const struct event *ev = e->ev;
	struct encoding *enc;

	if (ev->n_terms > 1 && (ev->n_terms > 2 || !is_period(&ev->term[1]))) {
		tare_fail_at(e->err, ev->term[1].at, EINVAL,
			     "%.100s: one event of the exact engine at a time", ev->text);
		tare_hint(e->err, "exact/%.40s/,exact/%.40s/", ev->term[0].name, ev->term[1].name);
		return -EINVAL;
	}
	if (!ev->n_terms)
		return unknown(e, NULL);
	if (ev->mods.given && (!ev->mods.user || ev->mods.kernel || ev->mods.hypervisor))
		return tare_fail_at(e->err, ev->at, EINVAL,
				    "%.100s: the exact engine counts user mode, and nothing else",
				    ev->text);
	for (int i = 0; i < EXACT_EVENTS; i++) {
		if (strcmp(ev->term[0].name, exact_events[i].name))
			continue;
		enc = encoder_add(e, NULL, PERF_TYPE_MAX, (uint64_t)i);
		if (!enc)
			return -ENOMEM;
		snprintf(enc->pmu, sizeof(enc->pmu), "exact");
		enc->source = &source_exact;
		enc->attr.exclude_kernel = enc->attr.exclude_hv = 1;
		if (ev->n_terms > 1)
			enc->attr.sample_period = ev->term[1].number;
		return HAVE_EXACT ? 0
				  : encoder_unavailable(e, enc, ENOTSUP, absent_why, absent_remedy);
	}
	return unknown(e, &ev->term[0]);
}

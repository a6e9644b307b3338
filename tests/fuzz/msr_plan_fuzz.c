/* SPDX-License-Identifier: MIT */
/*
 * Any events on any CPU: a plan that the list allows (but for interrupts of periods), each event on
 * a counter of its own, put back whole; or an error in words.
 */
#include "fuzz.h"
#include "msr/plan.h"

struct input {
	uint8_t maker, version, programmable, fixed, width, full_width, n;
	struct {
		uint64_t config, extra, legal, period;
		uint8_t modes;
	} __attribute__((packed)) ev[MSR_EVENTS_MAX];
} __attribute__((packed));

static void check(const struct msr_plan *p, const struct msr_cpu *cpu, const struct msr_event *ev)
{
	struct tare_msr_op saved[TARE_MSR_OPS_MAX], back[TARE_MSR_OPS_MAX];
	size_t n_saved = msr_plan_ops(p, MSR_SAVE, MSR_SAVE, saved, TARE_MSR_OPS_MAX);
	size_t n = msr_plan_ops(p, MSR_RESTORE, MSR_RESTORE, back, TARE_MSR_OPS_MAX);
	struct text t = { 0 };
	bool periods = false;

	must(p->n && p->n < MSR_STEPS_MAX);
	must((size_t)__builtin_popcountll(p->enable) == p->n_events);
	for (size_t i = 0; i < p->n_events; i++) {
		periods |= ev[i].period != 0;
		must(p->place[i].index < (p->place[i].fixed ? cpu->fixed : cpu->programmable));
		for (size_t k = 0; k < i; k++)
			must(p->place[i].counter != p->place[k].counter);
	}
	for (size_t i = 0; i < p->n && !periods; i++)
		if (p->step[i].op.msr < 0x1a6 || p->step[i].op.msr > 0x3f7 ||
		    p->step[i].op.msr == 0x38d)
			must(msr_op_check(&p->step[i].op, cpu->maker, NULL) == 0);
	must(n == n_saved + (cpu->version >= 2));
	for (size_t i = 0; i < n_saved; i++)
		saved[i].value = ~(uint64_t)i;
	msr_plan_saved(back, n, saved, n_saved);
	for (size_t i = 0; i < n_saved; i++)
		must(back[n - 1 - i].value == ~(uint64_t)(cpu->version >= 2 && i == 0 ? 0 : i) ||
		     back[n - 1 - i].msr != saved[i].msr);
	msr_plan_trace(&t, p, cpu, true);
	must(t.s && !t.failed);
	text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct msr_event ev[MSR_EVENTS_MAX];
	struct input in = { 0 };
	struct msr_cpu cpu;
	struct msr_plan p;

	memcpy(&in, bytes, n < sizeof(in) ? n : sizeof(in));
	cpu = (struct msr_cpu){ .maker = in.maker & 1 ? TARE_MSR_INTEL : TARE_MSR_AMD,
				.name = "fuzzed" };
	cpu.version = cpu.maker == TARE_MSR_INTEL ? in.version % 5 + 1 : in.version % 3;
	cpu.programmable = cpu.maker == TARE_MSR_INTEL ? in.programmable % 9 : cpu.version ? 6 : 4;
	cpu.fixed = cpu.maker == TARE_MSR_INTEL && cpu.version >= 2 ? in.fixed % 5 : 0;
	cpu.width = cpu.fixed_width = 40 + in.width % 9;
	cpu.full_width = in.full_width & 1;
	for (size_t i = 0; i < MSR_EVENTS_MAX; i++)
		ev[i] = (struct msr_event){ .name = "e",
					    .config = in.ev[i].config &
						    (in.ev[i].modes & 0x80 ? UINT64_MAX
									   : 0xff84ffff),
					    .extra = in.ev[i].extra,
					    .legal = in.ev[i].legal,
					    .period = in.ev[i].modes & 0x40 ? in.ev[i].period : 0,
					    .user = in.ev[i].modes & 1,
					    .kernel = in.ev[i].modes & 2 };
	if (msr_plan_make(&p, &cpu, ev, in.n % (MSR_EVENTS_MAX + 2), 0, &err) < 0)
		must(err.what[0] && err.code > 0);
	else
		check(&p, &cpu, ev);
	return 0;
}

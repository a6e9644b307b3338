/* SPDX-License-Identifier: MIT */
#include "regions/runtime/region_irqs.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "arch/cpu.h"
#include "pmu/machine.h"

enum { TURNS = 5000000, EXCESS_MAX = 200 };

int region_irqs_find(struct interrupts_event *out, struct tare_error *err)
{
	struct machine *m = machine_open(NULL, err);
	int ret;

	if (!m)
		return err && err->code ? -err->code : -ENOMEM;
	ret = interrupts_of_cpu(out, machine_cpu(m), err);
	machine_close(m);
	return ret;
}

int region_irqs_judge(const struct irq_run *run, size_t n, uint64_t known, struct tare_error *err)
{
	uint64_t interrupts = 0, low = UINT64_MAX, high = 0;
	int ret;

	for (size_t i = 0; i < n; i++) {
		uint64_t executed = run[i].instructions - run[i].interrupts;

		interrupts += run[i].interrupts;
		low = executed < low ? executed : low;
		high = executed > high ? executed : high;
	}
	if (interrupts < IRQS_WANTED)
		return tare_fail(
			err, EAGAIN,
			"instructions-minus-irqs:u: the event for interrupts counted %" PRIu64
			" of them in %zu runs of a loop",
			interrupts, n);
	if (low == high && low >= known && low - known <= EXCESS_MAX)
		return 0;
	ret = tare_fail(err, EOPNOTSUPP,
			"instructions-minus-irqs:u: a loop of %" PRIu64
			" instructions counted as %" PRIu64 " to %" PRIu64 " of them less %" PRIu64
			" interrupts: the event does not count correctly here",
			known, low, high, interrupts);
	tare_hint(err, "record instructions:u, and check with `tare aggregate` how much it varies");
	return ret;
}

int region_irqs_prove(struct tare_pinned *p, uint32_t n, unsigned k, char *note, size_t room,
		      struct tare_error *err)
{
	uint64_t before[TARE_PINNED_MAX], after[TARE_PINNED_MAX], interrupts = 0;
	struct irq_run run[IRQ_RUNS];
	const uint64_t known = (uint64_t)TURNS * CPU_LOOP_INSTRUCTIONS;
	size_t i, used = strlen(note);
	int ret;

	if (!p) {
		ret = tare_fail(
			err, EOPNOTSUPP,
			"instructions-minus-irqs:u: its counters cannot be read by cached registers here");
		tare_hint(err, "record instructions:u");
		return ret;
	}

	for (i = 0; i < IRQ_RUNS && interrupts < 2 * IRQS_WANTED; i++) {
		if (tare_pinned_read(p, before, n))
			return tare_fail(
				err, EIO,
				"instructions-minus-irqs:u: the counters were lost to another user");
		cpu_loop(TURNS);
		if (tare_pinned_read(p, after, n))
			return tare_fail(
				err, EIO,
				"instructions-minus-irqs:u: the counters were lost to another user");
		run[i].instructions = tare_pinned_difference(p, before[k], after[k]);
		run[i].interrupts = tare_pinned_difference(p, before[k + 1], after[k + 1]);
		interrupts += run[i].interrupts;
	}
	ret = region_irqs_judge(run, i, known, err);
	if (ret == -EAGAIN && err)
		tare_hint(err, "the event exists, but does not count: record instructions:u");
	if (ret == 0)
		snprintf(note + used, room - used,
			 "; checked here in %zu loops with %" PRIu64 " interrupts", i, interrupts);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Reservation of counters and event selects in the kernel. perf reserves all general ones while it
 * has any hardware event, including its watchdog, and fails if they are reserved; so both sides
 * refuse each other cleanly. Source: arch/x86/kernel/cpu/perfctr-watchdog.c;
 * arch/x86/events/core.c, reserve_pmc_hardware().
 */
#include <linux/kernel.h>
#include <asm/msr-index.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>
#include "module.h"

static u32 counters(void)
{
	return table_maker == TARE_MSR_INTEL ? 8 : 6;
}

static u32 counter(u32 i)
{
	return table_maker == TARE_MSR_INTEL ? MSR_ARCH_PERFMON_PERFCTR0 + i
					     : MSR_F15H_PERF_CTR + 2 * i;
}

static u32 select(u32 i)
{
	return table_maker == TARE_MSR_INTEL ? MSR_ARCH_PERFMON_EVENTSEL0 + i
					     : MSR_F15H_PERF_CTL + 2 * i;
}

static void release_first(u32 n_counters, u32 n_selects)
{
	while (n_selects)
		release_evntsel_nmi(select(--n_selects));
	while (n_counters)
		release_perfctr_nmi(counter(--n_counters));
}

int counters_reserve(void)
{
	for (u32 i = 0; i < counters(); i++) {
		if (!reserve_perfctr_nmi(counter(i))) {
			release_first(i, i);
			return -EBUSY;
		}
		if (!reserve_evntsel_nmi(select(i))) {
			release_first(i + 1, i);
			return -EBUSY;
		}
	}
	return 0;
}

void counters_release(void)
{
	release_first(counters(), counters());
}

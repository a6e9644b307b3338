/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registers that tare knows: one row each, for both the module and user space. Included with
 * MSR_ROW(name, number, count, step, maker, read, write, zero, flags, about) defined.
 *
 *	number, count, step	NAME0 at number, NAME1 at number + step ...; count 1 has no digit
 *	maker			the maker of CPUs that have it
 *	read			bits that may be read
 *	write			bits that may be written
 *	zero			bits that are always written as 0; other bits keep their value
 *
 * With MSR_RDPMC(maker, index, count, number, step) defined, also the counters readable by rdpmc:
 * index + k reads the register number + k * step. AMD's indices from 6 on read counters of caches
 * and the northbridge, which are not on the list.
 *
 * Never writable: the interrupt bits (20 of a select, 3 of each fixed counter's four), pin control
 * (19), AnyThread (21, 2 of each four), PEBS, DEBUGCTL and the DS area.
 *
 * Sources: Intel SDM vol. 4, "Model-Specific Registers", table 2-2; vol. 3B, "Architectural
 * Performance Monitoring"; vol. 2B, "RDPMC". AMD64 APM vol. 2, "Performance Monitoring Counters";
 * vol. 3, "RDPMC"; PPR for family 19h, "Core::X86::Msr".
 */

#ifndef MSR_TABLE_WORDS
#define MSR_TABLE_WORDS
enum tare_msr_maker { TARE_MSR_INTEL = 1, TARE_MSR_AMD = 2, TARE_MSR_ANY = 3 };
enum tare_msr_flags {
	TARE_MSR_GATE = 1, /* 0 in it stops all counters: written first to stop, last to start */
	/* writing a 1 clears something elsewhere: there is no value to save or to restore */
	TARE_MSR_CLEAR = 2,
	/* belongs to the counters, which must be reserved before it is written */
	TARE_MSR_PMU = 4,
	TARE_MSR_SHARED = 16, /* shared by all threads of a core, on some CPUs */
	/*
	 * a write sets 32 bits, sign-extended: other values go to the register MSR_FULL_WIDTH above
	 * it, if it exists
	 */
	TARE_MSR_SIGNED = 8,
};
#define MSR_ALL 0xffffffffffffffffULL
#define MSR_48  0x0000ffffffffffffULL
/*
 * From IA32_PMCx to IA32_A_PMCx, on CPUs whose IA32_PERF_CAPABILITIES has FULL_WIDTH_WRITE. Source:
 * Intel SDM vol. 3B, "Full-Width Writes".
 */
#define MSR_CAPABILITIES          0x345
#define MSR_CAPABLE_OF_FULL_WIDTH 0x2000ULL
#define MSR_FULL_WIDTH            0x400
#define MSR_SIGNED_32(value)      ((unsigned long long)(long long)(int)(unsigned int)(value)&MSR_48)
#define MSR_INTEL_SELECT          0x00000003ffc7ffffULL
#define MSR_AMD_SELECT            0x0000030fffc7ffffULL
/*
 * The union of what all CPUs accept (Linux, arch/x86/events/intel/core.c, *_extra_regs); a CPU
 * faults on bits it lacks, and the batch ends there.
 */
#define MSR_OFFCORE 0x800ff0ffffffffffULL
#endif

#define MSR_READ_ONLY(name, number, maker, about)                                                  \
	MSR_ROW(name, number, 1, 1, maker, MSR_ALL, 0, 0, 0, about)
#define MSR_PMU_ROW(name, number, count, step, maker, bits, flags, about)                          \
	MSR_ROW(name, number, count, step, maker, MSR_ALL, bits, ~(bits), TARE_MSR_PMU | (flags),  \
		about)

#ifdef TARE_MSR_TEST
/* Storage that an emulated machine has, for the tests: never in a production module. */
MSR_ROW("TEST_TSC_AUX", 0xc0000103, 1, 1, TARE_MSR_ANY, MSR_ALL, 0xff, 0, 0, "")
MSR_ROW("TEST_STORE", 0x402, 2, 1, TARE_MSR_ANY, MSR_ALL, MSR_ALL, 0, 0, "")
MSR_ROW("TEST_GATE", 0x17a, 1, 1, TARE_MSR_ANY, MSR_ALL, MSR_ALL, 0, TARE_MSR_GATE, "")
MSR_ROW("TEST_FAULT", 0x6e1, 1, 1, TARE_MSR_ANY, MSR_ALL, MSR_ALL, 0, 0, "")
#endif

MSR_READ_ONLY("IA32_TIME_STAMP_COUNTER", 0x10, TARE_MSR_ANY, "time stamp counter")
MSR_READ_ONLY("MSR_SMI_COUNT", 0x34, TARE_MSR_INTEL, "system management interrupts since reset")
MSR_PMU_ROW("IA32_PMC", 0xc1, 8, 1, TARE_MSR_INTEL, MSR_48, TARE_MSR_SIGNED,
	    "programmable counter; a write sets 32 bits, sign-extended")
MSR_READ_ONLY("IA32_MPERF", 0xe7, TARE_MSR_ANY,
	      "cycles at the reference frequency while not halted")
MSR_READ_ONLY("IA32_APERF", 0xe8, TARE_MSR_ANY, "cycles at the actual frequency while not halted")
MSR_PMU_ROW("IA32_PERFEVTSEL", 0x186, 8, 1, TARE_MSR_INTEL, MSR_INTEL_SELECT, 0,
	    "what a programmable counter counts")
MSR_READ_ONLY("IA32_PERF_STATUS", 0x198, TARE_MSR_INTEL, "current performance state")
MSR_READ_ONLY("IA32_MISC_ENABLE", 0x1a0, TARE_MSR_INTEL, "processor features that are on")
MSR_PMU_ROW("MSR_OFFCORE_RSP_", 0x1a6, 2, 1, TARE_MSR_INTEL, MSR_OFFCORE, TARE_MSR_SHARED,
	    "which requests and responses an offcore event counts")
MSR_PMU_ROW("IA32_FIXED_CTR", 0x309, 4, 1, TARE_MSR_INTEL, MSR_48, 0,
	    "fixed counter: instructions, cycles, reference cycles, slots")
MSR_READ_ONLY("MSR_PERF_METRICS", 0x329, TARE_MSR_INTEL,
	      "shares of the slots, each in 255ths (Ice Lake and later)")
MSR_READ_ONLY("IA32_PERF_CAPABILITIES", 0x345, TARE_MSR_INTEL, "what the counters can do")
MSR_PMU_ROW("IA32_FIXED_CTR_CTRL", 0x38d, 1, 1, TARE_MSR_INTEL, 0x3333ULL, 0,
	    "modes that each fixed counter counts in")
MSR_READ_ONLY("IA32_PERF_GLOBAL_STATUS", 0x38e, TARE_MSR_INTEL, "counters that overflowed")
MSR_PMU_ROW("IA32_PERF_GLOBAL_CTRL", 0x38f, 1, 1, TARE_MSR_INTEL, 0xf000000ffULL, TARE_MSR_GATE,
	    "counters that count")
MSR_PMU_ROW("IA32_PERF_GLOBAL_OVF_CTRL", 0x390, 1, 1, TARE_MSR_INTEL, 0xf000000ffULL,
	    TARE_MSR_CLEAR, "a 1 clears that counter's overflow")
MSR_PMU_ROW("MSR_PEBS_FRONTEND", 0x3f7, 1, 1, TARE_MSR_INTEL, 0xffffffULL, 0,
	    "which instructions frontend_retired counts")
MSR_PMU_ROW("IA32_A_PMC", 0x4c1, 8, 1, TARE_MSR_INTEL, MSR_48, 0,
	    "programmable counter; a write sets all of it")
MSR_READ_ONLY("MSR_PPERF", 0x64e, TARE_MSR_INTEL, "cycles that made progress")
MSR_READ_ONLY("MPERF_READONLY", 0xc00000e7, TARE_MSR_AMD, "IA32_MPERF, as of the last reset")
MSR_READ_ONLY("APERF_READONLY", 0xc00000e8, TARE_MSR_AMD, "IA32_APERF, as of the last reset")
MSR_READ_ONLY("TSC_AUX", 0xc0000103, TARE_MSR_ANY, "what rdtscp and rdpid give: the CPU's number")
MSR_READ_ONLY("PERF_GLOBAL_STATUS", 0xc0000300, TARE_MSR_AMD, "counters that overflowed")
MSR_PMU_ROW("PERF_GLOBAL_CTL", 0xc0000301, 1, 1, TARE_MSR_AMD, 0x3fULL, TARE_MSR_GATE,
	    "counters that count")
MSR_PMU_ROW("PERF_GLOBAL_STATUS_CLR", 0xc0000302, 1, 1, TARE_MSR_AMD, 0x3fULL, TARE_MSR_CLEAR,
	    "a 1 clears that counter's overflow")
MSR_PMU_ROW("PERF_LEGACY_CTL", 0xc0010000, 4, 1, TARE_MSR_AMD, MSR_AMD_SELECT, 0,
	    "what a counter counts (family 10h)")
MSR_PMU_ROW("PERF_LEGACY_CTR", 0xc0010004, 4, 1, TARE_MSR_AMD, MSR_48, 0, "counter (family 10h)")
MSR_PMU_ROW("PERF_CTL", 0xc0010200, 6, 2, TARE_MSR_AMD, MSR_AMD_SELECT, 0, "what a counter counts")
MSR_PMU_ROW("PERF_CTR", 0xc0010201, 6, 2, TARE_MSR_AMD, MSR_48, 0, "counter")

#ifdef MSR_RDPMC
MSR_RDPMC(TARE_MSR_INTEL, 0, 8, 0xc1, 1)
MSR_RDPMC(TARE_MSR_INTEL, 0x40000000, 4, 0x309, 1)
MSR_RDPMC(TARE_MSR_INTEL, 0x20000000, 1, 0x329, 1)
MSR_RDPMC(TARE_MSR_AMD, 0, 6, 0xc0010201, 2)
#endif

#undef MSR_READ_ONLY
#undef MSR_PMU_ROW
#undef MSR_ROW
#undef MSR_RDPMC

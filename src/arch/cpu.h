/* SPDX-License-Identifier: MIT */
/*
 * Identification of the processor, and a loop of known size; one implementation per architecture.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct cpu_description {
	char vendor[16];     /* "GenuineIntel"; "" if user space cannot read it */
	char model[64];      /* the brand string; "" if there is none */
	bool hypervisor;     /* a hypervisor reports its presence */
	char signature[16];  /* its signature from CPUID: "KVMKVMKVM"; "" if none */
	bool counters_known; /* the three fields below are known; on arm64 they are not */
	unsigned programmable, fixed,
		width_bits; /* counters per logical CPU; 0 programmable: no PMU is available */
	unsigned fixed_width_bits;
	/*
	 * Intel: of architectural performance monitoring; AMD: 0 four counters, 1 six, 2 with a
	 * global control
	 */
	unsigned version;
};

/* Costs a few microseconds in a virtual machine: CPUID exits to the hypervisor. */
void cpu_describe(struct cpu_description *out);

/*
 * Retires exactly CPU_LOOP_INSTRUCTIONS user instructions per turn, plus a few before and after.
 * turns > 0.
 */
enum { CPU_LOOP_INSTRUCTIONS = 2 };
void cpu_loop(uint64_t turns);

#endif

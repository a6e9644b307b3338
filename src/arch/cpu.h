/* SPDX-License-Identifier: MIT */
/* What the processor says of itself, and a loop of known size; one implementation per architecture.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct cpu_description {
	char vendor[16];     /* "GenuineIntel"; "" where user space cannot ask */
	char model[64];      /* the brand string; "" where there is none */
	bool hypervisor;     /* a hypervisor says that it is there */
	char signature[16];  /* its signature as CPUID gives it: "KVMKVMKVM"; "" if none */
	bool counters_known; /* the three below were told; user space on arm64 is not told */
	unsigned programmable, fixed,
	    width_bits; /* counters per logical CPU; 0 programmable: no PMU is offered */
	unsigned fixed_width_bits;
	unsigned version; /* Intel: of architectural performance monitoring; AMD: 0 four counters, 1 six, 2 with a
			     global control */
};

/* Costs a few microseconds in a virtual machine: CPUID exits to the hypervisor. */
void cpu_describe(struct cpu_description *out);

/* Retires exactly CPU_LOOP_INSTRUCTIONS user instructions per turn, and a few more around them.
 * turns > 0. */
enum { CPU_LOOP_INSTRUCTIONS = 2 };
void cpu_loop(uint64_t turns);

#endif

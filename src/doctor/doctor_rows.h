/* SPDX-License-Identifier: MIT */
/* Rows that doctor.c walks: hypervisors and containers, and what each wants to hear. Used there
 * only. */
#ifndef DOCTOR_DOCTOR_ROWS_H
#define DOCTOR_DOCTOR_ROWS_H

#include "doctor/doctor.h"

/* How a virtual machine gets a PMU from its hypervisor. */
struct hypervisor {
	const char *signature; /* CPUID leaf 40000000H; NULL: known by `platform` only */
	const char
	    *platform; /* part of the DMI or device tree name, where CPUID does not say; or NULL */
	const char *name;
	struct fix fix[2]; /* .text[0] is 0 where there is none */
};

/* NULL when this is no virtual machine, as far as can be seen. */
const struct hypervisor *hypervisor_of(const struct host *h);

/* How a container is started so that its seccomp filter lets perf_event_open pass. Never NULL. */
struct container {
	const char *kind; /* as in struct host; NULL ends the list and stands for any other */
	struct fix fix[2];
};

const struct container *container_of(const struct host *h);

#endif

/* SPDX-License-Identifier: MIT */
/* Tables for doctor.c: hypervisors and containers, and the advice for each. Used there only. */
#ifndef DOCTOR_DOCTOR_ROWS_H
#define DOCTOR_DOCTOR_ROWS_H

#include "doctor/doctor.h"

/* How a virtual machine gets a PMU from its hypervisor. */
struct hypervisor {
	const char *signature; /* CPUID leaf 40000000H; NULL: known by `platform` only */
	const char
		*platform; /* part of the DMI or device tree name, if CPUID does not say; or NULL */
	const char *name;
	struct fix fix[2]; /* .text[0] is 0 if there is none */
};

/* NULL if no virtual machine is detected. */
const struct hypervisor *hypervisor_of(const struct host *h);

/* How to start a container so that its seccomp filter allows perf_event_open. Never NULL. */
struct container {
	const char *kind; /* as in struct host; NULL ends the list and means any other */
	struct fix fix[2];
};

const struct container *container_of(const struct host *h);

#endif

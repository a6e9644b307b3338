/* SPDX-License-Identifier: MIT */
/*
 * Known faults of CPUs, hypervisors and kernels (data/faults.txt), held against a machine: which of them can be here, which show.
 * Pure: it judges what src/host/host.h found.
 */
#ifndef HOST_FAULTS_H
#define HOST_FAULTS_H

#include "host/host.h"

/* One row of the table that is about this machine. */
struct fault {
	char id[24], check[24], known[12];
	char what[200], why[260], type[224], source[200];
};

enum fault_state {
	FAULT_ABSENT,  /* looked for, and not here */
	FAULT_PRESENT, /* it shows */
	FAULT_UNTRIED, /* it could be here; `detail` says why nobody knows */
};

struct fault_finding {
	struct fault fault;
	enum fault_state state;
	char detail[240]; /* what was seen, or why it was not tried; "" */
};

enum { FAULTS_MOST = 24 };

extern const char *const fault_states[]; /* "absent", ... */

/* The rows of this machine's CPU, hypervisor and so on, judged; how many. The first row of an id holds. */
size_t faults_judge(const struct host *h, struct fault_finding *out, size_t room);

/* For tests: the table's own errors. 0, or the number of the first line that is none of it. */
unsigned faults_check_table(const char *text);

#endif

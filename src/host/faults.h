/* SPDX-License-Identifier: MIT */
/*
 * Known faults of CPUs, hypervisors and kernels (data/faults.txt), matched to a machine: which of
 * them may be present, and which are. No side effects: it evaluates what src/host/host.h found.
 */
#ifndef HOST_FAULTS_H
#define HOST_FAULTS_H

#include "host/host.h"

/* One row of the table that applies to this machine. */
struct fault {
	char id[24], check[24], known[12];
	char what[200], why[260], type[224], source[200];
};

enum fault_state {
	FAULT_ABSENT,  /* tested, and not present */
	FAULT_PRESENT, /* present */
	FAULT_UNTRIED, /* possible; `detail` says why it was not tested */
};

struct fault_finding {
	struct fault fault;
	enum fault_state state;
	char detail[240]; /* the observation, or why it was not tested; "" */
};

enum { FAULTS_MOST = 24 };

extern const char *const fault_states[]; /* "absent", ... */

/*
 * Evaluate the rows for this machine's CPU, hypervisor and so on; returns their number. The first
 * row of an id applies.
 */
size_t faults_judge(const struct host *h, struct fault_finding *out, size_t room);

/* For tests: checks the table's syntax. 0, or the number of the first invalid line. */
unsigned faults_check_table(const char *text);

#endif

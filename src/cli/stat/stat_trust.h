/* SPDX-License-Identifier: MIT */
/* How tare stat uses the verdicts of tare verify: for each event, for --verified-only and
 * --correct. */
#ifndef CLI_STAT_STAT_TRUST_H
#define CLI_STAT_STAT_TRUST_H

#include "verify/overcount.h"
#include "verify/verdicts.h"
#include "verify/trust_view.h"

struct stat_trust {
	struct verdicts all;
	struct trust_view view; /* for the views */
	char machine[224], boot[40];
	struct encoding *
		/* each event as this user can open it: possibly in user mode only, or not at all */
		opened;
	struct fault_finding *fault; /* view.fault; NULL if faults were not checked */
};

/* This machine's verdicts for these events. An unreadable file is reported in view.trouble.
 * -ENOMEM. */
int stat_trust_load(struct stat_trust *t, struct machine *machine, const struct encoding_list *list,
		    struct tare_error *err);
/*
 * --verified-only, before anything starts: -ENODATA, naming the events without a good verdict and
 * the command that verifies them. Events that cannot be counted here pass, because they give no
 * number. Events found dead pass as well: stat_trust_alive() checks their counts.
 */
int stat_trust_check(struct stat_trust *t, const struct encoding_list *list, bool correct,
		     struct tare_error *err);
/* --verified-only, after the runs: -ENODATA, naming the events that counted nothing and were
 * found dead. */
int stat_trust_alive(const struct stat_trust *t, const struct stat_table *table,
		     struct tare_error *err);
/* --correct: after the runs. -ENOMEM. */
int stat_trust_correct(struct stat_trust *t, struct machine *machine,
		       const struct stat_table *table, struct tare_error *err);
void stat_trust_free(struct stat_trust *t);

#endif

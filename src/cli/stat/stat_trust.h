/* SPDX-License-Identifier: MIT */
/* What tare stat makes of the verdicts of tare verify: each event's, --verified-only and --correct. */
#ifndef CLI_STAT_STAT_TRUST_H
#define CLI_STAT_STAT_TRUST_H

#include "verify/corrected.h"
#include "verify/verdicts.h"
#include "verify/trust_view.h"

struct stat_trust {
	struct verdicts all;
	struct trust_view view; /* for the views */
	char machine[224], boot[40];
	struct encoding *opened; /* each event as this user can open it: perhaps in user mode only, perhaps not at all */
	struct fault_finding *fault; /* view.fault; NULL where they were not looked for */
};

/* The verdicts of this machine for these events. A file that cannot be read is told in view.trouble. -ENOMEM. */
int stat_trust_load(struct stat_trust *t, struct machine *machine, const struct encoding_list *list, struct tare_error *err);
/*
 * --verified-only, before anything is started: -ENODATA, naming those without a good verdict and what to type. What cannot be counted here has no number to
 * believe, and passes; so does what was found dead, of which the count itself will tell: stat_trust_alive().
 */
int stat_trust_check(struct stat_trust *t, const struct encoding_list *list, bool correct, struct tare_error *err);
/* --verified-only, after the runs: -ENODATA, naming those that counted nothing and were found dead. */
int stat_trust_alive(const struct stat_trust *t, const struct stat_table *table, struct tare_error *err);
/* --correct: after the runs. -ENOMEM. */
int stat_trust_correct(struct stat_trust *t, struct machine *machine, const struct stat_table *table, struct tare_error *err);
void stat_trust_free(struct stat_trust *t);

#endif

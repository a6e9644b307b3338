/* SPDX-License-Identifier: MIT */
/* What tare stat makes of the verdicts of tare verify: each event's, --verified-only and --correct. */
#ifndef CLI_STAT_TRUST_H
#define CLI_STAT_TRUST_H

#include "analyze/corrected.h"
#include "analyze/verdicts.h"
#include "view/trust_view.h"

struct stat_trust {
	struct verdicts all;
	struct trust_view view; /* for the views */
	char machine[224], boot[40];
	struct fault_finding fault[FAULTS_MOST];
};

/* The verdicts of this machine for these events. A file that cannot be read is told in view.trouble. -ENOMEM. */
int stat_trust_load(struct stat_trust *t, struct machine *machine, const struct encoding_list *list, struct tare_error *err);
/* --verified-only: -ENODATA, naming those without a good verdict and what to type. */
int stat_trust_check(const struct stat_trust *t, const struct encoding_list *list, bool correct, struct tare_error *err);
/* --correct: after the runs. -ENOMEM. */
int stat_trust_correct(struct stat_trust *t, struct machine *machine, const struct stat_table *table, struct tare_error *err);
void stat_trust_free(struct stat_trust *t);

#endif

/* SPDX-License-Identifier: MIT */
/* What `tare stat` would open on another machine, using its sysfs below a root. Runs nothing. */
#ifndef CLI_STAT_STAT_DRY_H
#define CLI_STAT_STAT_DRY_H

#include "pmu/pmu.h"
#include "launch/count_target.h"

int stat_dry(struct text *out, struct machine *m, const struct encoding_list *list,
	     const struct count_target *target, struct tare_error *err);

#endif

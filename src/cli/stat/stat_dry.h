/* SPDX-License-Identifier: MIT */
/* What `tare stat` would open on another machine, whose sysfs lies under a root. Nothing is run. */
#ifndef CLI_STAT_STAT_DRY_H
#define CLI_STAT_STAT_DRY_H

#include "pmu/pmu.h"
#include "launch/where.h"

int stat_dry(struct text *out, struct machine *m, const struct encoding_list *list,
	     const struct where *where, struct tare_error *err);

#endif

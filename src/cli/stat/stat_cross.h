/* SPDX-License-Identifier: MIT */
/* tare stat --engine msr --cross-check: what cmd_stat needs for it. */
#ifndef CLI_STAT_STAT_CROSS_H
#define CLI_STAT_STAT_CROSS_H

#include "stat/cross.h"
#include "cli/stat/stat_options.h"
#include "source/source.h"

/*
 * Doubles the events, and opens and closes each by both engines on the first CPU that is to be counted, so that no command runs
 * where one of them cannot. -EOPNOTSUPP: an event that registers do not count; else what the engine says.
 */
int stat_cross_ready(struct encoding_list *list, const struct cpus *on, struct tare_error *err);
/* The comparison, as text or JSON. Returns 0, 1 (some differ) or a negative errno (an event has no number, and it is said why). */
int stat_cross_show(struct output *to, const struct stat_table *t, const struct stat_options *o, char *const *argv, const struct style *style,
		    struct tare_error *err);

#endif

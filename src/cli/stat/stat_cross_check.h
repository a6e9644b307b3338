/* SPDX-License-Identifier: MIT */
/* tare stat --engine msr --cross-check: functions for cmd_stat. */
#ifndef CLI_STAT_STAT_CROSS_CHECK_H
#define CLI_STAT_STAT_CROSS_CHECK_H

#include "stat/cross_check.h"
#include "cli/stat/stat_options.h"
#include "source/source.h"

/*
 * Duplicates the events, and opens and closes each with both engines on the first CPU to be
 * counted, so that no command runs if one of them cannot. -EOPNOTSUPP: an event that registers do
 * not count; otherwise the engine's error.
 */
int stat_cross_check_ready(struct encoding_list *list, const struct cpus *on,
			   struct tare_error *err);
/* Prints the comparison as text or JSON. Returns 0, 1 (some differ) or a negative errno (an
 * event has no number; the reason is printed). */
int stat_cross_check_show(struct output *to, const struct stat_table *t,
			  const struct stat_options *o, char *const *argv,
			  const struct style *style, struct tare_error *err);

#endif

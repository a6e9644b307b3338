/* SPDX-License-Identifier: MIT */
#ifndef CLI_SAMPLES_REPORT_DIFF_H
#define CLI_SAMPLES_REPORT_DIFF_H

#include "profile/report/report.h"
#include "cli/samples/sample_options.h"

/* tare report --diff BEFORE AFTER. */
struct report_diff_cli {
	const struct sample_options *common;
	const char *before, *after; /* files */
	const char *html;           /* write a page to this path instead; NULL: none */
	unsigned keys;
	bool sort_set, by_total, shares;
	size_t limit; /* 0: all */
	double least_percent;
};

/* -EINVAL for keys that two recordings cannot be compared by. */
int report_diff_check(unsigned keys, struct tare_error *err);
/* *partial: one of them is damaged. */
int report_diff_show(const struct report_diff_cli *o, bool *partial, struct tare_error *err);

#endif

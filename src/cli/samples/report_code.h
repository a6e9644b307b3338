/* SPDX-License-Identifier: MIT */
/* The hottest functions of a recording, instruction by instruction, for the page of tare report. */
#ifndef CLI_SAMPLES_REPORT_CODE_H
#define CLI_SAMPLES_REPORT_CODE_H

#include "cli/samples/sample_options.h"
#include "output/page.h"
#include "profile/report/skid_view.h"

/*
 * Read the recording once more, by address, and add a document tare/annotate/1 for each function
 * with 0.5 % of the event or more: at most 25 functions and 30,000 instructions together. Adds
 * none if `path` cannot be read twice.
 */
int report_code(struct page *page, const char *path, const struct sample_options *o,
		const char *event, const struct skid_known *skid, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* Shows where samples with known causes were taken, as a table and as JSON (tare/verify-skid/1). */
#ifndef VERIFY_VERIFY_SKID_VIEW_H
#define VERIFY_VERIFY_SKID_VIEW_H

#include "verify/skid.h"
#include "base/text.h"
#include "output/style.h"

struct skid_event; /* verify/skid_measure.h */

struct skid_row {
	const char *event;
	const struct skid_event *of;
	unsigned level; /* precise_ip */
	bool hardware, measured;
	char why[160]; /* it was not measured */
	uint64_t samples;
	struct skid_result result;
};

struct skid_report {
	const struct skid_row *row;
	size_t n;
	bool clock; /* the timer was measured: its samples, and the interval between them in ns */
	uint64_t clock_samples, clock_period, clock_median, clock_p99, clock_most;
};

void verify_skid_text(struct text *out, const struct skid_report *r, const struct style *s);
void verify_skid_json(struct text *out, const struct skid_report *r);

#endif

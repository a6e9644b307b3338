/* SPDX-License-Identifier: MIT */
/* Shows a report of samples: for people, as JSON (docs/schema/tare-report-1.json) and as CSV. */
#ifndef PROFILE_REPORT_REPORT_VIEW_H
#define PROFILE_REPORT_REPORT_VIEW_H

#include "profile/report/derived_column.h"
#include "profile/report/report.h"
#include "profile/samples.h"
#include "profile/report/skid_view.h"
#include "output/style.h"

struct report_shown {
	const char *path;
	const struct samples *samples;
	const struct report *report;
	const struct report_options *options;
	struct derived_column *ratio; /* or NULL */
	size_t limit;                 /* rows; 0: all */
	double least_percent;         /* leave out rows with a smaller share */
	/* or NULL: instead of the table, show of this function... */
	const struct report_relatives *relatives;
	const char *function; /* ...these */
	struct skid_known skid;
	const struct skid_shift *shift; /* NULL: not asked for, or no event was sampled both ways */
};

void report_text(struct text *out, const struct report_shown *r, const struct style *s);
void report_document(struct text *out, enum output_format format, const struct report_shown *r);

/* About the recording, and how far its numbers can be trusted; for annotate as well. */
void report_head_text(struct text *out, const struct report_shown *r, const struct style *s);
void report_quality_text(struct text *out, const struct report_shown *r, const struct style *s);

/* A name from a file, shortened to `room` characters (0: whole) and escaped. */
void put_name(struct text *out, const char *name, size_t room);

/* Says that a file was not identified by its build id. */
void report_by_name_text(struct text *out, const struct samples_by_name *file,
			 const struct style *s);

/* Warns of a clock with wrong periods, if there is one. */
/* One line for each process that the exact engine recorded only partly. */
void report_partial_text(struct text *out, const struct samples *of, const char *indent,
			 const struct style *s);
/* One line if the recording was cut short; else nothing. */
void report_broke_off_text(struct text *out, bool broke_off, const struct style *s);
void report_clock_text(struct text *out, const struct samples *of, const struct style *s);

/*
 * Were callers found by frame pointers alone? Then callers of functions without a frame may be
 * missing.
 */
bool report_leaf_callers(const struct report_shown *r);
/* Are the amounts of some functions by samples while others are exact? */
bool report_uncounted(const struct report_shown *r);
/*
 * Is a column a counter that was read at another event's samples and counts the events since the
 * previous sample?
 */
bool report_mixed(const struct report_shown *r, uint32_t column);
/*
 * Does the ratio use counters that were read at another event's samples and count the events since
 * the previous sample?
 */
bool report_ratio_mixed(const struct report_shown *r);

#endif

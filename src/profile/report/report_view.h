/* SPDX-License-Identifier: MIT */
/* A report of samples, shown: for people, as JSON (docs/schema/tare-report-1.json) and as CSV. */
#ifndef PROFILE_REPORT_REPORT_VIEW_H
#define PROFILE_REPORT_REPORT_VIEW_H

#include "profile/report/ratio.h"
#include "profile/report/report.h"
#include "profile/samples.h"
#include "profile/report/skid_view.h"
#include "output/style.h"

struct report_shown {
	const char *path;
	const struct samples *samples;
	const struct report *report;
	const struct report_options *options;
	struct ratio *ratio; /* or NULL */
	size_t limit;	     /* rows; 0: all */
	double least_percent; /* rows of a smaller share are left out */
	const struct report_relatives *relatives; /* or NULL: instead of the table, of... */
	const char *function;			  /* ...these */
	struct skid_known skid;
	const struct skid_shift *shift; /* NULL: not asked for, or no event is there both ways */
};

void report_text(struct text *out, const struct report_shown *r, const struct style *s);
void report_json(struct text *out, const struct report_shown *r);
void report_csv(struct text *out, const struct report_shown *r);

/* What is known of the recording, and how far its numbers can be trusted; for annotate as well. */
void report_head_text(struct text *out, const struct report_shown *r, const struct style *s);
void report_quality_text(struct text *out, const struct report_shown *r, const struct style *s);

/* A name out of a file, cut to `room` characters (0: whole) and made safe to show. */
void put_name(struct text *out, const char *name, size_t room);

/* That a file was not known by its build id. */
void report_by_name_text(struct text *out, const struct samples_by_name *file, const struct style *s);

/* Of a clock whose periods are wrong, where one is. */
/* One line for each process that the exact engine did not record to its end. */
void report_partial_text(struct text *out, const struct samples *of, const char *indent, const struct style *s);
/* One line where its recorder did not come to its end; else nothing. */
void report_broke_off_text(struct text *out, bool broke_off, const struct style *s);
void report_clock_text(struct text *out, const struct samples *of, const struct style *s);

/* Whether callers were followed by frame pointers alone, so that those of functions without a frame may be missing. */
bool report_leaf_callers(const struct report_shown *r);
/* Whether some amounts of functions are by samples, where those of others are exact. */
bool report_uncounted(const struct report_shown *r);
/* Whether a column is of a counter that was read at another event's samples, and counted what happened since the sample before. */
bool report_mixed(const struct report_shown *r, uint32_t column);
/* Whether the ratio is of counters that were read at another event's samples, and counted what happened since the sample before. */
bool report_ratio_mixed(const struct report_shown *r);

#endif

/* SPDX-License-Identifier: MIT */
/* Show a table of counts: as text, in perf stat's two machine-readable formats, as JSON and CSV. */
#ifndef STAT_STAT_VIEW_H
#define STAT_STAT_VIEW_H

#include "count/metrics.h"
#include "profile/profile.h"
#include "launch/determinism.h"
#include "noise/explain_view.h"
#include "output/style.h"
#include "verify/trust_view.h"

struct stat_about {
	char *const *argv;  /* the command, or NULL */
	const char *target; /* in words, when it is not the command: "process 12", "all CPUs" */
	const struct source *engine;
	bool aslr;                       /* of tare itself: address-space randomisation is on */
	const struct determinism *fixed; /* what tare made the same in each run; NULL: nothing */
	size_t environment_bytes; /* with fixed: arguments and environment, filled up to that */
	const char *padding;      /* with fixed: the variable that fills them */
	unsigned batches;         /* --split: how many groups of runs the events were counted in */
	int exit_status;          /* of the command, as tare passes it on; -1: there was none */
	bool clean_times; /* what the exact engine did not count comes from runs without it */
	bool metrics_only;
	bool one_line;     /* JSON: after lines of intervals */
	bool verbose;      /* every footnote, and each reason in its own words */
	bool usual_launch; /* the default launch, which is described only with -v */
	const struct profile_table *profile; /* or NULL */
	size_t profile_limit;                /* number of rows; 0: all */
	const struct explained *explained;   /* or NULL */
	const struct trust_view *trust;      /* or NULL */
};

/* Text output: the complete table at the end. */
/*
 * The runs that a signal ended before the command's first instruction, as a sentence without its
 * full stop. False: none.
 */
bool stat_never_began(struct text *out, const struct stat_table *t);
/* Below the table: what the values mean, and how the runs ended. */
void stat_notes(struct text *out, const struct stat_table *t, const struct stat_about *about,
		const struct style *s);
void stat_text(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
	       const struct stat_about *about, const struct style *s);
/* One interval; `first` adds the heading. */
/* The number of decimals for a metric and its interval. */
unsigned stat_metric_digits(const struct stat_metric *m);
void stat_text_interval(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
			const struct stat_about *about, const struct style *s, bool first);

/*
 * perf stat -x and -j, field for field, so that scripts can be reused: means of the runs and the
 * relative error of the mean. `interval`: preceded by the time. Source: perf-stat(1), "CSV FORMAT"
 * and "JSON FORMAT", and the output of perf 6.1.
 */
void stat_perf_csv(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
		   const char *separator, bool interval);
void stat_perf_json(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
		    bool interval);

/* One document, schema tare/stat/1 (docs/schema/tare-stat-1.json). */
void stat_json(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
	       const struct stat_about *about);
/* One line per interval: the fields of the document on one line (JSON Lines). */
void stat_json_interval(struct text *out, const struct stat_table *t, const struct stat_metrics *m);
/*
 * With a header line; fields are quoted by RFC 4180. `interval` adds the time; `header` writes the
 * first line.
 */
void stat_csv(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
	      bool interval, bool header);

/* The kernel counted it while the exact engine ran: the number includes engine overhead. */
bool stat_with_overhead(const struct stat_row *r);
/*
 * Step through all rows in the common order of all views: rows that include engine overhead come
 * last; otherwise rows keep their order in the table. `step` starts at 0; *row is the row's index
 * in the table. False: no more rows. Reads each row twice.
 *	for (size_t step = 0, i; stat_next_row(t, &step, &i);)
 */
bool stat_next_row(const struct stat_table *t, size_t *step, size_t *row);

/*
 * The typical time of the runs, in ns. On some machines, the kernel accounts user and system time
 * by timer ticks. If no tick hit most runs, the median would be 0 and claim that they took no time,
 * so this is the mean. *mean says which one it is.
 */
uint64_t stat_typical_time(const struct spread *of, bool *mean);

/* The number of runs that each event was counted in: with --split and --clean-times not all. */
unsigned stat_runs_each(const struct stat_table *t, const struct stat_about *about);

/* "counted"; "exact, without 2 processes"; for a process or thread "exact, in part". */
void stat_quality(struct text *out, const struct stat_row *r);

/*
 * "CPU3", "S0-D0-C1", "bash-123", "cc1 #2"; "" for BY_ALL. Not escaped, although a process chooses
 * its name.
 */
void stat_key_name(struct text *out, const struct stat_table *t, const struct stat_row *r);

#endif

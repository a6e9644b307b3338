/* SPDX-License-Identifier: MIT */
/* What counts mean together: rows of formulas, evaluated run by run, each with how far it may be
 * off. */
#ifndef COUNT_METRICS_H
#define COUNT_METRICS_H

#include "count/summary.h"

struct metric_row {
	const char *name;    /* as in JSON and for -M: "ipc" */
	const char *formula; /* clocks are in ns; the first name is the event it is shown beside */
	const char *unit;    /* perf's words where perf has the metric: "insn per cycle" */
	const char *about;   /* one line, for the list of metrics */
	unsigned digits;     /* after the point */
	bool percent;
	bool whole_only; /* not where the kernel's part was left out: it would mislead */
};

extern const struct metric_row metric_rows[]; /* ends with a row without name */
const struct metric_row *metric_find(const char *name);

struct stat_metric {
	const struct metric_row *row; /* a rate: a row of its own, without formula */
	size_t beside;                /* index of the row it is shown at */
	double value, low, high;      /* median of the runs; see struct spread for the interval */
	enum tare_quality quality;    /* the worst of what went in */
	const char *prefix;           /* of a rate's unit: "", "K", "M", "G" (value is in it) */
	char why[200];                /* value is none; only for metrics that were asked for */
};

struct stat_metrics {
	struct stat_metric *metric;
	size_t n;
};

/*
 * All rows of the table that apply, `asked` (ends with NULL; may be NULL) whether they do or not,
 * and events per second of CPU time for what has no metric of its own.
 */
int metrics_of(const struct stat_table *t, const struct metric_row *const *asked,
	       struct stat_metrics *out, struct tare_error *err);
void metrics_free(struct stat_metrics *m);

/* An event's usual name whatever alias was written: "cycles" for cpu-cycles:u. */
const char *metric_event_name(const struct encoding *e, char *room, size_t size);

#endif

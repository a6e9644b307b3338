/* SPDX-License-Identifier: MIT */
/* Metrics: formulas over counts, evaluated run by run, each with its uncertainty. */
#ifndef COUNT_METRICS_H
#define COUNT_METRICS_H

#include "count/summary.h"

struct metric_row {
	const char *name; /* as in JSON and for -M: "ipc" */
	/* clocks are in ns; the metric is shown next to the event of its first name */
	const char *formula;
	const char *unit;  /* perf's words if perf has the metric: "insn per cycle" */
	const char *about; /* one line, for the list of metrics */
	unsigned digits;   /* after the decimal point */
	bool percent;
	bool whole_only; /* omitted if the kernel's part is excluded, because it would mislead */
};

extern const struct metric_row metric_rows[]; /* terminated by a row without a name */
const struct metric_row *metric_find(const char *name);

struct stat_metric {
	const struct metric_row *row; /* for a rate: a private row without a formula */
	size_t beside;                /* index of the row it is shown with */
	double value, low, high;      /* median of the runs; see struct spread for the interval */
	enum tare_quality quality;    /* the lowest quality of the inputs */
	const char *prefix; /* of a rate's unit: "", "K", "M", "G" (already applied to value) */
	char why[200];      /* why there is no value; only for requested metrics */
};

struct stat_metrics {
	struct stat_metric *metric;
	size_t n;
};

/*
 * All rows of the table that apply; those in `asked` (NULL-terminated; may be NULL) in any case;
 * and events per second of CPU time for events without a metric of their own.
 */
int metrics_of(const struct stat_table *t, const struct metric_row *const *asked,
	       struct stat_metrics *out, struct tare_error *err);
void metrics_free(struct stat_metrics *m);

/* An event's canonical name for any alias: "cycles" for cpu-cycles:u. */
const char *metric_event_name(const struct encoding *e, char *room, size_t size);

#endif

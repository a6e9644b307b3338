/* SPDX-License-Identifier: MIT */
/*
 * A table of windows: filled as a sink of a session, or read from a file. Has rows by thread,
 * formulas for each row, and phases of each thread. The last windows of each thread (at most
 * ROWS_HELD) are in memory, the others in a temporary file (file_scratch()), so memory depends only
 * on the number of threads.
 */
#ifndef WINDOWS_WINDOWS_H
#define WINDOWS_WINDOWS_H

#include "count/metrics.h"
#include "windows/phases.h"
#include "windows/window.h"

struct windows;
struct windows_rows;

struct windows_event {
	char name[160];
	double scale;
	char unit[16];
};

struct windows_metric {
	char name[64], unit[32];
	unsigned digits;
	bool percent;
};

enum { ROWS_HELD = 256 };

struct windows_row {
	uint64_t begin, time_ns, wall_ns;
	int cpu;
	bool rest, moved;
	uint64_t value[]; /* per event */
};

struct windows_thread {
	uint64_t number;
	uint32_t pid, tid;
	char comm[64];
	size_t n;     /* number of its rows, in order */
	size_t whole; /* without the rest */
	const struct windows_rows *rows;
	struct phases phases;
};

struct windows_table {
	const struct windows_event *event; /* the first event defines the windows */
	size_t n_events;
	const struct windows_metric *metric;
	size_t n_metrics;
	const struct windows_thread *const *thread; /* threads with rows, by their number */
	size_t n_threads;
	struct windows *windows;
};

/*
 * Add the formulas from the table of metrics that the events suffice for, and those requested (a
 * NULL-terminated list, or NULL): -ENOENT if a requested one needs a missing event.
 */
int windows_new(struct windows **out, const struct encoding_list *events,
		const struct metric_row *const *asked, struct tare_error *err);
struct window_sink *windows_sink(struct windows *w);
/* The final names of the events: a name gains ":u" if the kernel had to be excluded. */
void windows_rename(struct windows *w, const struct encoding_list *events);
/*
 * Call it after all rows. Lives as long as w. NULL: out of memory, or the temporary file is
 * unreadable.
 */
const struct windows_table *windows_table(struct windows *w, struct tare_error *err);
/* Did the sink fail because there was no room for a row? The rows before it are complete. */
bool windows_full(const struct windows *w);
/* 0, or the error of reading rows back from the temporary file: check it after reading. */
int windows_unread(const struct windows_table *t, struct tare_error *err);
void windows_free(struct windows *w);

/* Valid until the next call for this table. Fastest in sequential order. All 0 on a read error. */
const struct windows_row *windows_row(const struct windows_table *t,
				      const struct windows_thread *th, size_t i);
/* NAN if undefined. */
double windows_metric(const struct windows_table *t, const struct windows_row *row, size_t m);
/* Its values are ns. */
bool windows_is_clock(const struct windows_table *t, size_t e);
/* The first event is a clock, so windows are of time. */
bool windows_of_time(const struct windows_table *t);

/*
 * The event of column e in a row per 1000 of the first event, or per millisecond if that is a
 * clock; the first event itself per microsecond of wall time.
 */
double windows_rate(const struct windows_table *t, const struct windows_row *row, size_t e);

#endif

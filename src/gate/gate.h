/* SPDX-License-Identifier: MIT */
/*
 * A performance gate: benchmarks of a configuration, their exact counts, and whether these are more
 * than those of a baseline. Only results measured under the same conditions are compared.
 */
#ifndef GATE_GATE_H
#define GATE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "compare/compare_run.h"
#include "compare/revision.h"

enum {
	GATE_BENCHMARKS_MAX = 1000,
	GATE_RECORDS_MAX = 8192, /* of a baseline: 140 MB */
	GATE_EVENTS_MAX = 128,   /* of a benchmark, including those of its regions or tests */
	GATE_LIMITS_MAX = 64,    /* a benchmark's own, and those of the whole file */
	GATE_NAME_BYTES = 128,
	GATE_EVENT_BYTES = 104,
	GATE_TEXT_BYTES = 512,
	GATE_REMARKS_MAX = 20,
	GATE_REMARK_BYTES = 256,
	GATE_FUNCTIONS_MAX = 4096,
};

/* ---- the configuration ---- */

struct gate_limit {
	char *event; /* NULL: of any event */
	bool usual;  /* of all benchmarks, not of this one */
	bool relative;
	double percent;  /* relative */
	uint64_t amount; /* absolute */
};

struct gate_benchmark {
	char *name, **argv;
	bool bench;       /* argv is a call of tare bench; otherwise a command */
	bool all_regions; /* count each region */
	char **regions;   /* labels to count, up to a NULL; NULL: none, or all */
	char *setup, *directory, *events, *isa; /* NULL: none, the current directory, ... */
	/* The times of the configuration's `events`: compared in pairs of runs, not counted. */
	bool time[COMPARE_TIMES];
	bool only_times; /* nothing is counted */
	bool functions;  /* also count the instructions of each function; not a key of the file */
	char **environment; /* "NAME=value", up to a NULL */
	unsigned runs;
	uint64_t timeout_ns; /* of one run; 0: none */
	struct gate_limit limit[GATE_LIMITS_MAX];
	size_t limits; /* the first one that applies to an event counts */
};

struct gate_config {
	struct gate_benchmark *benchmark;
	size_t n;
	char *build; /* shell command, for --measure-base; NULL: none */
};

/*
 * Untrusted input; `name` is for messages, which also name the JSON path. Free the result in any
 * case.
 */
int gate_config_parse(struct gate_config *out, const char *text, size_t n, const char *name,
		      struct tare_error *err);
void gate_config_free(struct gate_config *c);

/* ---- results ---- */

#define GATE_IN " in " /* between an event and the region or test */

struct gate_value {
	char event[GATE_EVENT_BYTES]; /* or "EVENT in PART": a region, or a test of tare bench */
	uint64_t count;
};

/* A result of a benchmark, or an accepted change, with the counts that were accepted. */
struct gate_record {
	char benchmark[GATE_NAME_BYTES];
	char accept[GATE_TEXT_BYTES]; /* the reason; "": a result */
	/* What must be equal to be comparable: */
	char command[GATE_TEXT_BYTES], tare[32], fixed[GATE_TEXT_BYTES], isa[64];
	/* A hash of the command's PATH and HOME, which can change counts. "": unknown */
	char variables[24];
	struct gate_value value[GATE_EVENTS_MAX];
	size_t n;
	/* of a baseline: the commit with its note, if this is older than the other notes; or "" */
	char older[REVISION_COMMIT_BYTES];
};

struct gate_records {
	struct gate_record *record; /* owned */
	size_t n, room;
};

int gate_records_add(struct gate_records *to, const struct gate_record *r, struct tare_error *err);
/* The last result of that benchmark; one with the conditions of `like`, if there is one. */
const struct gate_record *gate_records_find(const struct gate_records *in,
					    const struct gate_record *like);
bool gate_record_alike(const struct gate_record *a, const struct gate_record *b);
void gate_records_free(struct gate_records *r);
/*
 * Untrusted input: a document of tare gate run --format json, or a note: a record per line, in any
 * order, because git merges notes by line. Adds to *out.
 */
int gate_records_parse(struct gate_records *out, const char *text, size_t n, const char *name,
		       struct tare_error *err);
/*
 * Add the counts of a document of tare summarize: the total of each region that the benchmark
 * lists, sorted by name.
 */
int gate_regions_parse(struct gate_record *out, const struct gate_benchmark *b, const char *text,
		       size_t n, struct tare_error *err);

/* ---- verdicts ---- */

enum gate_verdict {
	GATE_SAME,
	GATE_FASTER,
	GATE_WITHIN, /* more, but within the limit */
	GATE_NEW,    /* not in the baseline */
	GATE_GONE,   /* only in the baseline */
	GATE_ACCEPTED,
	GATE_UNCLEAR, /* of a time: "cannot tell" */
	GATE_SLOWER,
	GATE_UNLIKE, /* refused: measured under other conditions */
	GATE_VARIES, /* the counts do not repeat */
	GATE_FAILED,
};

/* A time of both sides. It is not stored: times of different days cannot be compared. */
struct gate_time {
	bool measured;
	/* the numbers; of the values, only n */
	struct compare_event numbers;
	enum gate_verdict verdict;
	const struct gate_limit *limit; /* NULL: none, the usual threshold */
};

struct gate_function {
	char name[256], module[104];
	uint64_t count; /* instructions */
};

/* From a separate run: the functions with the most instructions; `total` includes all others. */
struct gate_functions {
	uint64_t total;
	size_t n;
	struct gate_function function[GATE_FUNCTIONS_MAX];
};

struct gate_outcome {
	struct gate_record head; /* without events if it could not be measured */
	const struct gate_record *base;
	enum gate_verdict verdict, event[GATE_EVENTS_MAX];
	/* of each event of head; its index in base, or -1 */
	int in_base[GATE_EVENTS_MAX];
	const struct gate_limit *limit[GATE_EVENTS_MAX]; /* NULL: any increase is a regression */
	struct gate_time time[COMPARE_TIMES];
	char why[GATE_TEXT_BYTES], hint[GATE_TEXT_BYTES]; /* "": nothing to say */
	/* by gate_cause(): the function with the largest change, and that of its instructions */
	char function[GATE_TEXT_BYTES];
	int64_t function_change;
	struct gate_functions *functions; /* NULL: not requested, or not known; free() */
	/* items that are not fixed, and why: determinism_remark() */
	char remark[GATE_REMARKS_MAX][GATE_REMARK_BYTES];
	size_t remarks;
};

/* It could not be measured: a verdict that is an error, and no counts. */
void gate_fail(struct gate_outcome *o, enum gate_verdict v, const struct tare_error *err);
/* A count for a message: "1,237,787". */
enum { GATE_COUNT_BYTES = 32 };
const char *gate_count_text(char out[GATE_COUNT_BYTES], uint64_t n);
void gate_remark(struct gate_outcome *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Add the counts of a document of tare bench: the cost of a run of each test, and the conditions.
 * -EAGAIN: the runs of a test differ; the message names it.
 */
int gate_bench_parse(struct gate_outcome *out, const char *text, size_t n, struct tare_error *err);

/*
 * Sets the verdicts of a benchmark that was measured (if it failed, `verdict` is already set).
 * accepted: the changes that were accepted since the baseline.
 */
void gate_judge(struct gate_outcome *o, const struct gate_benchmark *b,
		const struct gate_records *base, const struct gate_records *accepted);
/* Includes the verdicts of the times that were measured. */
void gate_judge_times(struct gate_outcome *o);
bool gate_has_times(const struct gate_benchmark *b);
/* The first limit that applies to an event, and to a time: a percentage. NULL: none. */
const struct gate_limit *gate_limit_of(const struct gate_benchmark *b, const char *event);
const struct gate_limit *gate_time_limit(const struct gate_benchmark *b, enum compare_time t);
/*
 * "instructions" of the configuration is "instructions:u" of the exact engine; "instructions in X"
 * is "instructions:u in X".
 */
bool gate_is_event(const char *configured, const char *event);
/* "slower", "cannot compare", ... */
const char *gate_verdict_word(enum gate_verdict v);
bool gate_verdict_is_error(enum gate_verdict v);

#endif

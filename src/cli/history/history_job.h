/* SPDX-License-Identifier: MIT */
/* The parts that the subcommands of tare history share. */
#ifndef CLI_HISTORY_HISTORY_JOB_H
#define CLI_HISTORY_HISTORY_JOB_H

#include <limits.h>
#include "compare/revision.h"
#include "history/history_view.h"
#include "output/options/output_options.h"

enum { FORMAT_PARQUET = FORMAT_OTHER };

struct history_options {
	struct output_options out;
	const char *db, *benchmark, *commit, *machine, *event;
	const char *older; /* --older-than */
	uint64_t wait_ns, keep;
	bool notes, unreachable, dry;
};

struct history_job {
	const struct history_options *o;
	const struct history_store_kind *kind;
	struct history_store *store;
	struct history_batch batch;
	struct history_list list;
	struct history_values *values;
	size_t n_values;
	struct revision_signals signals;
	char path[PATH_MAX], machine[128];
	struct tare_error *err;
};

int history_open_store(struct history_job *j, enum history_access access);
/* The series that `benchmark` (NULL: all) and --event select; it is an error if there are none. */
int history_read_list(struct history_job *j, const char *benchmark, enum history_detail detail);
/* Of d->p and the value before it; their strings are owned by j->batch. */
int history_read_finding(struct history_job *j, struct history_measured *d);
void history_measured_free(struct history_measured *d, size_t n);
/* On standard output or --output. */
int history_open_document(struct history_job *j, struct document *to);

/* Subcommands; `words` follow their name. */
int history_run_add(struct history_job *j, char **words);
int history_run_import(struct history_job *j, char **words);
int history_run_list(struct history_job *j, char **words);
int history_run_export(struct history_job *j, char **words);
int history_run_plot(struct history_job *j, char **words);
int history_run_prune(struct history_job *j, char **words);
int history_run_show(struct history_job *j, char **words);

#endif

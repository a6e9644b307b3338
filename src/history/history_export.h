/* SPDX-License-Identifier: MIT */
/* All values of a history as a table: a row for each value, in CSV, JSON or Parquet. */
#ifndef HISTORY_HISTORY_EXPORT_H
#define HISTORY_HISTORY_EXPORT_H

#include "history/history.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/out.h"
#include "output/parquet.h"

enum history_export_format { HISTORY_CSV, HISTORY_JSON, HISTORY_PARQUET };

struct history_export {
	enum history_export_format format;
	struct out *to;
	struct json j;
	struct parquet *parquet;
};

/* Errors of writing are kept in `to`. */
int history_export_begin(struct history_export *x, enum history_export_format format,
			 struct out *to, struct tare_error *err);
int history_export_series(struct history_export *x, const struct history_values *v,
			  struct tare_error *err);
/* Also frees its memory. With `complete` false, the output is left incomplete. */
int history_export_end(struct history_export *x, bool complete, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The document tare/history-plot/1 (docs/schema/tare-history-plot-1.json), which the page of tare
 * history plot shows: series in packed columns, and each commit once.
 *
 *	history_plot_begin(&p, out);
 *	history_plot_series(&p, &values, found, n, &err), ...;
 *	history_plot_end(&p, &err);
 */
#ifndef HISTORY_HISTORY_PLOT_H
#define HISTORY_HISTORY_PLOT_H

#include "base/set.h"
#include "base/words.h"
#include "history/history_view.h"
#include "output/json.h"

struct history_plot {
	struct json j;
	struct set commits;
	struct words words;
};

void history_plot_begin(struct history_plot *p, struct out *to);
/* A series, after history_judge(), and the findings of its change points. */
int history_plot_series(struct history_plot *p, const struct history_values *v,
			const struct history_measured *found, size_t n, struct tare_error *err);
/* Also frees its memory; needed after errors, too. Errors of writing are kept in `to`. */
int history_plot_end(struct history_plot *p, struct tare_error *err);

#endif

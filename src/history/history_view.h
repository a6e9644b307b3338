/* SPDX-License-Identifier: MIT */
/* Shows a history: for people, and as JSON (docs/schema/tare-history-1.json, ...-list-1.json). */
#ifndef HISTORY_HISTORY_VIEW_H
#define HISTORY_HISTORY_VIEW_H

#include "history/history_functions.h"
#include "history/history_store.h"
#include "output/style.h"

enum { HISTORY_ROWS = 10 }; /* functions shown in text and on the page */

/* A value of a commit. */
struct history_measured {
	const struct history_values *v;
	const struct history_point *p;
	bool first; /* of its measurement: with the finding */
	/* Of this measurement, and of the one of the value before it in the series. */
	struct history_finding finding, before;
	struct history_rows rows;
};

void history_list_text(struct text *out, const struct history_list *l, const struct style *style);
void history_list_json(struct text *out, const struct history_list *l);
/* Series that history_judge() has seen. */
void history_text(struct text *out, const struct history_values *v, size_t n,
		  const struct style *style);
void history_json(struct text *out, const struct history_values *v, size_t n);
/* Of one commit; docs/schema/tare-history-commit-1.json. */
void history_detail_text(struct text *out, const struct history_measured *d, size_t n,
			 const struct style *style);
void history_detail_json(struct text *out, const struct history_measured *d, size_t n);

#endif

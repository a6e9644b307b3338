/* SPDX-License-Identifier: MIT */
/* Shows a history: for people, and as JSON (docs/schema/tare-history-1.json, ...-list-1.json). */
#ifndef HISTORY_HISTORY_VIEW_H
#define HISTORY_HISTORY_VIEW_H

#include "history/history_store.h"
#include "output/style.h"

void history_list_text(struct text *out, const struct history_list *l, const struct style *style);
void history_list_json(struct text *out, const struct history_list *l);
/* Series that history_judge() has seen. */
void history_text(struct text *out, const struct history_values *v, size_t n,
		  const struct style *style);
void history_json(struct text *out, const struct history_values *v, size_t n);

#endif

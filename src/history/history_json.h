/* SPDX-License-Identifier: MIT */
/* Parts of JSON documents about a history. */
#ifndef HISTORY_HISTORY_JSON_H
#define HISTORY_HISTORY_JSON_H

#include "history/history_functions.h"
#include "output/json.h"

void history_json_number(struct json *j, const char *key, const struct history_number *n);
/* Members of the open object: */
void history_json_series(struct json *j, const struct history_series *s);
void history_json_commit(struct json *j, const struct history_commit *c);
/* At most `most` rows; the others are added up. */
void history_json_finding(struct json *j, const struct history_finding *f,
			  const struct history_rows *rows, size_t most);
/* One object: */
void history_json_group(struct json *j, const struct history_group *g);
void history_json_change(struct json *j, const struct history_values *v,
			 const struct history_point *p);

#endif

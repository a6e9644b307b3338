/* SPDX-License-Identifier: MIT */
/* Shows the values of a tracepoint's fields. */
#ifndef PROFILE_REPORT_TRACED_VIEW_H
#define PROFILE_REPORT_TRACED_VIEW_H

#include "profile/call_tree.h"
#include "output/json.h"

/* "prev_comm="sh" prev_pid=7", as in `tare dump`. */
void traced_text(struct text *out, const struct call_tree *s, uint32_t trace);
/*
 * An object with a member for each value: whole numbers, strings, bytes in hexadecimal; {"missing":
 * WHY} for a missing value. With `column` (n names) exactly these members, null if the trace has no
 * such field.
 */
void traced_json(struct json *j, const char *key, const struct call_tree *s, uint32_t trace,
		 const uint32_t *column, size_t n);
/* The same object without line breaks. */
void traced_line(struct text *out, const struct call_tree *s, uint32_t trace);
/* The value with that name, or NULL. */
const struct call_tree_trace *traced_value(const struct call_tree *s, uint32_t trace,
					   uint32_t name);

#endif

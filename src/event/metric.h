/* SPDX-License-Identifier: MIT */
/*
 * Formulas over counts: "branch-misses / branches * 100". No side effects: the caller supplies the
 * values. A '-' between letters or digits belongs to a name; subtraction has a space on both sides.
 */
#ifndef EVENT_METRIC_H
#define EVENT_METRIC_H

#include <stddef.h>
#include "base/error.h"

struct formula;

/*
 * Numbers, names, + - * /, parentheses, min(a, b), max(a, b), d_ratio(a, b) (0 if b is 0). A name
 * is an event as written (instructions:u, cpu_core@instructions@ for pmu/.../, exact/loads/, \- as
 * in perf's metrics). On failure err->at is the offset. At most 4 KiB of text.
 */
int formula_parse(const char *text, struct formula **out, struct tare_error *err);
void formula_free(struct formula *f);

size_t formula_names(const struct formula *f);
const char *formula_name(const struct formula *f, size_t i); /* each once, in order of appearance */

/*
 * value[i] is the value of formula_name(f, i). 0, or -EDOM if the result is not a finite number (a
 * division by 0).
 */
int formula_eval(const struct formula *f, const double *value, double *out);

#endif

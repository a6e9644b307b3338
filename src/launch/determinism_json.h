/* SPDX-License-Identifier: MIT */
/* The fixed items of a launch, as JSON. */
#ifndef LAUNCH_DETERMINISM_JSON_H
#define LAUNCH_DETERMINISM_JSON_H

#include "launch/determinism.h"
#include "output/json.h"

/*
 * As members "fixed", "fixed_in_part", "not_fixed", "without_rights" and "kept_variables"; NULL:
 * nothing was fixed.
 */
/* determinism_remark(), with names of programs escaped: for a terminal. */
bool determinism_remark_shown(struct text *out, const struct determinism *f, unsigned i);
void determinism_json(struct json *j, const struct determinism *f);
/* As text: one line per remark, without the items fixed in part. */
void determinism_remarks_text(struct text *out, const struct determinism *f);

#endif

/* SPDX-License-Identifier: MIT */
/* The fixed items of a launch, as JSON. */
#ifndef LAUNCH_FIXED_JSON_H
#define LAUNCH_FIXED_JSON_H

#include "launch/fixed.h"
#include "output/json.h"

/*
 * As members "fixed", "fixed_in_part", "not_fixed", "without_rights" and "kept_variables"; NULL:
 * nothing was fixed.
 */
void fixed_json(struct json *j, const struct fixed *f);
/* As text: one line per remark, without the items fixed in part. */
void fixed_remarks_text(struct text *out, const struct fixed *f);

#endif

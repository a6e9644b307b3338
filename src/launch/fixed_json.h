/* SPDX-License-Identifier: MIT */
/* What was fixed in a launch, in JSON. */
#ifndef LAUNCH_FIXED_JSON_H
#define LAUNCH_FIXED_JSON_H

#include "launch/fixed.h"
#include "output/json.h"

/* As members "fixed", "fixed_in_part", "not_fixed", "without_rights" and "kept_variables"; NULL: nothing was. */
void fixed_json(struct json *j, const struct fixed *f);
/* For people, but what is fixed in part: a line for each remark. */
void fixed_remarks_text(struct text *out, const struct fixed *f);

#endif

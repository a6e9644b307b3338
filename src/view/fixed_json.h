/* SPDX-License-Identifier: MIT */
/* What was fixed in a launch, in JSON. */
#ifndef VIEW_FIXED_JSON_H
#define VIEW_FIXED_JSON_H

#include "session/fixed.h"
#include "view/json.h"

/* As members "fixed" and "not_fixed"; NULL: nothing was. */
void fixed_json(struct json *j, const struct fixed *f);

#endif

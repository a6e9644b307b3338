/* SPDX-License-Identifier: MIT */
#include "view/fixed_json.h"

void fixed_json(struct json *j, const struct fixed *f)
{
	json_array(j, "fixed");
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (fixed_had(f) & 1u << i)
			json_string(j, NULL, fixed_rows[i].name);
	json_end(j);
	json_array(j, "not_fixed");
	for (unsigned i = 0; f && i < FIXED_ITEMS; i++)
		if (f->missed & 1u << i) {
			json_object(j, NULL);
			json_string(j, "item", fixed_rows[i].name);
			json_string(j, "reason", f->why[i]);
			json_end(j);
		}
	json_end(j);
}

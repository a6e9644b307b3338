/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include "perfdata/dump/undecoded.h"

static void type_name(char *out, size_t room, uint32_t type)
{
	const char *name = perfdata_type_name(type);

	if (name)
		snprintf(out, room, "%s", name);
	else
		snprintf(out, room, "TYPE_%" PRIu32, type);
}

static void reason(struct text *out, const struct perfdata_undecoded *row)
{
	const char *kind = perfdata_aux_name(row->aux);

	if (row->why && row->bytes)
		text_add(out, "%" PRIu64 " byte%s %s", row->bytes, row->bytes == 1 ? "" : "s",
			 row->why);
	else if (row->why)
		text_add(out, "%s", row->why);
	else if (kind)
		text_add(out, "%" PRIu64 " byte%s of %s data", row->bytes,
			 row->bytes == 1 ? "" : "s", kind);
	else
		text_add(out, "%" PRIu64 " byte%s of AUX data of kind %" PRIu32, row->bytes,
			 row->bytes == 1 ? "" : "s", row->aux);
}

void undecoded_text(struct text *out, const struct perfdata *r,
		    const struct perfdata_undecoded *row)
{
	char type[32];

	type_name(type, sizeof(type), row->type);
	text_add(out, "%" PRIu64 " %s record%s not decoded, ", row->records, type,
		 row->records == 1 ? " was" : "s were");
	text_add(out, row->records == 1 ? "at " : "the first at ");
	if (perfdata_file(r)->directory && row->file)
		text_add(out, "data.%u, ", row->file - 1);
	text_add(out, "byte %" PRIu64 ": ", row->offset);
	reason(out, row);
}

void undecoded_json(struct json *j, const struct perfdata *r, bool spe_unread)
{
	struct perfdata_undecoded row[PERFDATA_UNDECODED_MAX];
	size_t n = perfdata_undecoded(r, spe_unread, row, PERFDATA_UNDECODED_MAX);

	json_array(j, "undecoded_records");
	for (size_t i = 0; i < n; i++) {
		struct text why = { 0 };
		char type[32];

		type_name(type, sizeof(type), row[i].type);
		reason(&why, &row[i]);
		json_object(j, NULL);
		json_string(j, "type", type);
		json_uint(j, "records", row[i].records);
		json_uint(j, "first_file", row[i].file);
		json_uint(j, "first_offset", row[i].offset);
		json_string(j, "reason", why.s);
		json_end(j);
		text_free(&why);
	}
	json_end(j);
}

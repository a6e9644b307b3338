/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "perfdata/perfdata_precise.h"
#include "perfdata/perfdata_private.h"

static const char *const aux_names[] = {
	[1] = "Intel PT",          [2] = "Intel BTS",
	[3] = "Arm CoreSight ETM", [PD_AUXTRACE_ARM_SPE] = "Arm SPE",
	[5] = "s390 CPU-MF",       [6] = "HiSilicon PTT",
	[7] = "PowerPC VPA DTL",
};

const char *perfdata_aux_name(uint32_t kind)
{
	return kind < sizeof(aux_names) / sizeof(aux_names[0]) ? aux_names[kind] : NULL;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void add_undecoded(struct perfdata *r, const struct perfdata_record *rec, uint32_t aux,
			  const char *why, uint64_t bytes)
{
	struct perfdata_undecoded *row = r->undecoded, *end = row + r->n_undecoded;

	while (row < end && !(row->type == rec->type && row->aux == aux && same(row->why, why)))
		row++;
	if (row == end && r->n_undecoded == PERFDATA_UNDECODED_MAX)
		row--;
	else if (row == end)
		r->undecoded[r->n_undecoded++] = (struct perfdata_undecoded){
			.type = rec->type,
			.aux = aux,
			.why = why,
			.offset = rec->offset,
			.file = rec->file,
		};
	row->records++;
	row->bytes += bytes;
}

void perfdata_add_undecoded(struct perfdata *r, const struct perfdata_record *rec, const char *why,
			    uint64_t bytes)
{
	add_undecoded(r, rec, 0, why, bytes);
}

void undecoded_note(struct perfdata *r, const struct perfdata_record *rec)
{
	if (rec->bad)
		add_undecoded(r, rec, 0, rec->bad, 0);
	else if (rec->type == PD_RECORD_SAMPLE && !rec->event)
		add_undecoded(r, rec, 0, "its event is unknown", 0);
	else if (!perfdata_type_name(rec->type))
		add_undecoded(r, rec, 0, "its type is unknown", 0);
	else if (rec->type == PD_RECORD_AUXTRACE_INFO)
		r->aux_kind = rec->auxtrace_info.type;
	else if (rec->type == PD_RECORD_AUXTRACE && rec->auxtrace.size)
		add_undecoded(r, rec, r->aux_kind, NULL, rec->auxtrace.size);
	else if (rec->type == PD_RECORD_SAMPLE && rec->has & PD_SAMPLE_AUX && rec->sample.aux_size)
		add_undecoded(r, rec, r->aux_kind, NULL, rec->sample.aux_size);
}

size_t perfdata_undecoded(const struct perfdata *r, bool spe_unread, struct perfdata_undecoded *out,
			  size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_undecoded && n < room; i++)
		if (spe_unread || r->undecoded[i].why || r->undecoded[i].aux != PD_AUXTRACE_ARM_SPE)
			out[n++] = r->undecoded[i];
	return n;
}

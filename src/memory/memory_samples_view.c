/* SPDX-License-Identifier: MIT */
/* Remarks about the accesses of a recording, common to all views. */
#include <stddef.h>
#include <string.h>
#include "base/error.h"
#include "perfdata/perfdata_features.h"
#include "output/escape.h"
#include "memory/memory_view.h"

enum { REASONS_MOST = 3 };

static void put_escaped(struct text *out, const char *s)
{
	escape(out, s, strlen(s));
}

void memory_samples_head_text(struct text *out, const char *path, const struct memory_samples *c)
{
	const struct perfdata_features *f = perfdata_features(c->file);

	put_escaped(out, path);
	if (f->version)
		text_add(out, ", by "), put_escaped(out, f->version);
	if (f->hostname)
		text_add(out, ", on "), put_escaped(out, f->hostname);
	if (f->cpu_desc && *f->cpu_desc)
		text_add(out, " ("), put_escaped(out, f->cpu_desc), text_add(out, ")");
	text_add(out, "\n");
	for (size_t i = 0; i < c->n_notes; i++) {
		text_add(out, "  ");
		put_escaped(out, c->note[i]);
		text_add(out, "\n");
	}
}

static const struct {
	const char *key, *one, *many;
	size_t at; /* offset in struct tare_access_loss */
} losses[] = {
	{ "lost", "sample was lost because the recorder was too slow",
	  "samples were lost because the recorder was too slow",
	  offsetof(struct tare_access_loss, lost) },
	{ "truncated", "block of hardware trace data has a gap or is truncated",
	  "blocks of hardware trace data have a gap or are truncated",
	  offsetof(struct tare_access_loss, truncated) },
	{ "collided", "block lacks samples that the hardware dropped because two collided",
	  "blocks lack samples that the hardware dropped because two collided",
	  offsetof(struct tare_access_loss, collided) },
	{ "damaged", "byte of hardware trace data is in no complete record",
	  "bytes of hardware trace data are in no complete record",
	  offsetof(struct tare_access_loss, damaged) },
	{ "missing",
	  "byte of hardware trace data is not in the file, although the kernel announced it",
	  "bytes of hardware trace data are not in the file, although the kernel announced them",
	  offsetof(struct tare_access_loss, missing) },
	{ "unreadable", "sample has no hardware registers", "samples have no hardware registers",
	  offsetof(struct tare_access_loss, unreadable) },
	{ "unknown_sources",
	  "access has an unknown data source: its cache or memory level is inferred from its events only",
	  "accesses have unknown data sources: their cache or memory level is inferred from their events only",
	  offsetof(struct tare_access_loss, unknown_sources) },
	{ "without_pc", "hardware record has no instruction address and is left out",
	  "hardware records have no instruction address and are left out",
	  offsetof(struct tare_access_loss, without_pc) },
	{ "no_access", "sample has no access: no data source was recorded",
	  "samples have no access: no data source was recorded",
	  offsetof(struct tare_access_loss, other) },
};

static uint64_t loss_of(const struct memory_samples *c, size_t i)
{
	uint64_t n;

	memcpy(&n, (const char *)&c->loss + losses[i].at, sizeof(n));
	return n;
}

static void remark_recorder(struct remarks *r, const struct memory_samples *c,
			    const struct style *style)
{
	struct text *t;

	if (!c->recorders && !c->clocks)
		return;
	t = remarks_add(r, INK_PLAIN);
	put_count(t, style, c->recorders);
	text_add(t, c->recorders == 1 ? " access" : " accesses");
	text_add(t, " of the allocation recorder (libtare-alloc.so) left out");
	if (!c->clocks)
		return;
	text_add(t, "; included: ");
	put_count(t, style, c->clocks);
	text_add(
		t,
		" in the vDSO, where the recorder reads the clock for each block, but the program may, too");
}

void memory_samples_remarks(struct remarks *r, const struct memory_samples *c,
			    const struct style *style)
{
	struct text *t;

	if (c->damage[0]) {
		t = remarks_add(r, INK_BAD);
		text_add(t, "partial: ");
		put_escaped(t, c->damage);
		text_add(t, "; only the part before that is shown");
	}
	if (c->loss.broke_off)
		text_add(remarks_add(r, INK_CAREFUL), PERFDATA_BROKE_OFF);
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		uint64_t n = loss_of(c, i);

		if (!n)
			continue;
		t = remarks_add(r, INK_CAREFUL);
		put_count(t, style, n);
		text_add(t, " %s", n == 1 ? losses[i].one : losses[i].many);
	}
	if (c->throttled) {
		t = remarks_add(r, INK_CAREFUL);
		put_count(t, style, c->throttled);
		text_add(t, " time%s the kernel throttled an event; shares are wrong there",
			 c->throttled == 1 ? "" : "s");
	}
	if (c->loss.unknown_cpu)
		text_add(
			remarks_add(r, INK_PLAIN),
			"The data sources of this core are unknown: the cache or memory level is inferred from events only.");
	remark_recorder(r, c, style);
}

const char *memory_samples_addressless(unsigned origins)
{
	return origins == 1u << TARE_FROM_EXACT
		? " (the exact engine gives no address for gathers, scatters, enter and masked accesses: vmaskmov, vpmaskmov, "
		  "maskmovdqu, AVX-512 under k1 to k7)"
		: "";
}

void memory_samples_unnamed_text(struct text *out, const struct memory_samples *c, uint64_t all,
				 const struct style *s)
{
	for (size_t i = 0; i < c->n_unnamed && i < REASONS_MOST; i++) {
		const struct samples_unnamed *u = &c->unnamed[i];

		text_add(out, " no names for ");
		put_count(out, s, u->samples);
		text_add(out, u->samples == 1 ? " sample (" : " samples (");
		put_percent(out, 100.0 * (double)u->samples / (double)(all ? all : 1));
		text_add(out, ") in ");
		put_escaped(out, u->module);
		text_add(out, ": ");
		put_escaped(out, u->why);
		text_add(out, "\n");
		if (u->remedy[0])
			text_add(out, "   %s\n", u->remedy);
	}
}

void memory_samples_quality_json(struct json *j, const struct memory_samples *c,
				 const struct remarks *remarks)
{
	json_array(j, "notes");
	for (size_t i = 0; i < c->n_notes; i++)
		json_string(j, NULL, c->note[i]);
	json_end(j);
	remarks_json(j, remarks);
	json_uint(j, "recorder_left_out", c->recorders);
	json_uint(j, "recorder_or_program_clock", c->clocks);
	json_object(j, "losses");
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		json_uint(j, losses[i].key, loss_of(c, i));
	json_uint(j, "throttled", c->throttled);
	json_bool(j, "unknown_cpu", c->loss.unknown_cpu);
	json_bool(j, "broke_off", c->loss.broke_off);
	json_string(j, "damage", c->damage[0] ? c->damage : NULL);
	json_end(j);
	json_array(j, "unnamed");
	for (size_t i = 0; i < c->n_unnamed; i++) {
		json_object(j, NULL);
		json_string(j, "module", c->unnamed[i].module);
		json_uint(j, "samples", c->unnamed[i].samples);
		json_string(j, "why", c->unnamed[i].why);
		json_string(j, "remedy", c->unnamed[i].remedy);
		json_end(j);
	}
	json_end(j);
}

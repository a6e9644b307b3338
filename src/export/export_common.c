/* SPDX-License-Identifier: MIT */
/* Shared by all exporters: the selected counter, names, small numbers for labels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/counter_named.h"
#include "base/text.h"
#include "export/export_private.h"

bool export_name_fits(const char *name)
{
	return strnlen(name, EXPORT_NAME_MAX + 1) <= EXPORT_NAME_MAX;
}

const char *export_shorten(const char *name, char *room)
{
	size_t at = EXPORT_NAME_MAX;

	if (export_name_fits(name))
		return name;
	while (at && (name[at] & 0xc0) == 0x80)
		at--; /* do not split a UTF-8 character */
	memcpy(room, name, at);
	strcpy(room + at, "...");
	return room;
}

const struct timeline_label *export_label(const struct export *x, uint32_t index)
{
	return x->of->label(x->of->with, index);
}

const char *export_thread_name(const struct timeline_thread *t, char room[EXPORT_THREAD_ROOM])
{
	if (t->name && *t->name)
		return t->name;
	snprintf(room, EXPORT_THREAD_ROOM, "thread %llu", (unsigned long long)t->tid);
	return room;
}

uint32_t export_program(const struct export *x)
{
	return (uint32_t)(x->of->info->n_labels + x->of->info->n_threads);
}

bool export_is_time(const struct export_source *of)
{
	return of->info->n_counters && !strcmp(of->info->counter[of->counter].unit, "ns");
}

const char *export_program_of(const char *command, char *room, size_t size)
{
	size_t n, from = 0;

	if (!command || !*command)
		return "program";
	n = strcspn(command, " ");
	for (size_t i = 0; i + 1 < n; i++)
		if (command[i] == '/')
			from = i + 1;
	snprintf(room, size, "%.*s", (int)(n - from), command + from);
	return *room ? room : "program";
}

static const char *name_of(const void *info, size_t i)
{
	return ((const struct timeline_info *)info)->counter[i].name;
}

int export_counter_of(const struct timeline_info *info, const char *name, struct tare_error *err)
{
	if (info->n_counters == 0) {
		tare_fail(err, EINVAL,
			  "%.200s has no counter: its regions have no position on an axis",
			  info->path);
		tare_hint(
			err,
			"'tare summarize --format csv' has its labels with their counts; 'tare regions -e wall-time' records a clock");
		return -EINVAL;
	}
	if (!name)
		return info->time >= 0 ? info->time : 0;

	char who[160];
	size_t at;

	snprintf(who, sizeof(who), "%.150s has", info->path);
	return counter_named(&at, name, info, info->n_counters, name_of, who, err) < 0 ? -EINVAL
										       : (int)at;
}

/* ---- numbers for labels ---- */

uint32_t export_id(struct export_ids *ids, uint32_t label, bool *fresh)
{
	*fresh = false;
	if (label >= ids->room) {
		size_t room = ids->room;

		if (!array_reserve(&ids->id, &room, label + 1ull, sizeof(*ids->id)) ||
		    !array_reserve_zeroed(&ids->round, &ids->room, room, sizeof(*ids->round))) {
			ids->failed = true;
			return 0;
		}
	}
	if (ids->round[label] != ids->now + 1) {
		*fresh = true;
		ids->round[label] = ids->now + 1;
		ids->id[label] = ids->n++;
	}
	return ids->id[label];
}

bool export_ids_has(const struct export_ids *ids, uint32_t label)
{
	return label < ids->room && ids->round[label] == ids->now + 1;
}

void export_ids_clear(struct export_ids *ids)
{
	ids->now++;
	ids->n = 0;
}

void export_ids_free(struct export_ids *ids)
{
	free(ids->id);
	free(ids->round);
}

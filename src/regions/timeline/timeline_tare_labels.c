/* SPDX-License-Identifier: MIT */
/* The labels of a recording, of all its processes, without duplicates. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/array.h"
#include "regions/timeline/timeline_tare.h"

void tare_labels_free(struct tare_labels *l)
{
	arena_free(&l->arena);
	free(l->label);
	free(l->args);
	free(l->hash);
	free(l->slot);
	memset(l, 0, sizeof(*l));
}

void tare_labels_settle(struct tare_labels *l)
{
	free(l->hash);
	free(l->slot);
	free(l->args);
	l->args = NULL;
	l->args_room = 0;
	l->hash = NULL;
	l->slot = NULL;
	l->slots = 0;
}

static uint64_t mix(uint64_t h, const char *s)
{
	h = (h ^ format_sum(s, strlen(s))) * SUM_FACTOR;
	return h ^ h >> 32; /* the low bits of a product depend only on low bits */
}

static bool same_args(const char *const *a, const char *const *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!a[i] || strcmp(a[i], b[i]))
			return false;
	return !a[n];
}

/*
 * The slot of a label, or the free slot for it. file NULL: any file and line match, to find the
 * group.
 */
static uint32_t *find(struct tare_labels *l, uint64_t hash, const char *name, const char *file,
		      uint32_t line, uint8_t record_path, const char *const *args, size_t n_args)
{
	size_t i = hash & (l->slots - 1);

	for (; l->slot[i]; i = (i + 1) & (l->slots - 1)) {
		const struct timeline_label *x = &l->label[l->slot[i] - 1];

		if (l->hash[l->slot[i] - 1] != hash || strcmp(x->name, name) ||
		    !same_args(x->arg, args, n_args))
			continue;
		if (x->line == line && x->record_path == record_path &&
		    !strcmp(x->file ? x->file : "", file))
			break;
	}
	return &l->slot[i];
}

/* Room for two more. */
static int grow(struct tare_labels *l)
{
	size_t room = l->room, slots = l->slots ? 2 * l->slots : 128;
	uint32_t *slot;

	if (!array_reserve(&l->label, &room, l->n + 2, sizeof(*l->label)) ||
	    !array_reserve(&l->hash, &l->room, room, sizeof(*l->hash)))
		return -ENOMEM;
	if (2 * (l->n + 2) <= l->slots)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++) {
		size_t at = l->hash[i] & (slots - 1);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	free(l->slot);
	l->slot = slot;
	l->slots = slots;
	return 0;
}

static const char *const no_args[1] = { NULL };

/* The label without arguments that represents a name: the first one, in any source file. */
static uint32_t group_of(struct tare_labels *l, uint64_t hash, const char *name)
{
	for (size_t i = hash & (l->slots - 1); l->slot[i]; i = (i + 1) & (l->slots - 1)) {
		const struct timeline_label *x = &l->label[l->slot[i] - 1];

		if (l->hash[l->slot[i] - 1] == hash && !x->arg[0] && !strcmp(x->name, name))
			return x->group;
	}
	return NO_LABEL;
}

const char **tare_labels_args(struct tare_labels *l, size_t n)
{
	if (!array_reserve(&l->args, &l->args_room, n + 1, sizeof(*l->args)))
		return NULL;
	l->args[n] = NULL;
	return l->args;
}

static const char *kept(struct tare_labels *l, const char *s)
{
	return arena_string(&l->arena, s, strlen(s));
}

/* Copy the texts, which are about to be freed; reuse those of the group, and the last file name. */
static bool keep(struct tare_labels *l, struct timeline_label *x, size_t n_args)
{
	const char **args = n_args ? arena_alloc(&l->arena, (n_args + 1) * sizeof(*args)) : NULL;

	if (n_args && !args)
		return false;
	for (size_t i = 0; i < n_args; i++)
		if (!(args[i] = kept(l, x->arg[i])))
			return false;
	if (n_args)
		x->arg = args;
	x->name = x->group < l->n ? l->label[x->group].name : kept(l, x->name);
	if (x->file && (!l->file || strcmp(l->file, x->file)) && !(l->file = kept(l, x->file)))
		return false;
	x->file = x->file ? l->file : NULL;
	return x->name;
}

int tare_labels_add(struct tare_labels *l, const char *name, const char *file, uint32_t line,
		    uint8_t record_path, const char **args, size_t n_args, uint32_t *index)
{
	struct timeline_label made;
	/*
	 * Labels with the same name and no arguments have the same hash, which is used to find the
	 * group.
	 */
	uint64_t hash = mix(1, name);
	uint32_t *slot, group, first;
	int ret;

	for (size_t i = 0; i < n_args; i++)
		hash = mix(hash, args[i]);
	if (n_args)
		hash = mix(hash + line, file);
	ret = grow(l);
	if (ret < 0)
		return ret;
	slot = find(l, hash, name, file, line, record_path, args ? args : (const char **)no_args,
		    n_args);
	if (*slot) {
		*index = *slot - 1;
		return 0;
	}
	first = (uint32_t)l->n;
	group = group_of(l, mix(1, name), name);
	if (group == NO_LABEL && n_args) {
		/* There is no label without arguments. */
		ret = tare_labels_add(l, name, "", 0, record_path, NULL, 0, &group);
		if (ret < 0)
			return ret;
		first = (uint32_t)l->n;
		slot = find(l, hash, name, file, line, record_path, args, n_args);
	} else if (group == NO_LABEL) {
		group = first;
	}
	made = (struct timeline_label){ .name = name,
					.kind = "",
					.arg = n_args ? args : no_args,
					.group = group,
					.file = *file ? file : NULL,
					.line = line,
					.record_path = record_path };
	if (!keep(l, &made, n_args))
		return -ENOMEM;
	l->label[first] = made;
	l->hash[first] = hash;
	*slot = first + 1;
	l->n++;
	*index = first;
	return 0;
}

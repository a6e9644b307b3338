/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "analyze/labels.h"
#include "event/arena.h"

static const char *const no_arguments[] = { NULL };

static uint64_t more(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull; /* FNV-1a */
	return (h ^ 0x1ff) * 0x100000001b3ull;
}

static uint64_t hash(const char *name, const char *kind, const char *const *arg)
{
	uint64_t h = more(more(0xcbf29ce484222325ull, name), kind);

	for (; *arg; arg++)
		h = more(h, *arg);
	return h ^ h >> 32;
}

static bool same(const struct labels_entry *e, const char *name, const char *kind, const char *const *arg)
{
	size_t i = 0;

	if (strcmp(e->name, name) || strcmp(e->kind, kind))
		return false;
	for (; arg[i] && e->arg[i]; i++)
		if (strcmp(arg[i], e->arg[i]))
			return false;
	return !arg[i] && !e->arg[i];
}

static bool grow_slots(struct labels *l)
{
	uint32_t slots = l->slots ? 2 * l->slots : 128, *slot;

	while (slots <= 2 * l->n)
		slots *= 2;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return false;
	for (uint32_t i = 0; i < l->n; i++) {
		const struct labels_entry *e = &l->entry[i];
		uint32_t at = (uint32_t)hash(e->name, e->kind, e->arg) & (slots - 1);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	free(l->slot);
	l->slot = slot;
	l->slots = slots;
	return true;
}

uint32_t labels_number(struct labels *l, const char *name, const char *kind, const char *const *arg)
{
	struct labels_entry made;
	const char **copy;
	size_t n = 0;
	uint32_t at;

	arg = arg ? arg : no_arguments;
	if (2 * l->n >= l->slots && !grow_slots(l))
		return LABELS_NONE;
	for (at = (uint32_t)hash(name, kind, arg) & (l->slots - 1); l->slot[at]; at = (at + 1) & (l->slots - 1))
		if (same(&l->entry[l->slot[at] - 1], name, kind, arg))
			return l->slot[at] - 1;
	if (l->n == l->room) {
		uint32_t room = l->room ? 2 * l->room : 64;
		void *grown = realloc(l->entry, room * sizeof(*l->entry));

		if (!grown)
			return LABELS_NONE;
		l->entry = grown;
		l->room = room;
	}
	while (arg[n])
		n++;
	copy = n ? arena_alloc(&l->arena, (n + 1) * sizeof(*copy)) : NULL;
	if (n && !copy)
		return LABELS_NONE;
	for (size_t i = 0; i < n; i++)
		if (!(copy[i] = arena_string(&l->arena, arg[i], strlen(arg[i]))))
			return LABELS_NONE;
	made.name = arena_string(&l->arena, name, strlen(name));
	made.kind = *kind ? arena_string(&l->arena, kind, strlen(kind)) : "";
	made.arg = copy ? copy : (const char **)no_arguments;
	if (!made.name || !made.kind)
		return LABELS_NONE;
	l->entry[l->n] = made;
	l->slot[at] = ++l->n;
	return l->n - 1;
}

uint32_t *labels_of(struct labels *l, struct timeline *t, bool with_arguments, struct tare_error *err)
{
	size_t n = timeline_info(t)->n_labels;
	uint32_t *number = malloc((n + 1) * sizeof(*number));

	for (size_t i = 0; number && i < n; i++) {
		const struct timeline_label *label = timeline_label(t, (uint32_t)i);

		number[i] = labels_number(l, label->name, label->kind, with_arguments ? label->arg : NULL);
		if (number[i] == LABELS_NONE) {
			free(number);
			number = NULL;
		}
	}
	if (!number)
		tare_fail_nomem(err);
	return number;
}

void labels_settle(struct labels *l)
{
	free(l->slot);
	l->slot = NULL;
	l->slots = 0;
}

uint64_t labels_key(const struct labels *l, uint32_t number)
{
	const struct labels_entry *e = &l->entry[number];

	return hash(e->name, e->kind, e->arg);
}

void labels_free(struct labels *l)
{
	free(l->entry);
	free(l->slot);
	arena_free(&l->arena);
	*l = (struct labels){ 0 };
}

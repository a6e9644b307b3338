/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/labels.h"
#include "base/arena.h"

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

/* The slot of a text, for any kind. */
static uint32_t first_slot(const struct labels *l, const struct labels_entry *e)
{
	return (uint32_t)hash(e->name, "", e->arg) & (l->slots - 1);
}

/* Equal except for the kind. */
static bool same(const struct labels_entry *e, const char *name, const char *const *arg)
{
	size_t i = 0;

	if (strcmp(e->name, name))
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
	l->slots = slots;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t at = first_slot(l, &l->entry[i]);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	free(l->slot);
	l->slot = slot;
	return true;
}

static bool grow_entries(struct labels *l)
{
	return array_reserve(&l->entry, &l->room, l->n + 1ull, sizeof(*l->entry)) &&
		array_reserve_zeroed(&l->repeats, &l->repeats_room, l->n / 8 + 1ull, 1);
}

static bool copy_texts(struct labels *l, struct labels_entry *e)
{
	const char **copy;
	size_t n = 0;

	while (e->arg[n])
		n++;
	copy = n ? arena_alloc(&l->arena, (n + 1) * sizeof(*copy)) : NULL;
	if (n && !copy)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!(copy[i] = arena_string(&l->arena, e->arg[i], strlen(e->arg[i]))))
			return false;
	e->name = arena_string(&l->arena, e->name, strlen(e->name));
	e->kind = *e->kind ? arena_string(&l->arena, e->kind, strlen(e->kind)) : "";
	e->arg = copy ? copy : (const char **)no_arguments;
	return e->name && e->kind;
}

bool labels_is_usual(const char *kind)
{
	static const char *const usual[] = { "", "Query", "GenericActivity", TIMELINE_NAMELESS };

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (!strcmp(kind, usual[i]))
			return true;
	return false;
}

static void mark(struct labels *l, uint32_t number)
{
	l->repeats[number / 8] |= (uint8_t)(1u << number % 8);
}

bool labels_repeats(const struct labels *l, uint32_t number)
{
	return l->repeats[number / 8] >> number % 8 & 1;
}

static uint32_t number_of(struct labels *l, const char *name, const char *kind,
			  const char *const *arg, bool texts_stay)
{
	struct labels_entry made, *there;
	bool repeats = false;
	uint32_t at;

	arg = arg ? arg : no_arguments;
	made = (struct labels_entry){ name, kind, arg };
	if (2 * l->n >= l->slots && !grow_slots(l))
		return LABELS_NONE;
	for (at = first_slot(l, &made); l->slot[at]; at = (at + 1) & (l->slots - 1)) {
		there = &l->entry[l->slot[at] - 1];
		if (!same(there, name, arg))
			continue;
		if (!strcmp(there->kind, kind))
			return l->slot[at] - 1;
		if (labels_is_usual(there->kind) && labels_is_usual(kind)) {
			mark(l, l->slot[at] - 1);
			repeats = true;
		}
	}
	if (!grow_entries(l) || (!texts_stay && !copy_texts(l, &made)))
		return LABELS_NONE;
	if (repeats)
		mark(l, l->n);
	l->entry[l->n] = made;
	l->slot[at] = ++l->n;
	return l->n - 1;
}

uint32_t labels_number(struct labels *l, const char *name, const char *kind, const char *const *arg)
{
	return number_of(l, name, kind, arg, false);
}

/* Use the texts in place: copies of a million names need too much memory. */
static bool take_texts(struct labels *l, struct timeline *t)
{
	if (!array_one_more(&l->taken, l->n_taken, sizeof(*l->taken)))
		return false;
	l->taken[l->n_taken] = timeline_take_texts(t);
	return l->taken[l->n_taken] && ++l->n_taken;
}

uint32_t *labels_of(struct labels *l, struct timeline *t, bool with_arguments,
		    struct tare_error *err)
{
	size_t n = timeline_info(t)->n_labels;
	uint32_t *number = malloc((n + 1) * sizeof(*number));
	bool taken = take_texts(l, t);

	for (size_t i = 0; number && i < n; i++) {
		const struct timeline_label *label = timeline_label(t, (uint32_t)i);

		number[i] = number_of(l, label->name, label->kind,
				      with_arguments ? label->arg : NULL, taken);
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
	free(l->repeats);
	free(l->slot);
	arena_free(&l->arena);
	for (size_t i = 0; i < l->n_taken; i++)
		arena_free(&l->taken[i]);
	free(l->taken);
	*l = (struct labels){ 0 };
}

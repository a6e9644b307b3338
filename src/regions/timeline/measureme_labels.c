/* SPDX-License-Identifier: MIT */
/*
 * The label of an event: its kind ("Query") and an event id. The id's text is a name and arguments,
 * each argument after a byte 1E. A text may be in the file several times with several ids; here it
 * is one label.
 *
 * Source: measureme 12.0.3, event_id.rs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/array.h"
#include "regions/timeline/measureme_labels.h"

enum { SEPARATOR = 0x1e };

struct mm_pair {
	uint32_t kind, id, label_1; /* + 1; 0: free */
};

int mm_labels_open(struct mm_labels *l, struct mm_pages *pages, struct tare_error *err)
{
	*l = (struct mm_labels){ 0 };
	return mm_strings_open(&l->strings, pages, err);
}

void mm_labels_free(struct mm_labels *l)
{
	mm_strings_free(&l->strings);
	arena_free(&l->arena);
	free(l->label);
	free(l->by_text);
	free(l->pair);
	*l = (struct mm_labels){ 0 };
}

static uint64_t hash_more(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull; /* FNV-1a */
	return (h ^ 0x1ff) * 0x100000001b3ull;
}

static uint64_t hash_of(const struct timeline_label *l)
{
	uint64_t h = hash_more(hash_more(0xcbf29ce484222325ull, l->kind), l->name);

	for (const char *const *a = l->arg; *a; a++)
		h = hash_more(h, *a);
	return h ^ h >> 32;
}

static bool same(const struct timeline_label *a, const struct timeline_label *b)
{
	size_t i = 0;

	if (strcmp(a->name, b->name) || strcmp(a->kind, b->kind))
		return false;
	for (; a->arg[i] && b->arg[i]; i++)
		if (strcmp(a->arg[i], b->arg[i]))
			return false;
	return !a->arg[i] && !b->arg[i];
}

static bool grow_texts(struct mm_labels *l)
{
	uint32_t texts = l->texts ? 2 * l->texts : 256;
	uint32_t *by_text = calloc(texts, sizeof(*by_text));

	if (!by_text)
		return false;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t at = (uint32_t)hash_of(&l->label[i]) & (texts - 1);

		while (by_text[at])
			at = (at + 1) & (texts - 1);
		by_text[at] = i + 1;
	}
	free(l->by_text);
	l->by_text = by_text;
	l->texts = texts;
	return true;
}

/* The label with this text, created if there is none. Copies the strings. */
static uint32_t intern(struct mm_labels *l, const struct timeline_label *want, size_t n_args)
{
	struct timeline_label *made;
	const char **arg;
	uint32_t at;

	if (2 * l->n >= l->texts && !grow_texts(l))
		return MM_NONE;
	for (at = (uint32_t)hash_of(want) & (l->texts - 1); l->by_text[at];
	     at = (at + 1) & (l->texts - 1))
		if (same(&l->label[l->by_text[at] - 1], want))
			return l->by_text[at] - 1;
	if (!array_reserve(&l->label, &l->room, l->n + 1, sizeof(*l->label)))
		return MM_NONE;
	arg = arena_alloc(&l->arena, (n_args + 1) * sizeof(*arg));
	for (size_t i = 0; arg && i < n_args; i++)
		arg[i] = arena_string(&l->arena, want->arg[i], strlen(want->arg[i]));
	made = &l->label[l->n];
	*made = (struct timeline_label){
		.name = arena_string(&l->arena, want->name, strlen(want->name)),
		.kind = arena_string(&l->arena, want->kind, strlen(want->kind)),
		.arg = arg,
		.group = l->n
	};
	if (!arg || !made->name || !made->kind)
		return MM_NONE;
	l->by_text[at] = ++l->n;
	return l->n - 1;
}

/* A label with this kind, name and arguments, and its group: the label without arguments. */
static uint32_t labelled(struct mm_labels *l, const char *kind, char *text)
{
	const char *none[] = { NULL };
	struct timeline_label want = { .name = text, .kind = kind, .arg = none };
	uint32_t label = MM_NONE, group;
	size_t n_args = 0;
	const char **arg;

	for (char *p = text; (p = strchr(p, SEPARATOR)); p++)
		n_args++;
	arg = calloc(n_args + 1, sizeof(*arg));
	if (!arg)
		return MM_NONE;
	n_args = 0;
	for (char *p = text; (p = strchr(p, SEPARATOR));) {
		*p++ = '\0';
		arg[n_args++] = p;
	}
	if (!*text)
		want.name = "(no name)";
	group = intern(l, &want, 0);
	want.arg = arg;
	if (group != MM_NONE)
		label = n_args ? intern(l, &want, n_args) : group;
	if (label != MM_NONE)
		l->label[label].group = group;
	free(arg);
	return label;
}

/*
 * rustc writes the texts of its query ids at its end; queries that run at that time get none. Two
 * such ids may mean the same label in two runs, so all of them share one label. StringId::INVALID,
 * which rustc leaves if it ends with an error, is such a label, too. An id that refers to a missing
 * place in the string data is named by that place.
 */
static void text_of(struct mm_labels *l, uint32_t string, struct text *out)
{
	enum mm_text how = mm_string_text(&l->strings, string, out);
	uint64_t id;

	text_put(out, "", 0); /* "" instead of NULL if empty */
	l->cut += how == MM_CUT;
	if (how == MM_CUT)
		text_add(out, "(cut)");
	if (how != MM_GONE)
		return;
	id = mm_string_id(&l->strings, string);
	if (id <= MM_METADATA || id == MM_INVALID) {
		l->unmapped++;
		text_add(out, "(label without a text)");
	} else {
		l->gone++;
		text_add(out, "(label %" PRIu64 ", not in the file)", id);
	}
}

/* Labels by pair of strings: a text is looked up only for a new pair. */
static uint32_t new_label(struct mm_labels *l, uint32_t kind, uint32_t id)
{
	struct text k = { 0 }, text = { 0 };
	uint32_t label = MM_NONE;

	text_of(l, id, &text);
	mm_string_text(&l->strings, kind, &k);
	text_put(&k, "", 0); /* "" instead of NULL if empty */
	if (!k.failed && !text.failed)
		label = labelled(l, k.s, text.s);
	text_free(&k);
	text_free(&text);
	return label;
}

static uint32_t pair_slot(const struct mm_labels *l, uint32_t kind, uint32_t id)
{
	uint32_t at = (uint32_t)(((uint64_t)kind << 32 | id) * 0x9e3779b97f4a7c15ull >> 32) &
		(l->pair_slots - 1);

	while (l->pair[at].label_1 && (l->pair[at].kind != kind || l->pair[at].id != id))
		at = (at + 1) & (l->pair_slots - 1);
	return at;
}

static bool grow_pairs(struct mm_labels *l)
{
	struct mm_labels grown = *l;

	grown.pair_slots = l->pair_slots ? 2 * l->pair_slots : 256;
	grown.pair = calloc(grown.pair_slots, sizeof(*grown.pair));
	if (!grown.pair)
		return false;
	for (uint32_t i = 0; i < l->pair_slots; i++)
		if (l->pair[i].label_1)
			grown.pair[pair_slot(&grown, l->pair[i].kind, l->pair[i].id)] = l->pair[i];
	free(l->pair);
	*l = grown;
	return true;
}

uint32_t mm_label(struct mm_labels *l, uint64_t kind_id, uint64_t event_id)
{
	uint32_t kind = mm_string(&l->strings, kind_id), id = mm_string(&l->strings, event_id), at,
		 label;

	if (kind == MM_NONE || id == MM_NONE || (2 * l->pairs >= l->pair_slots && !grow_pairs(l)))
		return MM_NONE;
	at = pair_slot(l, kind, id);
	if (l->pair[at].label_1)
		return l->pair[at].label_1 - 1;
	label = new_label(l, kind, id);
	if (label == MM_NONE)
		return MM_NONE;
	l->pair[at] = (struct mm_pair){ kind, id, label + 1 };
	l->pairs++;
	return label;
}

uint32_t mm_label_find(const struct mm_labels *l, uint64_t kind_id, uint64_t event_id)
{
	uint32_t kind = mm_string_find(&l->strings, kind_id),
		 id = mm_string_find(&l->strings, event_id);

	return kind == MM_NONE || id == MM_NONE ? MM_NONE
						: l->pair[pair_slot(l, kind, id)].label_1 - 1;
}

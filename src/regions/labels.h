/* SPDX-License-Identifier: MIT */
/* Labels of several recordings, told apart by what they say: each text has one number, whichever file it stands in. */
#ifndef REGIONS_LABELS_H
#define REGIONS_LABELS_H

#include "regions/timeline/timeline.h"

struct labels_entry {
	const char *name, *kind;
	const char *const *arg; /* NULL-terminated */
};

struct labels {
	struct labels_entry *entry;
	uint32_t n;
	size_t room, repeats_room;
	uint8_t *repeats; /* by entry, a bit */
	uint32_t *slot; /* entry + 1; 0: free */
	uint32_t slots;
	void *arena;
	void **taken; /* those of recordings, whose texts are used where they are */
	size_t n_taken;
};

#define LABELS_NONE UINT32_MAX

/* The number of this text, new or not; LABELS_NONE without memory. Texts are copied. */
uint32_t labels_number(struct labels *l, const char *name, const char *kind, const char *const *arg);
/* By label of a recording, its number: with its arguments, or without them. NULL with err; the caller frees it. */
uint32_t *labels_of(struct labels *l, struct timeline *t, bool with_arguments, struct tare_error *err);
/* Is there one that is the same but for its kind, where both kinds say no more than that it is a region ("Query", "GenericActivity"), or as good as that (TIMELINE_NAMELESS)? */
bool labels_repeats(const struct labels *l, uint32_t number);
/* Says this kind no more than that it is a region? */
bool labels_is_usual(const char *kind);
/* What only finds labels is freed; labels_number() makes it anew. */
void labels_settle(struct labels *l);
/* What tells its text apart, whichever number it has. */
uint64_t labels_key(const struct labels *l, uint32_t number);
void labels_free(struct labels *l);

#endif

/* SPDX-License-Identifier: MIT */
/* The labels of several recordings. Equal texts get one number, regardless of their file. */
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
	uint32_t *slot;   /* entry + 1; 0: free */
	uint32_t slots;
	void *arena;
	void **taken; /* recordings that own texts used in place */
	size_t n_taken;
};

#define LABELS_NONE UINT32_MAX

/*
 * The number of this text, which is added if new; LABELS_NONE if out of memory. Texts are copied.
 */
uint32_t labels_number(struct labels *l, const char *name, const char *kind,
		       const char *const *arg);
/*
 * The numbers of a recording's labels, with or without arguments. NULL with err on failure. The
 * caller frees the array.
 */
uint32_t *labels_of(struct labels *l, struct timeline *t, bool with_arguments,
		    struct tare_error *err);
/*
 * Is there another label that differs only in its kind, if both kinds are generic ("Query",
 * "GenericActivity") or TIMELINE_NAMELESS?
 */
bool labels_repeats(const struct labels *l, uint32_t number);
/* Is this kind generic, so that it only says that the label is a region? */
bool labels_is_usual(const char *kind);
/* Free the lookup table. labels_number() creates it again. */
void labels_settle(struct labels *l);
/* A hash of the label's text, independent of its number. */
uint64_t labels_key(const struct labels *l, uint32_t number);
void labels_free(struct labels *l);

#endif

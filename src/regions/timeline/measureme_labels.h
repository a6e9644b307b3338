/* SPDX-License-Identifier: MIT */
/* Labels of a `.mm_profdata`: maps each pair of kind and event id to one label per text. */
#ifndef REGIONS_TIMELINE_MEASUREME_LABELS_H
#define REGIONS_TIMELINE_MEASUREME_LABELS_H

#include "regions/timeline/measureme_strings.h"
#include "regions/timeline/timeline.h"

struct mm_labels {
	struct mm_strings strings;
	void *arena;
	struct timeline_label *label;
	uint32_t n;
	size_t room;
	uint32_t *by_text; /* label + 1 by its text; 0: free */
	uint32_t texts;
	struct mm_pair *pair; /* hash table by the two strings: label + 1 */
	uint32_t pairs, pair_slots;
	uint64_t gone, cut; /* labels with a missing or truncated text */
	uint64_t unmapped;  /* virtual ids without a text, and StringId::INVALID */
};

int mm_labels_open(struct mm_labels *l, struct mm_pages *pages, struct tare_error *err);
void mm_labels_free(struct mm_labels *l);

/* The label of an event; MM_NONE if out of memory. */
uint32_t mm_label(struct mm_labels *l, uint64_t kind, uint64_t id);
/*
 * The same for an event that was looked up before. Changes nothing, so any number of threads may
 * call it.
 */
uint32_t mm_label_find(const struct mm_labels *l, uint64_t kind, uint64_t id);

/* A small cache of recent results for either function; zero-initialise. */
enum { MM_MEMO = 1024 };
struct mm_memo {
	struct {
		uint64_t kind, id;
		uint32_t label_1; /* + 1 */
	} entry[MM_MEMO];
};

static inline size_t mm_memo_at(uint64_t kind, uint64_t id)
{
	return (size_t)((id * 0x9e3779b97f4a7c15ull + kind) >> 40) % MM_MEMO;
}

#endif

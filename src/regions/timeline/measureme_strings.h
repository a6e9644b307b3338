/* SPDX-License-Identifier: MIT */
/*
 * The strings of a `.mm_profdata`: maps the numbers in events to text. measureme_strings.c
 * describes the format.
 */
#ifndef REGIONS_TIMELINE_MEASUREME_STRINGS_H
#define REGIONS_TIMELINE_MEASUREME_STRINGS_H

#include "regions/timeline/measureme_pages.h"

enum {
	MM_METADATA = 100000001, /* ids up to here are looked up in the index */
	MM_INVALID = 100000002,  /* StringId::INVALID: no string */
	MM_FIRST_REGULAR = 100000003,
	MM_BLOCKS = 16, /* blocks of the stream in memory */
};

struct mm_strings {
	struct mm_pages *pages;
	struct mm_leaf *leaf; /* maps virtual ids, by hash */
	uint32_t leaves, leaf_slots;
	uint32_t metadata; /* string; MM_NONE without */
	uint64_t *where;   /* by string: its byte in the stream, or MM_LOST | id */
	uint32_t n;
	size_t room;
	uint32_t *slot; /* strings by where; 0: free, else string + 1 */
	uint32_t slots;
	struct mm_block *block[MM_BLOCKS];
	uint64_t spent_bytes, spent_steps; /* consumed by texts so far, limited */
};

#define MM_NONE UINT32_MAX

int mm_strings_open(struct mm_strings *s, struct mm_pages *pages, struct tare_error *err);
void mm_strings_free(struct mm_strings *s);

/*
 * The string of an id: a number below s->n, the same for ids that are mapped to the same place.
 * MM_NONE: out of memory.
 */
uint32_t mm_string(struct mm_strings *s, uint64_t id);
/* The same for an id that was looked up before; changes nothing. */
uint32_t mm_string_find(const struct mm_strings *s, uint64_t id);

enum mm_text {
	MM_WHOLE,
	MM_CUT,  /* a part of it is not in the file, or it exceeds the size limit */
	MM_GONE, /* it is not in the file */
};
/* The id of the unknown string; only after MM_GONE. */
uint64_t mm_string_id(const struct mm_strings *s, uint32_t string);
/* Append the text; a byte 0 becomes "\0". */
enum mm_text mm_string_text(struct mm_strings *s, uint32_t string, struct text *out);

#endif

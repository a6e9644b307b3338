/* SPDX-License-Identifier: MIT */
/*
 * The strings of measureme. An id is one of
 *
 *	0 .. 100000000		virtual: the index has the place of its string
 *	100000001		the same, for the description of the recording
 *	100000002		none
 *	100000003 + x		its string begins at byte x of the stream "MMSD", header included
 *
 * A string is a list of components: either bytes (UTF-8, so never FE or FF), or FE and an id (u64;
 * u32 in version 8) of a string to insert. FF ends the list. In a valid file, the strings form an
 * acyclic graph.
 *
 * The stream "MMSI" contains pairs of virtual id and byte in "MMSD" (u64 each; u32 in version 8).
 * The last entry of an id is valid.
 *
 * Source: measureme 12.0.3 and 10.1.2, stringtable.rs.
 *
 * A file may use 100 million virtual ids for some hundred strings. So each id takes four bytes
 * here, and each text is stored once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/timeline/measureme_strings.h"

enum {
	LEAF = 64, /* ids: small, for files that use few of them */
	BLOCK = 1 << 16,
	DEPTH_MAX = 1000,
	STEPS_MAX = 1 << 16, /* components of one string */
	TEXT_MAX = 1 << 21,
	TERMINATOR = 0xff,
	REFERENCE = 0xfe,
};
#define LOST (UINT64_C(1) << 63)

/*
 * Limits for all strings together. Otherwise a small file in which each string is the previous one
 * twice would take exponential time and memory.
 */
static uint64_t all_steps(uint64_t bytes)
{
	return STEPS_MAX + 16 * bytes;
}

static uint64_t all_text(uint64_t bytes)
{
	uint64_t most = UINT64_C(1) << 28, fair = (UINT64_C(1) << 23) + 256 * bytes;

	return fair < most ? fair : most;
}

/* A range of this many virtual ids. */
struct mm_leaf {
	uint32_t number, *string; /* string + 1 for each of the ids, or 0; NULL: the slot is free */
};

struct mm_block {
	uint64_t at;
	size_t n; /* 0: empty */
	unsigned char byte[BLOCK];
};

static uint32_t slot_of(uint64_t where, uint32_t slots)
{
	return (uint32_t)(where * 0x9e3779b97f4a7c15ull >> 32) & (slots - 1);
}

static bool grow_slots(struct mm_strings *s)
{
	uint32_t slots = s->slots ? 2 * s->slots : 1024;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t at = slot_of(s->where[i], slots);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	free(s->slot);
	s->slot = slot;
	s->slots = slots;
	return true;
}

/* The slot of a place, or the free slot where it belongs. */
static uint32_t find_slot(const struct mm_strings *s, uint64_t where)
{
	uint32_t at = slot_of(where, s->slots);

	while (s->slot[at] && s->where[s->slot[at] - 1] != where)
		at = (at + 1) & (s->slots - 1);
	return at;
}

static uint32_t string_at(struct mm_strings *s, uint64_t where)
{
	uint32_t at;

	if (2 * s->n >= s->slots && !grow_slots(s))
		return MM_NONE;
	at = find_slot(s, where);
	if (s->slot[at])
		return s->slot[at] - 1;
	if (!array_reserve(&s->where, &s->room, s->n + 1, sizeof(*s->where)))
		return MM_NONE;
	s->where[s->n] = where;
	s->slot[at] = ++s->n;
	return s->n - 1;
}

/* The place of an id's string, without using the index. */
static uint64_t place_of(uint64_t id)
{
	return id >= MM_FIRST_REGULAR && id < LOST ? id - MM_FIRST_REGULAR : LOST | id;
}

static struct mm_leaf *leaf_at(const struct mm_strings *s, uint32_t number)
{
	uint32_t at = number * 0x9e3779b1u & (s->leaf_slots - 1);

	while (s->leaf[at].string && s->leaf[at].number != number)
		at = (at + 1) & (s->leaf_slots - 1);
	return &s->leaf[at];
}

static uint32_t mapped(const struct mm_strings *s, uint64_t id)
{
	const uint32_t *string = id < MM_METADATA && s->leaf_slots
		? leaf_at(s, (uint32_t)(id / LEAF))->string
		: NULL;

	if (id == MM_METADATA)
		return s->metadata;
	return string && string[id % LEAF] ? string[id % LEAF] - 1 : MM_NONE;
}

uint32_t mm_string(struct mm_strings *s, uint64_t id)
{
	uint32_t string = mapped(s, id);

	return string != MM_NONE ? string : string_at(s, place_of(id));
}

uint32_t mm_string_find(const struct mm_strings *s, uint64_t id)
{
	uint32_t string = mapped(s, id), slot;

	if (string != MM_NONE)
		return string;
	slot = s->slots ? s->slot[find_slot(s, place_of(id))] : 0;
	return slot ? slot - 1 : MM_NONE;
}

static bool grow_leaves(struct mm_strings *s)
{
	struct mm_leaf *old = s->leaf;
	uint32_t slots = s->leaf_slots;

	s->leaf_slots = slots ? 2 * slots : 64;
	s->leaf = calloc(s->leaf_slots, sizeof(*s->leaf));
	if (!s->leaf) {
		s->leaf = old;
		s->leaf_slots = slots;
		return false;
	}
	for (uint32_t i = 0; i < slots; i++)
		if (old[i].string)
			*leaf_at(s, old[i].number) = old[i];
	free(old);
	return true;
}

static int map(struct mm_strings *s, uint64_t id, uint64_t where)
{
	uint32_t string = string_at(s, where);
	struct mm_leaf *leaf;

	if (string == MM_NONE)
		return -ENOMEM;
	if (id == MM_METADATA) {
		s->metadata = string;
		return 0;
	}
	if (2 * s->leaves >= s->leaf_slots && !grow_leaves(s))
		return -ENOMEM;
	leaf = leaf_at(s, (uint32_t)(id / LEAF));
	if (!leaf->string) {
		leaf->number = (uint32_t)(id / LEAF);
		leaf->string = calloc(LEAF, sizeof(*leaf->string));
		s->leaves++;
	}
	if (!leaf->string)
		return -ENOMEM;
	leaf->string[id % LEAF] = string + 1;
	return 0;
}

static int read_index(struct mm_strings *s, struct tare_error *err)
{
	size_t entry = s->pages->version >= 9 ? 16 : 8;
	uint64_t size = s->pages->stream[MM_INDEX].size, wrong = 0, first_wrong = 0;
	unsigned char *buf = malloc(BLOCK);
	int ret = buf ? 0 : tare_fail_nomem(err);

	for (uint64_t at = MM_STREAM_HEADER; ret == 0 && at < size;) {
		ssize_t n = mm_read(s->pages, MM_INDEX, at, buf, BLOCK, err);

		if (n < 0)
			ret = (int)n;
		if (n >= 0 && (size_t)n < entry) {
			mm_damage(s->pages,
				  "the string index ends within an entry, at byte %" PRIu64,
				  mm_offset(s->pages, MM_INDEX, at));
			break;
		}
		n -= n % (ssize_t)entry;
		for (const unsigned char *b = buf; ret == 0 && b < buf + n; b += entry) {
			uint64_t id = entry == 16 ? mm_u64(b) : mm_u32(b);
			uint64_t where = entry == 16 ? mm_u64(b + 8) : mm_u32(b + 4);

			if (id > MM_METADATA || where >= LOST)
				first_wrong = wrong++ ? first_wrong : at + (uint64_t)(b - buf);
			else if (map(s, id, where) < 0)
				ret = tare_fail_nomem(err);
		}
		at += (uint64_t)n;
	}
	if (wrong)
		mm_damage(
			s->pages,
			"%" PRIu64
			" entries of the string index have no virtual id, the first at byte %" PRIu64,
			wrong, mm_offset(s->pages, MM_INDEX, first_wrong));
	free(buf);
	return ret;
}

int mm_strings_open(struct mm_strings *s, struct mm_pages *pages, struct tare_error *err)
{
	int ret;

	*s = (struct mm_strings){ .pages = pages, .metadata = MM_NONE };
	ret = read_index(s, err);
	if (ret < 0)
		mm_strings_free(s);
	return ret;
}

void mm_strings_free(struct mm_strings *s)
{
	for (size_t i = 0; i < MM_BLOCKS; i++)
		free(s->block[i]);
	for (size_t i = 0; i < s->leaf_slots; i++)
		free(s->leaf[i].string);
	free(s->leaf);
	free(s->where);
	free(s->slot);
	*s = (struct mm_strings){ 0 };
}

/*
 * Bytes of the string stream from `at`, as many as one block has; 0 at its end or on a read error.
 */
static size_t bytes_at(struct mm_strings *s, uint64_t at, const unsigned char **bytes)
{
	struct mm_block **slot = &s->block[at / BLOCK % MM_BLOCKS], *b;
	uint64_t begin = at - at % BLOCK;

	if (!*slot)
		*slot = calloc(1, sizeof(**slot));
	b = *slot;
	if (!b)
		return 0;
	if (!b->n || b->at != begin) {
		ssize_t n = mm_read(s->pages, MM_STRINGS, begin, b->byte, BLOCK, NULL);

		b->at = begin;
		b->n = n > 0 ? (size_t)n : 0;
	}
	if (at % BLOCK >= b->n)
		return 0;
	*bytes = b->byte + at % BLOCK;
	return b->n - at % BLOCK;
}

static bool reference_at(struct mm_strings *s, uint64_t at, size_t size, uint64_t *id)
{
	*id = 0;
	for (size_t i = 0; i < size; i++) {
		const unsigned char *b;

		if (bytes_at(s, at + i, &b) == 0)
			return false;
		*id |= (uint64_t)*b << 8 * i;
	}
	return true;
}

static void put_bytes(struct text *out, const unsigned char *b, size_t n)
{
	for (size_t i = 0; i < n;) {
		const unsigned char *zero = memchr(b + i, 0, n - i);
		size_t run = zero ? (size_t)(zero - b) - i : n - i;

		text_put(out, (const char *)b + i, run);
		i += run;
		if (zero) {
			text_put(out, "\\0", 2);
			i++;
		}
	}
}

static size_t plain(const unsigned char *b, size_t n)
{
	size_t i = 0;

	while (i < n && b[i] < REFERENCE)
		i++;
	return i;
}

uint64_t mm_string_id(const struct mm_strings *s, uint32_t string)
{
	return s->where[string] & LOST ? s->where[string] & ~LOST
				       : s->where[string] + MM_FIRST_REGULAR;
}

enum mm_text mm_string_text(struct mm_strings *s, uint32_t string, struct text *out)
{
	size_t size = s->pages->version >= 9 ? 8 : 4, depth = 0, begin = out->len;
	uint64_t stack[DEPTH_MAX];
	enum mm_text ret = MM_WHOLE;

	if (s->where[string] & LOST)
		return MM_GONE;
	stack[depth++] = s->where[string];
	for (unsigned steps = 0; depth > 0; steps++) {
		uint64_t at = stack[depth - 1], id;
		const unsigned char *b;
		size_t n = bytes_at(s, at, &b), run = n ? plain(b, n) : 0;

		if (steps >= STEPS_MAX || out->len - begin + run > TEXT_MAX ||
		    s->spent_steps++ >= all_steps(s->pages->stream[MM_STRINGS].size) ||
		    (s->spent_bytes += run) >= all_text(s->pages->stream[MM_STRINGS].size)) {
			ret = MM_CUT;
			break;
		}
		if (n == 0) { /* the stream ends within the string */
			ret = at == s->where[string] ? MM_GONE : MM_CUT;
			depth--;
			continue;
		}
		put_bytes(out, b, run);
		stack[depth - 1] += run;
		if (run == n)
			continue;
		if (b[run] == TERMINATOR) {
			depth--;
			continue;
		}
		stack[depth - 1] += 1 + size;
		if (!reference_at(s, at + run + 1, size, &id)) {
			ret = MM_CUT;
			break;
		}
		if (id == MM_INVALID) {
			text_add(out, "(no text)");
			continue;
		}
		string = mm_string(s, id);
		if (string == MM_NONE || s->where[string] & LOST || depth == DEPTH_MAX) {
			text_put(out, "?", 1);
			ret = MM_CUT;
			continue;
		}
		stack[depth++] = s->where[string];
	}
	return ret;
}

/* SPDX-License-Identifier: MIT */
#include "regions/runtime/region_labels.h"
#include <string.h>
#include "base/pages.h"
#include "regions/runtime/region_map.h"

enum { TEXT_BYTES = 65536 };

/* Texts, one after another. */
struct region_texts {
	struct region_texts *next;
	size_t room, used; /* of text[] */
	char text[];
};

enum { LABEL_MAX = 1 << 28, NUMBERS = 0x0ffffffe };

static uint8_t *data_of(struct block_head *b)
{
	return (uint8_t *)(b + 1);
}

void region_labels_close(struct region_labels *l)
{
	struct block_head *b = l->block;

	if (!b)
		return;
	b->used = (uint32_t)(l->at - data_of(b));
	b->sum = format_block_sum(b, data_of(b));
	__atomic_store_n(&b->state, BLOCK_SEALED, __ATOMIC_RELEASE);
	region_unmap(b, (size_t)(l->end - (uint8_t *)b));
	l->block = NULL;
}

/* A block with room for n bytes and a terminating 0. */
static int room(struct region_labels *l, size_t n)
{
	size_t size = sizeof(struct block_head) + n + 8;
	struct block_head *b;

	if (l->block && (size_t)(l->end - l->at) >= n + 8)
		return 0;
	region_labels_close(l);
	size = size < BLOCK_BYTES ? BLOCK_BYTES : (size + FILE_PAGE - 1) / FILE_PAGE * FILE_PAGE;
	b = region_file_map(l->file, size, false, NULL);
	if (!b)
		return -1;

	struct block_head head = l->like;

	head.size = (uint32_t)size;
	head.seq = l->seq++;
	head.state = BLOCK_OPEN;
	head.head_sum = format_head_sum(&head);
	format_begin_block(b, &head);
	l->block = b;
	l->at = data_of(b);
	l->end = (uint8_t *)b + size;
	return 0;
}

/* Room for n bytes, which are kept once they are counted as used. */
static char *text_room(struct region_labels *l, size_t n)
{
	struct region_texts *t = l->texts;
	size_t bytes = sizeof(*t) + n;

	if (t && t->room - t->used >= n)
		return t->text + t->used;
	bytes = bytes < TEXT_BYTES ? TEXT_BYTES : bytes;
	t = pages_new(bytes);
	if (!t)
		return NULL;
	t->room = bytes - sizeof(*t);
	t->next = l->texts;
	l->texts = t;
	return t->text;
}

static uint64_t sum_of(uint64_t sum, const char *s)
{
	return (sum ^ format_sum(s, strlen(s))) * SUM_FACTOR;
}

/*
 * A label too large for the file is identified by a hash of its texts after an empty name, which no
 * other label has.
 */
static char *serialise(struct region_labels *l, const char *name, const char *file, uint32_t line,
		       const char *const *args, unsigned n_args, size_t *bytes, bool *too_large)
{
	size_t n = 8 + strlen(name) + 1 + strlen(file) + 1;
	uint64_t sum = 0;
	char *text, *p;

	for (unsigned i = 0; i < n_args; i++)
		n += strlen(args[i]) + 1;
	*too_large = n > LABEL_MAX;
	*bytes = *too_large ? 8 + 1 + sizeof(sum) : n;
	text = text_room(l, *bytes);
	if (!text)
		return NULL;
	memcpy(text, &line, 4);
	memcpy(text + 4, &n_args, 4);
	if (*too_large) {
		sum = sum_of(sum_of(n, name), file);
		for (unsigned i = 0; i < n_args; i++)
			sum = sum_of(sum, args[i]);
		text[8] = '\0';
		memcpy(text + 9, &sum, sizeof(sum));
		return text;
	}
	p = stpcpy(text + 8, name) + 1;
	p = stpcpy(p, file) + 1;
	for (unsigned i = 0; i < n_args; i++)
		p = stpcpy(p, args[i]) + 1;
	return text;
}

static struct region_label *find(struct region_label *slot, size_t room, uint64_t hash,
				 const char *text, size_t bytes)
{
	size_t i = hash & (room - 1);

	while (slot[i].text &&
	       (slot[i].hash != hash || slot[i].bytes != bytes ||
		memcmp(slot[i].text, text, bytes)))
		i = (i + 1) & (room - 1);
	return &slot[i];
}

static int grow(struct region_labels *l)
{
	size_t room = l->room ? l->room * 2 : 256;
	struct region_label *slot = pages_new(room * sizeof(*slot));

	if (!slot)
		return -1;
	for (size_t i = 0; i < l->room; i++)
		if (l->slot[i].text)
			*find(slot, room, l->slot[i].hash, l->slot[i].text,
			      l->slot[i].bytes) = l->slot[i];
	pages_free(l->slot, l->room * sizeof(*slot));
	l->slot = slot;
	l->room = room;
	return 0;
}

uint32_t region_labels_nameless(struct region_labels *l)
{
	if (!l->nameless && l->next < NUMBERS)
		l->nameless = l->next++;
	return l->nameless;
}

static uint32_t lose(struct region_labels *l, int code)
{
	l->lost++;
	l->lost_errno = code;
	return region_labels_nameless(l);
}

/* Write a label to the file under a new number. Returns the number, or 0 with errno. */
static uint32_t put_label(struct region_labels *l, const char *text, size_t bytes)
{
	uint32_t size = (uint32_t)(8 + bytes + 7) & ~7u, number;

	if (l->next >= NUMBERS) {
		errno = EOVERFLOW;
		return 0;
	}
	if (room(l, size) < 0)
		return 0;
	number = l->next++;
	memcpy(l->at + 4, &number, 4);
	memcpy(l->at + 8, text, bytes);
	/* Last, so that a reader sees the complete record or no record. */
	__atomic_store_n((uint32_t *)(void *)l->at, size, __ATOMIC_RELEASE);
	l->at += size;
	l->own++;
	return number;
}

uint32_t region_labels_number(struct region_labels *l, const char *name, const char *file,
			      uint32_t line, const char *const *args, unsigned n_args)
{
	struct region_label *slot;
	bool too_large;
	uint32_t number;
	uint64_t hash;
	size_t bytes;
	char *text;

	if (l->n * 2 >= l->room && grow(l) < 0)
		return lose(l, errno);
	text = serialise(l, name, file, line, args, n_args, &bytes, &too_large);
	if (!text)
		return lose(l, errno);
	hash = format_sum(text, bytes);
	hash ^= hash >> 32; /* the low bits of a product depend only on low bits */
	slot = find(l->slot, l->room, hash, text, bytes);
	if (slot->text)
		return slot->number;
	number = too_large ? 0 : put_label(l, text, bytes);
	if (!number)
		number = lose(l, too_large ? E2BIG : errno);
	l->texts->used += bytes;
	*slot = (struct region_label){ hash, number, (uint32_t)bytes, text };
	l->n++;
	return number;
}

void region_labels_forked(struct region_labels *l)
{
	if (l->block)
		region_unmap(l->block, (size_t)(l->end - (uint8_t *)l->block));
	l->block = NULL;
	l->seq = 0;
	l->own = 0;
	l->lost = 0;
}

void region_labels_free(struct region_labels *l)
{
	while (l->texts) {
		struct region_texts *t = l->texts;

		l->texts = t->next;
		pages_free(t, sizeof(*t) + t->room);
	}
	pages_free(l->slot, l->room * sizeof(*l->slot));
	l->slot = NULL;
	l->n = l->room = 0;
}

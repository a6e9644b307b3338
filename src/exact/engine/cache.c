/* SPDX-License-Identifier: MIT */
/*
 * The code cache: where translated blocks lie, and how they are found by the program's pc, by the
 * address of their code, and by indirect branches (the buckets).
 */
#include <asm/unistd.h>
#include <linux/mman.h>
#include "exact/engine/engine.h"

enum {
	BLOCKS_MAX = 1 << 22,
	MAP_POOL_SIZE = 1 << 28,
	EDGES_MAX = 1 << 23,
	BUCKETS = 1 << 16,
	ARENA_SIZE = 64 << 20,
	HASH_BITS_FIRST = 16,
	FRAGMENT_ROOM = 1 << 16, /* no fragment is longer, stubs included */
};

static const int64_t REACH = 0x78000000;

/*
 * Code that runs together stays together in the table, in the same cache lines and pages; each 64 KiB of
 * code begins somewhere else.
 */
static uint32_t hash_of(uint64_t pc, uint32_t bits)
{
	return (uint32_t)((pc >> 1) + (pc >> 16) * 0x9e3779b1u) & ((1u << bits) - 1);
}

/* An entry of the table: the block's number, and enough of its pc to pass strangers by. */
static uint64_t hash_entry(uint64_t pc, uint32_t id)
{
	return (pc << 32) | id;
}

/* Emitted code names the buckets by a signed 32-bit address, so they must lie below 2 GiB. */
static uint64_t *low_memory(size_t size)
{
	for (uint64_t at = 0x7ff00000; at > 0x10000000; at -= 0x1000000) {
		void *p = reserve_at(at, size, PROT_READ | PROT_WRITE);

		if (p)
			return p;
	}
	refuse("no free memory below 2 GiB for the exact engine's jump table", 0);
}

void cache_first(void)
{
	eng.blocks = reserve(BLOCKS_MAX * sizeof(struct block));
	eng.map_pool = reserve(MAP_POOL_SIZE);
	eng.edges = reserve(EDGES_MAX * sizeof(struct edge));
	eng.hash_bits = HASH_BITS_FIRST;
	eng.hash = reserve(sizeof(uint64_t) << eng.hash_bits);
	eng.buckets = low_memory(BUCKETS * sizeof(uint64_t));
	eng.bucket_heads = reserve(BUCKETS * sizeof(uint32_t));
	eng.n_blocks = 1; /* 0 means none */
	eng.n_edges = 1;  /* 0 means an indirect branch */
	eng.map_used = 1;
	for (int i = 0; i < BUCKETS; i++)
		eng.buckets[i] = (uint64_t)engine_miss;
}

static bool reaches(const struct arena *a, uint64_t pc)
{
	int64_t low = (int64_t)((uint64_t)a->start - pc), high = (int64_t)((uint64_t)a->end - pc);

	return low > -REACH && low < REACH && high > -REACH && high < REACH;
}

static struct arena *arena_new(uint64_t pc)
{
	struct arena *a = &eng.arenas[eng.n_arenas];
	uint8_t *p = NULL;

	if (eng.n_arenas == ARENAS_MAX)
		refuse("the exact engine's code cache is full", pc);
	/*
	 * As far away as reach allows, downwards first: the heap grows up from a program, and
	 * mappings grow down from the libraries, the same as without the engine.
	 */
	for (int64_t d = 0x40000000; !p && d > 0x4000000; d -= 0x2000000) {
		if (pc > (uint64_t)d + 0x10000)
			p = reserve_at((pc - (uint64_t)d) & ~0xfffffull, ARENA_SIZE,
				       PROT_READ | PROT_WRITE | PROT_EXEC);
		if (!p && pc < 0x700000000000ull)
			p = reserve_at((pc + (uint64_t)d) & ~0xfffffull, ARENA_SIZE,
				       PROT_READ | PROT_WRITE | PROT_EXEC);
	}
	if (!p)
		refuse("no room for translated code within 2 GiB of the program's code at", pc);
	a->start = a->hot = p;
	a->cold = a->end = p + ARENA_SIZE;
	a->blocks = reserve(ARENA_SIZE / 16 * sizeof(uint32_t));
	a->n_blocks = 0;
	eng.n_arenas++;
	return a;
}

/* An arena with room for a fragment of code from `pc`. */
struct arena *arena_near(uint64_t pc)
{
	for (uint32_t i = eng.n_arenas; i-- > 0;)
		if (reaches(&eng.arenas[i], pc) &&
		    eng.arenas[i].cold - eng.arenas[i].hot > FRAGMENT_ROOM)
			return &eng.arenas[i];
	return arena_new(pc);
}

/* The arena that holds this byte of translated code, or NULL. */
struct arena *arena_with(const uint8_t *code)
{
	for (uint32_t i = 0; i < eng.n_arenas; i++)
		if (code >= eng.arenas[i].start && code < eng.arenas[i].end)
			return &eng.arenas[i];
	return NULL;
}

bool in_cache(uint64_t rip)
{
	return arena_with((const uint8_t *)rip);
}

struct block *block_find(uint64_t pc)
{
	uint32_t mask = (1u << eng.hash_bits) - 1;

	for (uint32_t h = hash_of(pc, eng.hash_bits); eng.hash[h]; h = (h + 1) & mask) {
		struct block *b;

		if (eng.hash[h] >> 32 != (uint32_t)pc)
			continue;
		b = &eng.blocks[(uint32_t)eng.hash[h]];
		if (b->pc == pc && !(b->flags & (B_DEAD | B_ONCE | B_PART)))
			return b;
	}
	return NULL;
}

static void hash_put(uint64_t *hash, uint32_t bits, uint64_t pc, uint32_t id)
{
	uint32_t mask = (1u << bits) - 1;
	uint32_t h = hash_of(pc, bits);

	while (hash[h])
		h = (h + 1) & mask;
	hash[h] = hash_entry(pc, id);
}

static void hash_grow(void)
{
	uint32_t bits = eng.hash_bits + 1;
	uint64_t *bigger = reserve(sizeof(uint64_t) << bits);

	eng.hash_used = 0;
	for (uint32_t id = 1; id < eng.n_blocks; id++)
		if (!(eng.blocks[id].flags & (B_DEAD | B_ONCE | B_COPY | B_PART))) {
			hash_put(bigger, bits, eng.blocks[id].pc, id);
			eng.hash_used++;
		}
	sys(__NR_munmap, eng.hash, sizeof(uint64_t) << eng.hash_bits);
	eng.hash = bigger;
	eng.hash_bits = bits;
}

struct block *block_new(uint64_t pc)
{
	if (eng.n_blocks == BLOCKS_MAX || eng.map_used > MAP_POOL_SIZE - 4096 ||
	    eng.n_edges > EDGES_MAX - 256)
		refuse("the exact engine's code cache is full", pc);

	struct block *b = &eng.blocks[eng.n_blocks];

	b->pc = pc;
	b->map = eng.map_used;
	return b;
}

/* Its code is in place: it can be found. */
void block_done(struct block *b, struct arena *a)
{
	uint32_t id = eng.n_blocks++;

	a->blocks[a->n_blocks++] = id;
	if (!(b->flags & (B_ONCE | B_COPY | B_PART))) {
		if (eng.hash_used * 2 > 1u << eng.hash_bits)
			hash_grow();
		hash_put(eng.hash, eng.hash_bits, eng.blocks[id].pc, id);
		eng.hash_used++;
	}
}

/* The block whose code holds `rip`, by halving: an arena's blocks lie in the order of their
 * numbers. */
struct block *block_of_code(uint64_t rip)
{
	for (uint32_t i = 0; i < eng.n_arenas; i++) {
		struct arena *a = &eng.arenas[i];
		uint32_t low = 0, high = a->n_blocks;

		if (rip < (uint64_t)a->start || rip >= (uint64_t)a->end)
			continue;
		while (low < high) {
			uint32_t mid = low + (high - low) / 2;

			if ((uint64_t)eng.blocks[a->blocks[mid]].code <= rip)
				low = mid + 1;
			else
				high = mid;
		}
		if (low == 0)
			return NULL;

		struct block *b = &eng.blocks[a->blocks[low - 1]];

		return rip < (uint64_t)b->code + b->code_len ? b : NULL;
	}
	return NULL;
}

/* Indirect branches find the block from now on: it becomes the first of its bucket. */
void bucket_add(struct block *b)
{
	uint32_t *head = &eng.bucket_heads[b->pc & (BUCKETS - 1)];
	uint64_t *link = &eng.buckets[b->pc & (BUCKETS - 1)];

	b->bucket_next = *head;
	*head = (uint32_t)(b - eng.blocks);
	*b->next = *link;
	__atomic_store_n(link, (uint64_t)b->indirect, __ATOMIC_RELEASE);
}

/* Leave the bucket: whoever led on to this block leads on to its successor. */
static void bucket_remove(struct block *b)
{
	uint32_t *head = &eng.bucket_heads[b->pc & (BUCKETS - 1)];
	uint64_t *link = &eng.buckets[b->pc & (BUCKETS - 1)];

	if (!b->indirect)
		return;
	for (; *head && &eng.blocks[*head] != b; head = &eng.blocks[*head].bucket_next)
		link = eng.blocks[*head].next;
	if (*head) {
		*head = b->bucket_next;
		__atomic_store_n(link, *b->next, __ATOMIC_RELEASE);
	}
}

/*
 * The program's code has changed. Whoever still jumps here is sent to the engine: the first bytes
 * of a block from memory that can change are a 5-byte nop, replaced in one store.
 */
void block_kill(struct block *b)
{
	struct arena *a = arena_with(b->code); /* its own: the jump there must reach */
	struct edge *e = &eng.edges[eng.n_edges];
	uint64_t *word = (uint64_t *)((uint64_t)b->code & ~7ull);
	unsigned shift = 8 * ((uint64_t)b->code & 7);
	uint64_t jump;

	if (b->flags & B_DEAD)
		return;
	bucket_remove(b);
	b->flags |= B_DEAD;
	if (b->flags & (B_CHECKED | B_ONCE))
		return;
	if (b->code_len < 5)
		refuse("a block too short to be taken back at", b->pc);
	if (a->cold - a->hot < 64 || eng.n_edges == EDGES_MAX)
		refuse("the exact engine's code cache is full", b->pc);
	*e = (struct edge){ .target = b->pc };
	a->cold = emit_stub(a->cold, eng.n_edges++);

	int64_t d = a->cold - (b->code + 5);

	if (d != (int32_t)d)
		refuse("a block that cannot be taken back at", b->pc);
	jump = 0xe9 | (uint64_t)(uint32_t)d << 8;
	if (shift <= 24)
		__atomic_store_n(word, (*word & ~(0xffffffffffull << shift)) | jump << shift,
				 __ATOMIC_RELEASE);
	else /* file code that was unmapped: nobody runs it any more */
		__builtin_memcpy(b->code, &jump, 5);
}

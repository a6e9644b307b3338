/* SPDX-License-Identifier: MIT */
/*
 * The code cache: memory for translated blocks, and lookup by the program's pc, by the address of
 * the translated code, and for indirect branches (the buckets).
 */
#include <asm/unistd.h>
#include <linux/mman.h>
#include "exact/engine/emit.h"

enum {
	HASH_BITS_FIRST = 13,
	FRAGMENT_ROOM = 1 << 16, /* upper bound of a fragment's size, with stubs */
	MARGIN = 4096,           /* upper bound of its blocks, edges, and bytes in the map pool */
};

static const int64_t REACH = 0x78000000;

/*
 * The blocks of 32 bytes of code start in one cache line of the table, and these lines are
 * scattered. Most lookups miss and scan up to the next free entry; storing neighbouring code in one
 * run would make that scan long. Uses the low half of pc, which an entry stores.
 */
static uint32_t hash_of(uint64_t pc, uint32_t bits)
{
	return (((uint32_t)pc >> 5) * 0x9e3779b1u >> (32 - bits) & ~7u) | (pc >> 2 & 7);
}

/*
 * An entry of the table: the block's number (0: removed), and part of its pc to reject most
 * mismatches.
 */
static const uint64_t HASH_GONE = 1ull << 32;

static uint64_t hash_entry(uint64_t pc, uint32_t id)
{
	return (pc << 32) | id;
}

/* Emitted code addresses the table with a signed 32-bit address, so it must be below 2 GiB. */
static void *low_memory(size_t size)
{
	for (uint64_t at = 0x7ff00000; at > 0x10000000; at -= 0x1000000) {
		void *p = reserve_at(at, size, PROT_READ | PROT_WRITE);

		if (p)
			return p;
	}
	refuse("no free memory below 2 GiB for the exact engine's jump table", 0);
}

/* Make all buckets empty. */
static void buckets_empty(void)
{
	if (eng.n_buckets) /* skipped the first time: untouched pages make programs start faster */
		for (unsigned i = 0; i < NUMBERS; i++)
			__atomic_store_n(&eng.numbers[i], 0, __ATOMIC_RELEASE);
	eng.n_buckets = 0;
	eng.buckets[0] = (uint64_t)engine_miss;
}

/* Start a new generation with empty tables. Block number 0 means none. */
void cache_begin(void)
{
	uint32_t half = eng.generation & 1;

	buckets_empty();
	/* A thread that reads the new number finds no old code in the buckets. */
	__atomic_store_n(&eng.generation, eng.generation + 1, __ATOMIC_RELEASE);
	eng.n_blocks = eng.first_block = half * BLOCKS_HALF + 1;
	eng.n_edges = eng.first_edge = half * EDGES_HALF + 1;
	eng.map_used = eng.first_map = half * MAP_HALF + 1;
	eng.dead_blocks = eng.used_arenas = 0;
	if (eng.hash_used) /* also skipped the first time */
		memset(eng.hash, 0, sizeof(uint64_t) << eng.hash_bits);
	eng.hash_used = 0;
}

static void hash_new(uint32_t bits)
{
	eng.hash_bits = bits;
	eng.hash = reserve(sizeof(uint64_t) << bits);
	populate(eng.hash, sizeof(uint64_t) << bits);
}

void cache_first(void)
{
	eng.blocks = reserve(2ul * BLOCKS_HALF * sizeof(struct block));
	eng.map_pool = reserve(2ul * MAP_HALF);
	eng.edges = reserve(2ul * EDGES_HALF * sizeof(struct edge));
	hash_new(HASH_BITS_FIRST);
	eng.numbers = low_memory(NUMBERS * sizeof *eng.numbers + BUCKETS * sizeof *eng.buckets);
	populate(eng.numbers, NUMBERS * sizeof *eng.numbers);
	eng.buckets = (uint64_t *)(eng.numbers + NUMBERS);
	counters_first();
	cache_begin();
}

static bool reaches(const struct arena *a, uint64_t pc)
{
	int64_t low = (int64_t)(runs_at(a->start) - pc), high = (int64_t)(runs_at(a->end - 1) - pc);

	return low > -REACH && low < REACH && high > -REACH && high < REACH;
}

/*
 * If large mappings (as in a Java machine) leave no room for a whole arena: the largest gap that
 * fits.
 */
static uint8_t *gap_below(uint64_t pc, size_t *size)
{
	uint8_t *p;

	for (*size = ARENA_SIZE; *size >= ARENA_LEAST; *size /= 2)
		for (int64_t d = REACH - 0x2000000; d > (int64_t)*size; d -= 0x400000)
			if (pc > (uint64_t)d &&
			    (p = code_reserve((pc - (uint64_t)d) & ~0xfffffull, *size)))
				return p;
	return NULL;
}

static struct arena *arena_new(uint64_t pc)
{
	struct arena *a = &eng.arenas[eng.n_arenas];
	size_t size = ARENA_SIZE;
	uint8_t *p = NULL;

	if (eng.n_arenas == ARENAS_MAX)
		refuse("the program's code is spread too widely for the exact engine, which supports some 1,000 areas 2 GiB from each "
		       "other; one more at",
		       pc);
	/*
	 * Start as far away as a branch reaches, below first: the heap grows up from the program,
	 * and mappings grow down from the libraries, so they get the same addresses as without the
	 * engine.
	 */
	for (int64_t d = 0x40000000; !p && d > 0x4000000; d -= 0x2000000) {
		if (pc > (uint64_t)d)
			p = code_reserve((pc - (uint64_t)d) & ~0xfffffull, ARENA_SIZE);
		if (!p && pc < 0x700000000000ull)
			p = code_reserve((pc + (uint64_t)d) & ~0xfffffull, ARENA_SIZE);
	}
	if (!p)
		p = gap_below(pc, &size);
	if (!p && memory_is_out())
		refuse("the kernel gives no memory for translated code (limits on mappings, vm.max_map_count, or on memory?), wanted for the program's code at",
		       pc);
	if (!p)
		refuse("no room for translated code within 2 GiB of the program's code at", pc);
	a->start = a->hot = p;
	a->cold = a->end = p + size;
	a->blocks = reserve(ARENA_SIZE / 16 * sizeof(uint32_t));
	a->n_blocks = 0;
	a->generation = eng.generation;
	eng.used_arenas++;
	eng.n_arenas++;
	return a;
}

/* An arena near `pc` with room for a fragment. */
struct arena *arena_near(uint64_t pc)
{
	for (uint32_t i = eng.n_arenas; i-- > 0;) {
		struct arena *a = &eng.arenas[i];

		if ((a->generation && a->generation != eng.generation) || !reaches(a, pc) ||
		    a->cold - a->hot <= FRAGMENT_ROOM)
			continue;
		eng.used_arenas += !a->generation;
		a->generation = eng.generation;
		return a;
	}
	return arena_new(pc);
}

/* Could the next fragment fail to fit? */
bool cache_full(void)
{
	return eng.n_blocks - eng.first_block > BLOCKS_HALF - MARGIN ||
		eng.map_used - eng.first_map > MAP_HALF - MARGIN * 4 ||
		eng.n_edges - eng.first_edge > EDGES_HALF - MARGIN ||
		eng.used_arenas > ARENAS_MAX / 2 - 2;
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
	return arena_with((const uint8_t *)(rip ^ eng.alias));
}

/* Prefetch the table entry for `pc`, and its code, for a later lookup. */
void block_expect(uint64_t pc)
{
	__builtin_prefetch(&eng.hash[hash_of(pc, eng.hash_bits)]);
	__builtin_prefetch((const void *)pc);
}

struct block *block_find(uint64_t pc)
{
	uint32_t mask = (1u << eng.hash_bits) - 1;

	for (uint32_t h = hash_of(pc, eng.hash_bits); eng.hash[h]; h = (h + 1) & mask) {
		struct block *b;

		if (eng.hash[h] >> 32 != (uint32_t)pc || !(uint32_t)eng.hash[h])
			continue;
		b = &eng.blocks[(uint32_t)eng.hash[h]];
		if (b->pc == pc && !(b->flags & (B_DEAD | B_ONCE | B_PART)))
			return eng.n_awaited && !region_of(pc) ? NULL : b;
	}
	return NULL;
}

static void hash_put(uint64_t pc, uint32_t id)
{
	uint32_t mask = (1u << eng.hash_bits) - 1;
	uint32_t h = hash_of(pc, eng.hash_bits);

	while ((uint32_t)eng.hash[h])
		h = (h + 1) & mask;
	eng.hash_used += !eng.hash[h];
	eng.hash[h] = hash_entry(pc, id);
}

/* Its entry stays in use, so that probing continues past it, until a new block takes it. */
static void hash_remove(const struct block *b)
{
	uint32_t mask = (1u << eng.hash_bits) - 1, id = (uint32_t)(b - eng.blocks);

	for (uint32_t h = hash_of(b->pc, eng.hash_bits); eng.hash[h]; h = (h + 1) & mask)
		if ((uint32_t)eng.hash[h] == id) {
			eng.hash[h] = HASH_GONE;
			return;
		}
}

/* Rebuild the table without removed blocks; larger, if that is not enough. */
static void hash_grow(void)
{
	uint64_t *old = eng.hash, size = sizeof(uint64_t) << eng.hash_bits;

	/*
	 * Four times as large: with doubling, all tables on the way would use as much memory again
	 * as the last.
	 */
	hash_new(eng.hash_bits +
		 ((eng.n_blocks - eng.first_block - eng.dead_blocks) * 4ull > 1u << eng.hash_bits
			  ? 2
			  : 0));
	eng.hash_used = 0;
	for (uint64_t i = 0; i < size / sizeof *old; i++)
		if ((uint32_t)old[i])
			hash_put(old[i] >> 32, (uint32_t)old[i]);
	unreserve(old, size);
}

struct block *block_new(uint64_t pc)
{
	if (eng.n_blocks - eng.first_block > BLOCKS_HALF - 16 ||
	    eng.map_used - eng.first_map > MAP_HALF - 4096 ||
	    eng.n_edges - eng.first_edge > EDGES_HALF - 1024)
		refuse("the exact engine's code cache is full", pc);

	struct block *b = &eng.blocks[eng.n_blocks];

	b->pc = pc;
	b->map = eng.map_used;
	return b;
}

/* The block's code is complete: make it findable. */
void block_done(struct block *b, struct arena *a)
{
	uint32_t id = eng.n_blocks++;

	a->blocks[a->n_blocks++] = id;
	if (!(b->flags & (B_ONCE | B_COPY | B_PART))) {
		if (eng.hash_used * 2 > 1u << eng.hash_bits)
			hash_grow();
		hash_put(eng.blocks[id].pc, id);
	}
}

/*
 * The block with code at `rip`: a binary search, as an arena's blocks are in the order of
 * their numbers.
 */
struct block *block_of_code(uint64_t rip)
{
	rip ^= eng.alias;
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

/*
 * From now on indirect branches find the block: it becomes the first of its bucket. If all buckets
 * are in use, it shares one with other blocks, which pass on branches to other targets.
 */
void bucket_add(struct block *b)
{
	uint16_t *number = &eng.numbers[b->pc % NUMBERS];
	uint32_t mine = *number ? *number : b->pc % (BUCKETS - 1) + 1;
	uint64_t *link;

	if (!*number && eng.n_buckets < BUCKETS - 1) {
		mine = ++eng.n_buckets;
		eng.buckets[mine] = (uint64_t)engine_miss;
	}
	link = &eng.buckets[mine];
	*next_of(b) = *link;
	__atomic_store_n(link, runs_at(b->indirect), __ATOMIC_RELEASE);
	__atomic_store_n(number, (uint16_t)mine, __ATOMIC_RELEASE);
}

/*
 * The block's number is stored in front of its entry for indirect branches: see
 * emit_indirect_entry().
 */
static struct block *block_of_entry(uint64_t entry)
{
	uint32_t id;

	memcpy(&id, (const uint8_t *)(entry ^ eng.alias) - sizeof id, sizeof id);
	return &eng.blocks[id];
}

/*
 * Leave the bucket: the block that led here leads to the successor instead. A block that is in none
 * has no successor (0).
 */
void bucket_remove(struct block *b)
{
	uint64_t *link = &eng.buckets[eng.numbers[b->pc % NUMBERS]];

	if (!b->indirect || !*next_of(b))
		return;
	while (*link != runs_at(b->indirect) && *link != (uint64_t)engine_miss)
		link = next_of(block_of_entry(*link));
	if (*link != (uint64_t)engine_miss)
		__atomic_store_n(link, *next_of(b), __ATOMIC_RELEASE);
}

/* The block is not entered any more, but threads may still be inside. */
void block_dead(struct block *b)
{
	if (b->flags & B_DEAD)
		return;
	b->flags |= B_DEAD;
	hash_remove(b);
	eng.dead_blocks++;
	counter_free(b->counter);
	counter_free(b->fall_counter);
}

/*
 * The program's code has changed: make all branches to the block lead to the engine again, and kill
 * blocks that fall through into it.
 */
void block_kill(struct block *b)
{
	for (bool more = true; more; b--) {
		more = b->flags & B_FALLS;
		if (b->flags & B_DEAD)
			continue;
		bucket_remove(b);
		for (uint32_t e = b->incoming; e; e = eng.edges[e].next)
			if (eng.edges[e].site)
				set_rel32(eng.edges[e].site, eng.edges[e].stub);
		b->incoming = 0;
		block_dead(b);
	}
}

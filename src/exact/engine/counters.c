/* SPDX-License-Identifier: MIT */
/*
 * Counters in the shared state. When a block dies, its counter goes to the next block of the same
 * kind. Executions of either add the same, in every thread and in every process forked from this
 * program, so nothing has to be summed first. A program that generates code forever uses no more
 * counters than there are kinds of blocks.
 *
 * For the same reason, counters allocated by other processes that were forked from this program are
 * free in this one. Each thread counts in its own memory, and only two blocks of one process must
 * not share a counter. So a thousand children, sequential or concurrent, need as many counters as
 * one of them, and nothing has to be released when one ends or is killed.
 *
 * Each kind's facts are stored once in the shared state: a program has many more blocks than kinds,
 * and the shared state's pages use memory.
 */
#include "exact/engine/engine.h"

enum { KNOWN_BITS_FIRST = 11, KIND_BITS = 22 };

_Static_assert(COUNTERS_MAX <= 1u << KIND_BITS,
	       "a kind's number and some bits of its hash are one word");

/*
 * kinds, hashed by their facts, open addressing: the number in the low bits, high bits of the hash
 * above
 */
static uint32_t *known;
static uint32_t known_bits, n_known;
static uint32_t *heads; /* free counters, by kind */
static uint32_t *next;
static uint32_t n_free;
/* of the last fall-through: without a profile all are equal */
static struct block_facts fall_facts;
static uint32_t fall_kind; /* 0: none yet */
static uint32_t n_met;     /* counters below this are in use here, or in the free list */

static void known_new(uint32_t bits)
{
	known = reserve(sizeof *known << bits);
	populate(known, sizeof *known << bits);
	known_bits = bits;
}

void counters_first(void)
{
	known_new(KNOWN_BITS_FIRST);
	heads = reserve(COUNTERS_MAX * sizeof *heads);
	next = reserve(COUNTERS_MAX * sizeof *next);
}

static uint64_t mixed(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t hash_of(const struct block_facts *f)
{
	uint64_t w[4], h;

	__builtin_memcpy(w, f, sizeof w);
	h = mixed(w[0]);
	h = mixed(h ^ w[1]);
	h = mixed(h ^ w[2]);
	return mixed(h ^ w[3]);
}

static uint32_t kind_in(uint32_t entry)
{
	return entry & ((1u << KIND_BITS) - 1);
}

static uint32_t entry_of(uint32_t kind, uint64_t hash)
{
	return (uint32_t)(hash >> (32 + KIND_BITS)) << KIND_BITS | kind;
}

static void known_put(uint32_t kind, uint64_t hash)
{
	uint32_t mask = (1u << known_bits) - 1, at = (uint32_t)hash & mask;

	while (known[at])
		at = (at + 1) & mask;
	known[at] = entry_of(kind, hash);
}

static void known_grow(void)
{
	uint32_t *old = known;
	uint32_t n = 1u << known_bits;

	known_new(known_bits + 2);
	for (uint32_t i = 0; i < n; i++)
		if (old[i])
			known_put(kind_in(old[i]),
				  hash_of(&kinds_of(eng.process->lineage)[kind_in(old[i])]));
	unreserve(old, n * sizeof *old);
}

static bool same(const struct block_facts *a, const struct block_facts *b)
{
	uint64_t x[4], y[4];

	__builtin_memcpy(x, a, sizeof x);
	__builtin_memcpy(y, b, sizeof y);
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]));
}

static void __attribute__((noreturn)) used_up(void)
{
	refuse("the exact engine's block counters are used up: the program, with what it has forked, contains more code than the "
	       "3.6 million that exist can count; count its parts as separate commands",
	       0);
}

static uint32_t new_kind(const struct block_facts *f)
{
	uint32_t kind = __atomic_add_fetch(&eng.shared->lineage_kinds[eng.process->lineage], 1,
					   __ATOMIC_RELAXED);

	if (kind >= COUNTERS_MAX)
		used_up();
	kinds_of(eng.process->lineage)[kind] = *f;
	return kind;
}

/* The known kind with these facts; 0: none. */
static uint32_t known_kind(const struct block_facts *f, uint64_t hash)
{
	const struct block_facts *kinds = kinds_of(eng.process->lineage);
	uint32_t mask = (1u << known_bits) - 1;

	for (uint32_t at = (uint32_t)hash & mask; known[at]; at = (at + 1) & mask)
		if (known[at] == entry_of(kind_in(known[at]), hash) &&
		    same(&kinds[kind_in(known[at])], f))
			return kind_in(known[at]);
	return 0;
}

static uint32_t know(uint32_t kind, uint64_t hash)
{
	if (++n_known * 2 > 1u << known_bits)
		known_grow();
	known_put(kind, hash);
	return kind;
}

/*
 * Processes forked from one exec append to the same list of kinds. If two append at once, a kind
 * may appear twice. In a profile each block is a kind of its own, and kinds are searched only where
 * a counter may be free.
 */
static uint32_t kind_of(const struct block_facts *f)
{
	uint64_t hash;
	uint32_t kind;

	if ((eng.mode & COUNT_PROFILE) && !n_free)
		return new_kind(f);
	if (fall_kind && same(f, &fall_facts))
		return fall_kind;
	hash = hash_of(f);
	kind = known_kind(f, hash);
	if (!kind)
		kind = know(new_kind(f), hash);
	if (f->adds[EXACT_TAKEN] == 0xff) {
		fall_kind = kind;
		fall_facts = *f;
	}
	return kind;
}

/*
 * The mapping is needed only for a profile; part of a block loses it, too, when counters run short.
 */
static struct block_facts as_kept(struct block_facts f, uint32_t used)
{
	if (!(eng.mode & COUNT_PROFILE)) {
		f.pc = 0;
		f.size = 0;
	} else if (used > COUNTERS_MAX / 4 * 3) {
		f.pc = 0;
		f.mapping = MAPPING_UNKNOWN;
	}
	return f;
}

/*
 * `kind` may include COUNTER_APART. Once its number is stored, other threads may read what the kind
 * adds.
 */
static unsigned new_counter(uint32_t kind)
{
	uint32_t i = __atomic_fetch_add(&eng.shared->lineage_top[eng.process->lineage], 1,
					__ATOMIC_RELAXED);

	if (i >= COUNTERS_MAX)
		used_up();
	__atomic_store_n(&kind_numbers(eng.process->lineage)[i], kind, __ATOMIC_RELEASE);
	return i;
}

/* A counter for facts `f`, with a kind of its own, never reused. Called without the lock. */
unsigned counter_apart(const struct block_facts *f)
{
	return new_counter(new_kind(f) | COUNTER_APART);
}

static void put_free(unsigned i)
{
	const struct block_facts f = *facts_of(eng.process->lineage, i);
	uint64_t hash = hash_of(&f);
	uint32_t kind = known_kind(&f, hash);

	if (!kind) {
		kind = __atomic_load_n(&kind_numbers(eng.process->lineage)[i], __ATOMIC_RELAXED);
		if (kind >= COUNTERS_MAX)
			refuse_overwritten();
		know(kind, hash);
	}
	next[i] = heads[kind];
	heads[kind] = i;
	n_free++;
}

/*
 * Counters below `top` that this process has not seen belong to another process and are free here.
 * The lowest is taken first, so children that execute the same code take the same counters in the
 * same order. A counter without a kind is being created, or its process was killed meanwhile: it is
 * skipped.
 */
static void meet(uint32_t top)
{
	for (uint32_t i = top; i-- > n_met;) {
		uint32_t kind = __atomic_load_n(&kind_numbers(eng.process->lineage)[i],
						__ATOMIC_ACQUIRE);

		if (kind && !(kind & COUNTER_APART))
			put_free(i);
	}
	n_met = top;
}

/* Called before a fork, so that no child has to repeat the work. Needs the lock. */
void counters_meet(void)
{
	uint32_t top = eng.shared->lineage_top[eng.process->lineage];

	if (top > n_met)
		meet(top < COUNTERS_MAX ? top : COUNTERS_MAX);
}

/* Counters below this are in use in this process, or free. */
uint32_t counters_met(void)
{
	return n_met;
}

/*
 * The process begins with the code of another one of its lineage, which uses counters below `met`.
 * Those of them that are free are not used.
 */
void counters_from(uint32_t met)
{
	uint32_t kinds = eng.shared->lineage_kinds[eng.process->lineage];

	n_met = met;
	for (uint32_t kind = 1; kind <= kinds && kind < COUNTERS_MAX; kind++)
		know(kind, hash_of(&kinds_of(eng.process->lineage)[kind]));
}

/* A counter for facts `f`. Needs the lock. */
unsigned counter_for(const struct block_facts *f)
{
	struct block_facts kept = as_kept(*f, eng.shared->lineage_top[eng.process->lineage]);
	uint32_t kind, i;

	counters_meet();
	kind = kind_of(&kept);
	if (!n_free || !heads[kind]) {
		i = new_counter(kind);
		meet(i);
		n_met = i + 1;
		return i;
	}
	i = heads[kind];
	heads[kind] = next[i];
	n_free--;
	return i;
}

/* Its block is not executed any more, or was made for a single execution. */
void counter_free(unsigned i)
{
	if (i) /* 0 means none here */
		put_free(i);
}

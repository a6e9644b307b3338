/* SPDX-License-Identifier: MIT */
/*
 * The hash of a thread's path: it depends on the order, and not on how the path was divided. The
 * emitted code is executed.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <asm/prctl.h>
#include "base/error.h"
#include "exact/engine/emit.c"
#include "exact/engine/path.c"
#include "tap.h"

/* Symbols that emit.c needs from the rest of the engine; none is used here. */
struct engine eng;

struct block *block_find(uint64_t pc)
{
	(void)pc;
	abort();
}

struct arena *arena_near(uint64_t pc)
{
	(void)pc;
	abort();
}

struct arena *arena_with(const uint8_t *code)
{
	(void)code;
	abort();
}

void *code_memory(size_t size)
{
	(void)size;
	abort();
}

void bucket_add(struct block *b)
{
	(void)b;
	abort();
}

/* `n` instructions of 4 bytes from `pc`; the last one branches. */
struct run {
	uint64_t pc;
	unsigned n;
	bool branches;
};

static uint64_t way(const struct run *runs, size_t n)
{
	struct thread t = { 0 };

	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < runs[i].n; k++) {
			struct insn in = { .kind = runs[i].branches && k + 1 == runs[i].n
						   ? K_JCC
						   : K_PLAIN };

			path_add(&t, &in, runs[i].pc + 4ull * k);
		}
	return t.path;
}

static const struct run A = { 0x401000, 3, true }, B = { 0x401040, 5, true },
			C = { 0x7ffff7a01230, 1, true };

TEST(other_orders_differ)
{
	const struct run orders[][6] = {
		{ A, A, B, B, C, C }, { A, B, A, B, C, C }, { A, B, B, A, C, C },
		{ B, A, A, B, C, C }, { B, B, A, A, C, C }, { C, C, A, A, B, B },
		{ A, B, C, A, B, C }, { C, B, A, C, B, A }, { A, C, B, A, C, B },
		{ B, A, C, C, A, B }, { A, B, C, C, B, A }, { B, C, A, B, C, A },
	};

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		for (size_t k = 0; k < i; k++)
			CHECK(way(orders[i], 6) != way(orders[k], 6), "orders %zu and %zu", i, k);
}

/* All sequences of two steps, 16 long, have different hashes. */
TEST(all_short_ways_differ)
{
	enum { STEPS = 16 };
	static uint64_t seen[1 << STEPS];

	for (unsigned bits = 0; bits < 1u << STEPS; bits++) {
		struct run runs[STEPS];

		for (unsigned i = 0; i < STEPS; i++)
			runs[i] = bits >> i & 1 ? A : B;
		seen[bits] = way(runs, STEPS);
	}
	/* bit by bit: two paths that differ only in it, and in it and the next */
	for (unsigned n = 1 << (STEPS - 1); n; n /= 2)
		for (unsigned bits = 0; bits < 1u << STEPS; bits++)
			CHECK(seen[bits] != seen[bits ^ n] && seen[bits] != seen[bits ^ n ^ n / 2],
			      "%#x and bit %#x", bits, n);
}

TEST(another_length_differs)
{
	const struct run loop[] = { A, B, B, B, B, C };

	for (size_t n = 1; n < ARRAY_SIZE(loop); n++)
		CHECK(way(loop, n) != way(loop, n + 1), "%zu steps", n);
	CHECK(way((struct run[]){ A, C }, 2) != way((struct run[]){ A, B, C }, 3),
	      "a step left out");
}

/* Straight code has the same hash in one piece or in several; with a branch in it, another hash. */
TEST(cut_anywhere_it_is_the_same)
{
	uint64_t whole = way((struct run[]){ A, { 0x402000, 12, true }, B }, 3);

	for (unsigned cut = 1; cut < 12; cut++) {
		CHECK_EQ(way((struct run[]){ A,
					     { 0x402000, cut, false },
					     { 0x402000 + 4 * cut, 12 - cut, true },
					     B },
			     4),
			 whole, "cut at %u", cut);
		CHECK(way((struct run[]){ A,
					  { 0x402000, cut, true },
					  { 0x402000 + 4 * cut, 12 - cut, true },
					  B },
			  4) != whole,
		      "branch at %u", cut);
	}
}

TEST(what_is_taken_back_was_never_added)
{
	static const uint8_t kinds[] = { K_PLAIN, K_JCC, K_RET, K_SYSCALL, K_PLAIN };
	struct thread t = { .path = 0x123456789abcdef };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		path_add(&t, &(struct insn){ .kind = kinds[i] }, 0x401000 + i);
	for (size_t i = ARRAY_SIZE(kinds); i-- > 0;)
		path_take_back(&t, &(struct insn){ .kind = kinds[i] }, 0x401000 + i);
	CHECK_EQ(t.path, 0x123456789abcdef, "path");
}

enum { FLAGS = 0x8d5 /* all six */, RCX_BEFORE = 0x1234 };

struct after {
	uint64_t flags, rcx;
};

/* Execute code that ends in a return, with all six flags set. */
static struct after execute(const uint8_t *code)
{
	struct after a = { .rcx = RCX_BEFORE };

	__asm__ volatile(
		"sub $128, %%rsp; pushq %3; popfq; call *%2; pushfq; popq %0; add $128, %%rsp"
		: "=&r"(a.flags), "+c"(a.rcx)
		: "r"(code), "i"(FLAGS | 2)
		: "cc", "memory");
	return a;
}

/* The emitted code adds what the instructions add, and preserves flags and registers. */
TEST(emitted_code_adds_the_same)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	struct thread t = { 0 };

	CHECK(code != MAP_FAILED, "memory");
	CHECK_EQ(syscall(SYS_arch_prctl, ARCH_SET_GS, &t), 0, "gs");
	for (unsigned n = 1; n <= BLOCK_INSNS; n++)
		for (unsigned branch = 0; branch < 2; branch++) {
			struct insn insns[BLOCK_INSNS] = { 0 };
			struct thread by_steps = { .path = n * 0x9e3779b97f4a7c15ull };
			uint64_t pcs[BLOCK_INSNS];
			struct after a;

			for (unsigned i = 0; i < n; i++) {
				insns[i].kind = branch && i + 1 == n ? K_CALL : K_PLAIN;
				pcs[i] = 0x7ffff7c00000 + 61ull * n + 5 * i;
				/* for instructions other than branches this is a sum */
				path_add(&by_steps, &insns[i], pcs[i]);
			}
			t.path = n * 0x9e3779b97f4a7c15ull;
			*emit_path(code, insns, pcs, n) = 0xc3; /* ret */
			CHECK_EQ(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0, "mprotect");
			a = execute(code);
			CHECK_EQ(mprotect(code, 4096, PROT_READ | PROT_WRITE), 0, "mprotect");
			CHECK_EQ(t.path, by_steps.path, "%u instructions, %u", n, branch);
			CHECK_EQ(a.flags & FLAGS, FLAGS, "%u instructions, %u", n, branch);
			CHECK_EQ(a.rcx, RCX_BEFORE, "%u instructions, %u", n, branch);
		}
}

TEST_MAIN()

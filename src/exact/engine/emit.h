/* SPDX-License-Identifier: MIT */
/* Functions that emit code: see emit.c. */
#ifndef EXACT_EMIT_H
#define EXACT_EMIT_H

#include "exact/engine/engine.h"

#pragma GCC visibility push(hidden)

uint8_t *put32(uint8_t *p, uint32_t v);
uint8_t *put64(uint8_t *p, uint64_t v);
uint8_t *gs_load(uint8_t *p, unsigned r, uint32_t disp);
uint8_t *gs_store(uint8_t *p, unsigned r, uint32_t disp);
uint8_t *gs_jump(uint8_t *p, uint32_t disp);
uint8_t *lea_rip(uint8_t *p, unsigned r, uint64_t to);
uint8_t *count_both(uint8_t *p, bool flags_free, unsigned r, unsigned n, unsigned counter);
uint8_t *count_here(uint8_t *p, bool flags_free, unsigned n, unsigned counter);
uint8_t *jump_to(struct arena *a, uint8_t *p, unsigned condition, uint64_t target);
uint8_t *jump_back(struct arena *a, uint8_t *p, unsigned condition, struct block *b);
uint8_t *emit_bucket_jump(uint8_t *p);
uint8_t *jump_out(struct arena *a, uint8_t *p, unsigned condition, uint64_t target);
uint8_t *emit_turn(struct arena *a, uint8_t *p, uint64_t pc, bool flags_free);
uint8_t *emit_period(struct arena *a, uint8_t *p, const struct block *b, bool flags_free,
		     bool check);
uint8_t *emit_path(uint8_t *p, const struct insn *insns, const uint64_t *pcs, unsigned n);
uint64_t operand_address(const struct insn *in, uint64_t pc);
uint8_t *emit_relative(uint8_t *p, const struct insn *in, uint64_t pc, uint8_t *displaced);
uint8_t *load_target(uint8_t *p, const struct insn *in, uint64_t pc);
uint8_t *emit_indirect_entry(struct block *b, struct arena *a, uint8_t *p);

static inline uint8_t *put_bytes(uint8_t *p, const void *bytes, unsigned n)
{
	const uint8_t *b = bytes;

	/*
	 * Two overlapping moves: an instruction has at most 15 bytes, and a loop over bytes is
	 * slow.
	 */
	if (n >= 8 && n <= 16) {
		uint64_t first, last;

		__builtin_memcpy(&first, b, 8);
		__builtin_memcpy(&last, b + n - 8, 8);
		__builtin_memcpy(p, &first, 8);
		__builtin_memcpy(p + n - 8, &last, 8);
		return p + n;
	}
	if (n >= 4 && n < 8) {
		uint32_t first, last;

		__builtin_memcpy(&first, b, 4);
		__builtin_memcpy(&last, b + n - 4, 4);
		__builtin_memcpy(p, &first, 4);
		__builtin_memcpy(p + n - 4, &last, 4);
		return p + n;
	}
	if (n < 4 && n) { /* two overlapping moves */
		uint8_t first = b[0], middle = b[n / 2], last = b[n - 1];

		p[0] = first;
		p[n / 2] = middle;
		p[n - 1] = last;
		return p + n;
	}
	while (n--)
		*p++ = *b++;
	return p;
}

/*
 * Copy a plain instruction. May write more bytes than its length; code emitted after it overwrites
 * them.
 */
static inline uint8_t *emit_plain(uint8_t *p, const struct insn *in, uint64_t pc,
				  uint8_t *displaced)
{
	uint64_t first, last;

	if (insn_rip_relative(in))
		return emit_relative(p, in, pc, displaced);
	if (pc % PAGE > PAGE - 16) /* the next page may not be readable */
		return put_bytes(p, (const void *)pc, in->len);
	__builtin_memcpy(&first, (const void *)pc, 8);
	__builtin_memcpy(&last, (const uint8_t *)pc + 8, 8);
	__builtin_memcpy(p, &first, 8);
	__builtin_memcpy(p + 8, &last, 8);
	return p + in->len;
}

/*
 * Flags that counting clobbers: `inc` preserves the carry, `add` (of the running count) does not.
 */
static inline unsigned count_changes(void)
{
	return eng.mode & COUNT_RUNNING ? F_ALL : F_ALL & ~F_CF;
}

#define PUT(p, ...)                                                                                \
	do {                                                                                       \
		static const uint8_t put_[] = { __VA_ARGS__ };                                     \
		__builtin_memcpy((p), put_, sizeof put_);                                          \
		(p) += sizeof put_;                                                                \
	} while (0)

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The exact profile: how often each block of code was executed, kept by the module it came from and
 *where it lies there, so that it outlives the mapping. A thread's counts go to its lineage when it
 *ends; a lineage's to the board's list of code when its last process is gone:
 *
 *	thread counters -> lineage sums -> code_sum { module, offset, size } += executions
 *
 * The list grows with the code executed, not with processes or time.
 */
#include <stdlib.h>
#include <string.h>
#include "exact/adds.h"
#include "exact/decode.h"
#include "exact/supervisor.h"
#include "exact/thread.h"

void profile_thread(struct board *b, uint32_t lineage, uint32_t thread)
{
	uint8_t *slot = board_thread(b, thread);
	const volatile uint64_t *counters = (const volatile uint64_t *)(slot + THREAD_COUNTERS);
	volatile uint64_t *sums = board_sums(b, lineage);
	uint32_t top = b->lineage_top[lineage];

	for (uint32_t i = 0; i < top && i < COUNTERS_MAX; i++)
		if (counters[i])
			__atomic_fetch_add(&sums[i], counters[i], __ATOMIC_RELAXED);
	__atomic_fetch_add(&b->unplaced, ((const struct thread *)slot)->settled[EXACT_INSTRUCTIONS],
			   __ATOMIC_RELAXED);
}

/* What a counter's `n` means for the profile; false when it counts no instructions and no branches that were not taken. */
static bool place(struct board *b, const struct block_facts *f, uint64_t n, struct code_sum *out)
{
	uint32_t number = f->mapping < b->n_mappings ? f->mapping : MAPPING_UNKNOWN;
	const struct mapping *m = board_mapping(b, number);

	*out = (struct code_sum){ .executions = (int64_t)n, .module = m->module };
	if (!n || (!f->adds[EXACT_INSTRUCTIONS] && !f->adds[EXACT_TAKEN]))
		return false;
	out->instructions = f->adds[EXACT_INSTRUCTIONS];
	if (out->instructions)
		memcpy(out->adds, f->adds, sizeof out->adds);
	if (m->start) {
		out->offset = f->pc - m->start + m->offset;
		out->size = f->size;
	}
	return true;
}

/* ---- in the supervisor ---- */

/* Finds code on the board; grows. The board has `n` for tare; there it could be changed. */
static struct {
	uint32_t *slot; /* number + 1 */
	unsigned bits;
	uint32_t n;
} known;

static uint64_t hash(const struct code_sum *c)
{
	uint64_t h = c->offset * 0x9e3779b97f4a7c15ull ^
		     ((uint64_t)c->module << 32 | c->size << 16 | c->instructions);

	for (int i = 0; i < EXACT_CLASSES; i++)
		h = h * 0x100000001b3ull + c->adds[i];
	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull;
}

static bool same_code(const struct code_sum *a, const struct code_sum *b)
{
	return a->offset == b->offset && a->module == b->module && a->size == b->size &&
	       !memcmp(a->adds, b->adds, sizeof a->adds);
}

static bool grow(struct board *b)
{
	unsigned bits = known.bits ? known.bits + 1 : 12;
	uint32_t *slot = calloc((size_t)1 << bits, sizeof *slot), mask = (1u << bits) - 1;

	if (!slot)
		return false;
	for (uint32_t i = 0; i < known.n; i++) {
		uint32_t h = (uint32_t)(hash(board_code(b, i)) >> 32) & mask;

		while (slot[h])
			h = (h + 1) & mask;
		slot[h] = i + 1;
	}
	free(known.slot);
	known.slot = slot;
	known.bits = bits;
	return true;
}

static void put(struct board *b, const struct code_sum *c)
{
	uint32_t h, mask;

	if ((!known.bits || known.n >= 1u << (known.bits - 1)) && !grow(b) && !known.bits)
		goto full;
	mask = (1u << known.bits) - 1;
	for (h = (uint32_t)(hash(c) >> 32) & mask; known.slot[h]; h = (h + 1) & mask) {
		struct code_sum *old = board_code(b, known.slot[h] - 1);

		if (same_code(old, c)) {
			old->executions += c->executions;
			return;
		}
	}
	if (known.n == CODE_MAX || known.n + 1 >= 1u << known.bits)
		goto full;
	*board_code(b, known.n) = *c;
	known.slot[h] = b->n_code = ++known.n;
	return;
full:
	__atomic_fetch_add(&b->unplaced, c->executions * c->instructions, __ATOMIC_RELAXED);
}

void profile_lineage(struct board *b, uint32_t lineage)
{
	const volatile uint64_t *sums = board_sums(b, lineage);
	uint32_t top = b->lineage_top[lineage];
	struct code_sum c;

	for (uint32_t i = 0; i < top && i < COUNTERS_MAX; i++)
		if (place(b, board_facts(b, lineage, i), sums[i], &c))
			put(b, &c);
}

/* ---- in tare ---- */

static int copy_modules(struct board *b, struct exact_profile *out, struct tare_error *err)
{
	uint32_t n = b->n_modules;

	out->module = calloc(n + 1u, sizeof *out->module);
	for (uint32_t i = 0; out->module && i < n; i++) {
		const struct module *m = board_module(b, i);

		out->module[i] = (struct exact_module){ (enum exact_module_kind)m->kind,
							m->elsewhere,
							m->size,
							m->mtime_s,
							m->mtime_ns,
							strdup(m->path) };
		if (!out->module[i].path)
			break;
		out->n_modules++;
	}
	return out->n_modules == n && out->module ? 0 : tare_fail_nomem(err);
}

static int append(struct exact_profile *out, size_t *room, const struct code_sum *c,
		  struct tare_error *err)
{
	if (out->n_code == *room) {
		size_t more = *room ? *room * 2 : 1024;
		struct exact_code *code = realloc(out->code, more * sizeof *code);

		if (!code)
			return tare_fail_nomem(err);
		out->code = code;
		*room = more;
	}
	out->code[out->n_code] = (struct exact_code){ c->offset, c->executions, c->module, c->size, c->instructions, { 0 } };
	memcpy(out->code[out->n_code++].adds, c->adds, sizeof c->adds);
	return 0;
}

static int append_counters(struct board *b, struct exact_profile *out, size_t *room,
			   uint32_t lineage, const volatile uint64_t *counters,
			   struct tare_error *err)
{
	uint32_t top = b->lineage_top[lineage];
	struct code_sum c;
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < top && i < COUNTERS_MAX; i++)
		if (place(b, board_facts(b, lineage, i), counters[i], &c))
			ret = append(out, room, &c, err);
	return ret;
}

int profile_gather(struct board *b, struct exact_profile *out, struct tare_error *err)
{
	size_t room = 0;
	int ret = copy_modules(b, out, err);

	out->unplaced = b->unplaced;
	for (uint32_t i = 0; ret == 0 && i < b->n_code; i++)
		ret = append(out, &room, board_code(b, i), err);
	/* What still runs. */
	for (uint32_t i = 0; ret == 0 && i < LINEAGES; i++)
		if (b->lineage_users[i])
			ret = append_counters(b, out, &room, i, board_sums(b, i), err);
	for (uint32_t i = 0; ret == 0 && i < board_threads(b); i++) {
		uint8_t *slot = board_thread(b, i);

		if (b->thread_states[i] != THREAD_LIVE)
			continue;
		out->unplaced += ((const struct thread *)slot)->settled[EXACT_INSTRUCTIONS];
		ret =
		    append_counters(b, out, &room, board_process(b, thread_process(b, i))->lineage,
				    (const volatile uint64_t *)(slot + THREAD_COUNTERS), err);
	}
	return ret;
}

size_t exact_lengths(const uint8_t *code, size_t size, uint8_t *length, size_t n)
{
	size_t found = 0;

	for (size_t at = 0; at < size; at += length[found++]) {
		struct insn in;

		if (found == n || !insn_decode(&in, code + at, size - at))
			return 0;
		length[found] = in.len;
	}
	return found;
}

size_t exact_adds(const uint8_t *code, size_t size, uint8_t adds[EXACT_CLASSES])
{
	struct insn in;

	memset(adds, 0, EXACT_CLASSES);
	if (!insn_decode(&in, code, size))
		return 0;
	insn_adds(adds, &in);
	return in.len;
}

bool exact_effects(const uint8_t *code, size_t size, struct exact_effects *out)
{
	struct insn in;

	if (!insn_decode(&in, code, size))
		return false;
	*out = (struct exact_effects){ .loads = in.loads,
				       .stores = in.stores,
				       .branches = in.kind >= K_JCC && in.kind <= K_RET,
				       .string = in.bits & R_STRING,
				       .writes_flags = in.writes,
				       .other_registers = in.bits & (R_X87 | R_MMX) };
	return true;
}

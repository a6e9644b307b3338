/* SPDX-License-Identifier: MIT */
/*
 * The exact profile: how often each block of code was executed, by module and offset, so that the
 * profile outlives the mapping. A thread's counts go to its lineage when it ends; a lineage's to
 * the shared state's list of code when its last process is gone:
 *
 *	thread counters -> lineage sums -> code_sum { module, offset, size } += executions
 *
 * The list grows with the code executed, not with processes or time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "exact/adds.h"
#include "exact/decode/decode.h"
#include "exact/supervisor.h"
#include "exact/thread.h"

void profile_thread(struct shared_state *b, int fd, uint32_t lineage, uint32_t thread)
{
	uint8_t *slot = shared_thread(b, thread);
	const volatile uint64_t *counters = (const volatile uint64_t *)(slot + THREAD_COUNTERS);
	volatile uint64_t *sums = shared_sums(b, lineage);
	const uint64_t at = (uint64_t)(slot - (uint8_t *)b) + THREAD_COUNTERS;
	uint32_t top = lineage_counters(b, lineage), end;

	for (uint32_t i = data_from(fd, at, 0, top, &end); i < top;
	     i = data_from(fd, at, end, top, &end))
		for (; i < end; i++) {
			uint64_t n = counters[i];

			if (n)
				__atomic_fetch_add(&sums[i], n, __ATOMIC_RELAXED);
		}
	__atomic_fetch_add(&b->unplaced, ((const struct thread *)slot)->settled[EXACT_INSTRUCTIONS],
			   __ATOMIC_RELAXED);
}

/*
 * Translate `n` executions of a counter to an entry of the profile; false if it counts neither
 * instructions nor branches that were not taken.
 */
static bool place(struct shared_state *b, const struct block_facts *facts, uint64_t n,
		  struct code_sum *out)
{
	uint32_t mappings = b->n_mappings;
	struct block_facts f;
	struct mapping m;

	if (!n)
		return false;
	copy_once(&f, facts, sizeof f);
	copy_once(&m, shared_mapping(b, f.mapping < mappings ? f.mapping : MAPPING_UNKNOWN),
		  sizeof m);
	*out = (struct code_sum){ .executions = (int64_t)n, .module = m.module };
	if (!f.adds[EXACT_INSTRUCTIONS] && !f.adds[EXACT_TAKEN])
		return false;
	out->instructions = f.adds[EXACT_INSTRUCTIONS];
	if (out->instructions)
		memcpy(out->adds, f.adds, sizeof out->adds);
	if (m.start) {
		out->offset = f.pc - m.start + m.offset;
		out->size = f.size;
	}
	return true;
}

/* ---- in the supervisor ---- */

/*
 * A hash index of the code in the shared state; grows. `n` is a private copy of the shared state's
 * number, which could be changed there.
 */
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

static bool grow(struct shared_state *b)
{
	unsigned bits = known.bits ? known.bits + 1 : 12;
	uint32_t *slot = calloc((size_t)1 << bits, sizeof *slot), mask = (1u << bits) - 1;

	if (!slot)
		return false;
	for (uint32_t i = 0; i < known.n; i++) {
		uint32_t h = (uint32_t)(hash(shared_code(b, i)) >> 32) & mask;

		while (slot[h])
			h = (h + 1) & mask;
		slot[h] = i + 1;
	}
	free(known.slot);
	known.slot = slot;
	known.bits = bits;
	return true;
}

static void put_sum(struct shared_state *b, const struct code_sum *c)
{
	uint32_t h, mask;

	if ((!known.bits || known.n >= 1u << (known.bits - 1)) && !grow(b) && !known.bits)
		goto full;
	mask = (1u << known.bits) - 1;
	for (h = (uint32_t)(hash(c) >> 32) & mask; known.slot[h]; h = (h + 1) & mask) {
		struct code_sum *old = shared_code(b, known.slot[h] - 1);

		if (same_code(old, c)) {
			old->executions = (int64_t)((uint64_t)old->executions +
						    (uint64_t)c->executions);
			return;
		}
	}
	if (known.n == CODE_MAX || known.n + 1 >= 1u << known.bits)
		goto full;
	*shared_code(b, known.n) = *c;
	known.slot[h] = b->n_code = ++known.n;
	return;
full:
	__atomic_fetch_add(&b->unplaced, (int64_t)((uint64_t)c->executions * c->instructions),
			   __ATOMIC_RELAXED);
}

void profile_lineage(struct shared_state *b, int fd, uint32_t lineage)
{
	const volatile uint64_t *sums = shared_sums(b, lineage);
	const uint64_t at = (uint64_t)((const uint8_t *)sums - (uint8_t *)b);
	uint32_t top = lineage_counters(b, lineage), kinds = lineage_facts(fd, lineage), end;
	struct code_sum c;

	for (uint32_t i = data_from(fd, at, 0, top, &end); i < top;
	     i = data_from(fd, at, end, top, &end))
		for (; i < end; i++) {
			const struct block_facts *f = shared_facts(b, lineage, i, kinds);

			if (f && place(b, f, sums[i], &c))
				put_sum(b, &c);
		}
}

/* ---- in tare ---- */

struct gathering {
	struct shared_state *b;
	int fd;
	struct exact_profile *out;
	struct tare_error *err;
	size_t room;
	uint64_t executions;
};

static int copy_modules(struct shared_state *b, struct exact_profile *out, struct tare_error *err)
{
	uint32_t n = b->n_modules;
	struct module m;

	if (n > MODULES_MAX)
		return -EBADMSG;
	out->module = calloc((size_t)n + 1, sizeof *out->module);
	for (uint32_t i = 0; out->module && i < n; i++) {
		copy_once(&m, shared_module(b, i), sizeof m);
		if (m.kind > EXACT_UNKNOWN || !memchr(m.path, 0, sizeof m.path))
			return -EBADMSG;
		out->module[i] = (struct exact_module){ (enum exact_module_kind)m.kind,
							m.elsewhere,
							m.size,
							m.mtime_s,
							m.mtime_ns,
							strdup(m.path) };
		if (!out->module[i].path)
			break;
		out->n_modules++;
	}
	return out->n_modules == n && out->module ? 0 : tare_fail_nomem(err);
}

/* Bounds the values, so that executions times what they add, summed up, do not overflow. */
static bool makes_sense(struct gathering *g, const struct code_sum *c)
{
	uint64_t times = c->executions < 0 ? 0 - (uint64_t)c->executions : (uint64_t)c->executions;

	return c->instructions <= UINT8_MAX && !(times >> EXECUTIONS_BITS) &&
		!((g->executions += times) >> EXECUTIONS_BITS);
}

static int append(struct gathering *g, const struct code_sum *c)
{
	struct exact_profile *out = g->out;

	if (!makes_sense(g, c))
		return -EBADMSG;
	if (c->module >= out->n_modules)
		return c->module < g->b->n_modules ? -EAGAIN : -EBADMSG;
	if (!array_reserve(&out->code, &g->room, out->n_code + 1, sizeof(*out->code)))
		return tare_fail_nomem(g->err);
	out->code[out->n_code] = (struct exact_code){ c->offset, c->executions,   c->module,
						      c->size,   c->instructions, { 0 } };
	memcpy(out->code[out->n_code++].adds, c->adds, sizeof c->adds);
	return 0;
}

/* Append the counters of the lineage at offset `at` of the shared state. */
static int append_counters(struct gathering *g, uint32_t lineage, uint64_t at)
{
	const volatile uint64_t *counters = (const volatile uint64_t *)((const uint8_t *)g->b + at);
	uint32_t top = lineage_counters(g->b, lineage), kinds = lineage_facts(g->fd, lineage), end;
	struct code_sum c;
	int ret = 0;

	for (uint32_t i = data_from(g->fd, at, 0, top, &end); ret == 0 && i < top;
	     i = data_from(g->fd, at, end, top, &end))
		for (; ret == 0 && i < end; i++) {
			uint64_t n = counters[i];
			const struct block_facts *f = n ? shared_facts(g->b, lineage, i, kinds)
							: NULL;

			if (n && !f)
				ret = -EBADMSG;
			else if (n && place(g->b, f, n, &c))
				ret = append(g, &c);
		}
	return ret;
}

static int append_ended(struct gathering *g)
{
	uint32_t n = g->b->n_code;
	struct code_sum c;
	int ret = n > CODE_MAX ? -EBADMSG : 0;

	for (uint32_t i = 0; ret == 0 && i < n; i++) {
		copy_once(&c, shared_code(g->b, i), sizeof c);
		ret = append(g, &c);
	}
	return ret;
}

static int append_thread(struct gathering *g, uint32_t i)
{
	const uint8_t *slot = shared_thread(g->b, i);
	int64_t settled = READ_ONCE(((const struct thread *)slot)->settled[EXACT_INSTRUCTIONS]);

	if (__builtin_add_overflow(g->out->unplaced, settled, &g->out->unplaced))
		return -EBADMSG;
	return append_counters(g, READ_ONCE(shared_process(g->b, thread_process(g->b, i))->lineage),
			       (uint64_t)(slot - (const uint8_t *)g->b) + THREAD_COUNTERS);
}

int profile_gather(struct shared_state *b, int fd, struct exact_profile *out,
		   struct tare_error *err)
{
	struct gathering g = { .b = b, .fd = fd, .out = out, .err = err };
	int ret = copy_modules(b, out, err);

	out->unplaced = READ_ONCE(b->unplaced);
	if (ret == 0)
		ret = append_ended(&g);
	/* Processes that still run. */
	for (uint32_t i = 0; ret == 0 && i < LINEAGES; i++)
		if (b->lineage_users[i])
			ret = append_counters(&g, i,
					      SHARED_BLOCKS + i * LINEAGE_STRIDE + LINEAGE_SUMS);
	for (uint32_t i = 0; ret == 0 && i < shared_threads(b); i++)
		if (b->thread_states[i] == THREAD_LIVE)
			ret = append_thread(&g, i);
	if (ret == 0 &&
	    (out->unplaced >> EXECUTIONS_BITS > 0 || out->unplaced < -(1ll << EXECUTIONS_BITS)))
		ret = -EBADMSG;
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

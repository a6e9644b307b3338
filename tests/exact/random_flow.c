/* SPDX-License-Identifier: MIT */
/* Control flow of random sequences: every branch and loop terminates by construction. */
#include "random_maker.h"

#include <string.h>

/*
 * Code that a jump may or may not skip: afterwards, flags are undefined if one of the two ways
 * leaves them undefined.
 */
static void skipped(struct maker *m, uint8_t *rel, unsigned size)
{
	unsigned before = m->undefined;
	uint8_t *start = m->p;

	m->depth++;
	elements(m, 3);
	m->depth--;
	m->undefined |= before;

	int64_t distance = m->p - start;

	if (size == 1 && distance > 127) { /* too far for a short jump: skip nothing instead */
		*rel = 0;
		return;
	}
	memcpy(rel, &distance, size);
}

void forward(struct maker *m)
{
	unsigned kind = below(m, 20);

	if (kind < 16 && m->undefined)
		define_flags(m);
	if (kind < 16 && chance(m, 50)) {
		PUT(m, 0x0f, 0x80 | kind);
		m->p += 4;
		skipped(m, m->p - 4, 4);
		return;
	}
	if (kind >= 18) {
		put1(m, 0xe9);
		m->p += 4;
		skipped(m, m->p - 4, 4);
		return;
	}
	if (kind == 17)
		put1(m, 0x67); /* jecxz */
	put1(m, kind < 16 ? 0x70 | kind : 0xe3);
	m->p++;
	skipped(m, m->p - 1, 1);
}

/* A loop with a counter in memory, or in rcx. */
void loop(struct maker *m)
{
	unsigned saved = m->keep, slot = COUNTERS + 8 * (unsigned)m->counters++;
	unsigned rounds = 1 + below(m, 5);
	bool by_rcx = !(m->keep & 2) && chance(m, 50);

	if (by_rcx) {
		set_register(m, 1, rounds);
		m->keep |= 2;
	} else {
		PUT(m, 0xc7, 0x04, 0x25);
		put4(m, slot);
		put4(m, rounds);
	}
	m->undefined = ARITH; /* the flags after the body are not known yet */

	uint8_t *top = m->p;

	m->depth++;
	elements(m, 3);
	m->depth--;

	unsigned kind = by_rcx ? below(m, 3) : 0;

	if (by_rcx) {
		if (kind && m->undefined)
			define_flags(m);
		if (m->p - top > 120) { /* too far for loop: execute it once */
			m->keep = saved;
			return;
		}
		PUT(m, 0xe2 - kind, 0);
		m->p[-1] = (uint8_t)(top - m->p);
	} else {
		PUT(m, 0xff, 0x0c, 0x25);
		put4(m, slot);
		m->undefined &= 1;
		PUT(m, 0x0f, 0x85);
		put4(m, (uint64_t)(top - (m->p + 4)));
	}
	m->keep = saved;
}

void subroutine(struct maker *m)
{
	unsigned drop = chance(m, 30) ? below(m, 3) * 8 : 0, r = free_register(m), i;
	uint8_t *over, *sub;

	put1(m, 0xe9);
	over = m->p += 4;
	sub = m->p;

	unsigned before = m->undefined;

	m->undefined = ARITH;
	m->depth++;
	m->calls++;
	elements(m, 2);
	m->calls--;
	m->depth--;
	if (drop)
		PUT(m, 0xc2, drop, 0);
	else if (chance(m, 20))
		PUT(m, 0xf3, 0xc3);
	else
		put1(m, 0xc3);

	int32_t d = (int32_t)(m->p - over);
	unsigned after = m->undefined;

	memcpy(over - 4, &d, 4);
	m->undefined = before;
	for (unsigned calls = 1 + below(m, 2); calls; calls--) {
		for (i = 0; i < drop; i += 8)
			put1(m, 0x50 | below(m, 8));
		switch (below(m, 4)) {
		case 0:
			put1(m, 0xe8);
			put4(m, (uint64_t)(sub - (m->p + 4)));
			break;
		case 1:
			lea(m, r, CODE_AT + (uint64_t)(sub - m->code));
			if (r & 8)
				put1(m, 0x41);
			PUT(m, 0xff, 0xd0 | (r & 7));
			break;
		case 2:
			lea(m, r, CODE_AT + (uint64_t)(sub - m->code));
			PUT(m, 0x48 | (r & 8) >> 1, 0x89, 0x04 | (r & 7) << 3, 0x25);
			put4(m, SCRATCH);
			PUT(m, 0xff, 0x14, 0x25);
			put4(m, SCRATCH);
			break;
		default: /* pushes the return address, then a jump */
			lea(m, r, here(m) + 7 + (r & 8 ? 2 : 1) + 5);
			if (r & 8)
				put1(m, 0x41);
			put1(m, 0x50 | (r & 7));
			put1(m, 0xe9);
			put4(m, (uint64_t)(sub - (m->p + 4)));
		}
	}
	m->undefined = after;
}

void indirect(struct maker *m)
{
	unsigned r = free_register(m), n = 1 + below(m, 4), pick = below(m, n);
	uint8_t *table;

	switch (below(m, 4)) {
	case 0: /* lea; jmp *r */
		lea(m, r, here(m) + 7 + (r & 8 ? 3 : 2) + n);
		if (r & 8)
			put1(m, 0x41);
		PUT(m, 0xff, 0xe0 | (r & 7));
		break;
	case 1: /* push; ret */
		lea(m, r, here(m) + 7 + (r & 8 ? 2 : 1) + 1 + n);
		if (r & 8)
			put1(m, 0x41);
		PUT(m, 0x50 | (r & 7), 0xc3);
		break;
	case 2: /* call to the next instruction; pop */
		PUT(m, 0xe8, 0, 0, 0, 0);
		if (r & 8)
			put1(m, 0x41);
		put1(m, 0x58 | (r & 7));
		return;
	default: /* a table in the code: mov $pick, r; jmp *table(, r, 8) */
		set_register(m, r, pick);
		if (r & 8)
			put1(m, 0x42);
		PUT(m, 0xff, 0x24, 0xc5 | (r & 7) << 3);
		put4(m, here(m) + 4);
		table = m->p;
		m->p += 8 * n;
		for (unsigned i = 0; i < n; i++) {
			uint64_t to = here(m) + i;

			memcpy(table + 8 * i, &to, 8);
		}
		for (unsigned i = 0; i < n; i++)
			put1(m, 0x90);
		return;
	}
	for (; n; n--)
		PUT(m, 0xcc); /* jumped over */
}

/*
 * Jump over an opcode byte, to bytes that were decoded differently from there: eb 01 b8 / nops and
 * a short jump.
 */
void middle(struct maker *m)
{
	unsigned r = free_register(m) & 7;

	if (r == 4 || m->keep >> r & 1)
		return;
	if (chance(m, 50)) {
		PUT(m, 0xeb, 0x01, 0xb8 | r, 0x90, 0xf9, 0xeb, 0x00); /* nop; stc; jmp .+0 */
		m->undefined &= ~1u;
		return;
	}
	/*
	 * The same five bytes, decoded from the first and then from the second; rounds in memory.
	 */
	unsigned slot = COUNTERS + 8 * (unsigned)m->counters++;

	PUT(m, 0xc7, 0x04, 0x25);
	put4(m, slot);
	put4(m, 2);
	uint8_t *twice = m->p;

	PUT(m, 0xb8 | r, 0x90, 0x90, 0xf5, 0xf5);
	PUT(m, 0xff, 0x0c, 0x25);
	put4(m, slot);
	PUT(m, 0x75, 0);
	m->p[-1] = (uint8_t)(twice + 1 - m->p);
	m->undefined &= 1;
}

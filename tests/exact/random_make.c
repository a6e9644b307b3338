/* SPDX-License-Identifier: MIT */
/*
 * Makes random instruction sequences, for random_run.
 *
 *	random_make SEED COUNT [nogs] >FILE
 *
 * Most instructions come from random bytes that the decoder accepts, with memory operands in the
 * data area; control flow, stack and system calls come from patterns that terminate by
 * construction. Flags that the manual leaves undefined are tracked, and neither read nor compared.
 * A sequence may fault; the place and the kind are part of its result.
 */
#include "random_maker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void elements(struct maker *m, unsigned most)
{
	for (unsigned n = 1 + below(m, most); n; n--)
		element(m);
}

void element(struct maker *m)
{
	unsigned kind = below(m, 100);

	if (m->p - m->start > MAX_SEQUENCE / 2 || m->depth > 4 || kind < 62)
		any_instruction(m);
	else if (kind < 72)
		forward(m);
	else if (kind < 77)
		loop(m);
	else if (kind < 81)
		subroutine(m);
	else if (kind < 85)
		indirect(m);
	else if (kind < 87)
		middle(m);
	else if (kind < 92)
		stack(m);
	else if (kind < 94)
		rsp_play(m);
	else if (kind < 95)
		system_call(m);
	else if (kind < 97)
		gather_scatter(m);
	else if (kind < 98)
		bit_string(m);
	else if (kind < 99)
		rounding(m);
	else
		PUT(m, chance(m, 50) ? 0xfc : 0xfd);
}

static struct entry sequence(struct maker *m)
{
	struct entry e = { .offset = (unsigned)(m->p - m->code) };

	m->start = m->p;
	m->undefined = m->keep = 0;
	m->depth = m->counters = m->calls = 0;
	for (unsigned n = 2 + below(m, 14); n; n--)
		element(m);
	e.end_flags = (unsigned short)(0xcd5 & ~m->undefined);
	e.fault_flags = e.end_flags;
	if (chance(m, 8)) {
		e.fault_at = (unsigned)(m->p - m->code);
		e.fault_flags &= fault(m);
	}
	put1(m, 0xe9);
	rel32(m, CODE_AT);
	e.size = (unsigned)(m->p - m->code) - e.offset;
	return e;
}

int main(int argc, char **argv)
{
	struct header h = { .magic = MAGIC };
	struct maker m = { 0 };
	struct entry *entries;
	size_t room;

	if (argc < 3 || (h.count = (unsigned)strtoul(argv[2], NULL, 0)) == 0 || h.count > 1000000) {
		fprintf(stderr, "usage: random_make SEED COUNT [nogs] >FILE\n");
		return 125;
	}
	h.seed = m.seed = strtoull(argv[1], NULL, 0);
	pick_begin(&m, argc > 3 && !strcmp(argv[3], "nogs"));
	h.level = m.wide[2] ? LEVEL_AVX512 : m.wide[1] ? LEVEL_AVX2 : LEVEL_SSE;

	room = (size_t)h.count * 1024 + (1 << 20);
	m.code = m.p = calloc(1, room);
	entries = calloc(h.count, sizeof(*entries));
	if (!m.code || !entries) {
		fprintf(stderr, "random_make: out of memory\n");
		return 125;
	}
	PUT(&m, 0xff, 0x24, 0x25);
	put4(&m, STATE_AT);
	while (m.p - m.code < 64)
		put1(&m, 0x90);
	for (unsigned i = 0; i < h.count; i++) {
		entries[i] = sequence(&m);
		if ((size_t)(m.p - m.code) + MAX_SEQUENCE > room) {
			fprintf(stderr, "random_make: sequences are longer than thought\n");
			return 125;
		}
	}
	h.entries_size = (unsigned)((sizeof(h) + h.count * sizeof(*entries) + PAGE - 1) / PAGE *
				    PAGE);
	h.code_offset = h.entries_size;
	h.code_size = ((unsigned long)(m.p - m.code) + PAGE - 1) / PAGE * PAGE;
	fwrite(&h, sizeof(h), 1, stdout);
	fwrite(entries, sizeof(*entries), h.count, stdout);
	for (size_t n = sizeof(h) + h.count * sizeof(*entries); n < h.entries_size; n++)
		putchar(0);
	fwrite(m.code, 1, h.code_size, stdout);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "random_make: cannot write: %s\n", strerror(errno));
		return 125;
	}
	return 0;
}

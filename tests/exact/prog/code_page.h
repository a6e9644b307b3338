/* SPDX-License-Identifier: MIT */
/* Functions made at run time, for the programs here: mov eax, value; ret. */
#include <string.h>

typedef int (*function)(void);

static inline void make(void *at, int value)
{
	unsigned char code[6] = { 0xb8, 0, 0, 0, 0, 0xc3 };

	memcpy(code + 1, &value, 4);
	memcpy(at, code, sizeof code);
}

/*
 * The same two bytes up to `end`, 64 at once: these programs are single-stepped, and a rep stops at
 * each repetition.
 */
static inline void make_many(void *at, void *end, unsigned char first, unsigned char second)
{
	typedef unsigned short many __attribute__((vector_size(16), aligned(1)));
	const many m = (many){ 0 } + (unsigned short)(first | second << 8);

	for (many *p = at; (void *)(p + 4) <= end; p += 4)
		p[0] = p[1] = p[2] = p[3] = m;
}

static inline int call(const void *at)
{
	return ((function)at)();
}

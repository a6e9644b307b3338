/* SPDX-License-Identifier: MIT */
/*
 * The maker's tools: random numbers from its seed, code bytes, free registers, addresses in the
 * data area.
 */
#include "random_maker.h"

#include <string.h>

uint64_t next(struct maker *m)
{
	uint64_t z = m->seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

unsigned below(struct maker *m, unsigned n)
{
	return (unsigned)(next(m) % n);
}

bool chance(struct maker *m, unsigned percent)
{
	return below(m, 100) < percent;
}

void put(struct maker *m, unsigned n, const void *bytes)
{
	memcpy(m->p, bytes, n);
	m->p += n;
}

void put1(struct maker *m, unsigned byte)
{
	*m->p++ = (uint8_t)byte;
}

void put4(struct maker *m, uint64_t value)
{
	put(m, 4, &value);
}

uint64_t here(const struct maker *m)
{
	return CODE_AT + (uint64_t)(m->p - m->code);
}

void rel32(struct maker *m, uint64_t target)
{
	put4(m, target - (here(m) + 4));
}

/* Give all six flags a defined value: cmp r, r. */
void define_flags(struct maker *m)
{
	unsigned r = below(m, 8), s = below(m, 8);

	PUT(m, 0x48, 0x39, 0xc0 | r << 3 | s);
	m->undefined = 0;
}

/* A general register that may be written; never rsp. */
unsigned free_register(struct maker *m)
{
	unsigned r;

	do
		r = below(m, 16);
	while (r == 4 || m->keep >> r & 1);
	return r;
}

/* mov $value, %r32: does not change flags. */
void set_register(struct maker *m, unsigned r, uint32_t value)
{
	if (r & 8)
		put1(m, 0x41);
	put1(m, 0xb8 | (r & 7));
	put4(m, value);
}

/* lea target(%rip), %r64 */
void lea(struct maker *m, unsigned r, uint64_t target)
{
	PUT(m, 0x48 | (r & 8) >> 1, 0x8d, 0x05 | (r & 7) << 3);
	rel32(m, target);
}

uint64_t place(struct maker *m)
{
	uint64_t at = DATA_AT + 640 + below(m, 640);

	return chance(m, 85) ? at & ~63ull : at;
}

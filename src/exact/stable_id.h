/* SPDX-License-Identifier: MIT */
/*
 * An identifier of a thread that is the same in each run of a program: derived from its parent
 * thread, its index among the parent's children, and its number of execs. Numbers assigned in order
 * of creation would differ between runs if two threads create threads, or execute programs, at the
 * same time. Two of a million threads collide with a probability of about 2^-25.
 */
#ifndef EXACT_STABLE_ID_H
#define EXACT_STABLE_ID_H

#include <stdint.h>

#define STABLE_ID_FIRST 0x7461726500000001ull /* the command's first thread */
/* in place of a child's index, which starts at 1: the program that the thread executed */
#define STABLE_ID_EXEC   0ull
#define STABLE_ID_RANDOM (1ull << 63) /* above all child indices: random bytes */

#define SPLITMIX 0x9e3779b97f4a7c15ull

/*
 * One step of splitmix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators".
 */
static inline uint64_t scatter(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Never 0, which means no thread. */
static inline uint64_t stable_id_of(uint64_t from, uint64_t which)
{
	uint64_t h = scatter(from + (which + 1) * SPLITMIX);

	return h ? h : 1;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Who a thread is, in each run of the same program alike: the how-manieth child of which thread it is, and behind how many execs of its
 * own. Numbers drawn as threads begin would be another's as soon as two of them begin threads, or execute programs, at the same time.
 * Two of a million threads have the same one with a chance of some 2^-25.
 */
#ifndef EXACT_DESCENT_H
#define EXACT_DESCENT_H

#include <stdint.h>

#define DESCENT_FIRST  0x7461726500000001ull /* of the command's first thread */
#define DESCENT_EXEC   0ull /* in place of a child's number, which counts from 1: the program that the thread executed */
#define DESCENT_RANDOM (1ull << 63) /* beyond all children: of random bytes */

#define SPLITMIX 0x9e3779b97f4a7c15ull

/* One step of splitmix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators". */
static inline uint64_t scatter(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Never 0, which stands for no thread. */
static inline uint64_t descent_of(uint64_t from, uint64_t which)
{
	uint64_t h = scatter(from + (which + 1) * SPLITMIX);

	return h ? h : 1;
}

#endif

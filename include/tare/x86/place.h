/* SPDX-License-Identifier: MIT */
/*
 * Where a thread writes next: a place that one of its functions at a time has, which its signal handlers may call, too. Only the
 * thread itself comes here: nothing is locked. Installed for tare/region.h; tare/arm64/place.h has the same functions.
 *
 * A place that somebody has is TARE_PLACE_TAKEN more than it was. A signal comes between two instructions, and each of these
 * is one.
 */
#ifndef TARE_PLACE_H
#define TARE_PLACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tare_place {
	uint64_t at;
};

#define TARE_PLACE_TAKEN 0x800000u

/** Take it. Returns where it is; where somebody has it already, a number that is TARE_PLACE_TAKEN more, or beyond all memory. */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_place_take(struct tare_place *p)
{
	uint64_t at = TARE_PLACE_TAKEN;

	__asm__ volatile("{xaddq %0, %1|xadd %1, %0}" : "+r"(at), "+m"(p->at) : : "cc", "memory");
	return at;
}

/** Leave it as it was before tare_place_take() returned that. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_leave(struct tare_place *p, uint64_t at)
{
	__asm__ volatile("" : : : "memory");
	p->at = at;
	__asm__ volatile("" : : : "memory");
}

/** Leave it n further than tare_place_take() found it, nobody having had it. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_move(struct tare_place *p, uint64_t at,
												  uint32_t n)
{
	(void)at;
	__asm__ volatile("{addq %1, %0|add %0, %1}" : "+m"(p->at) : "er"((uint64_t)n - TARE_PLACE_TAKEN) : "cc", "memory");
}

/** What tare_place_take() would return. */
static __inline__ uint64_t tare_place_look(const struct tare_place *p)
{
	return p->at;
}

/** How far behind `start` it is, whoever has it. */
static __inline__ uint64_t tare_place_behind(const struct tare_place *p, uint64_t start)
{
	return (p->at - start) & (TARE_PLACE_TAKEN - 1);
}

/** *p += n, in one instruction, which leaves the compiler no choice. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_add(uint64_t *p, uint64_t n)
{
	__asm__ volatile("{addq %1, %0|add %0, %1}" : "+m"(*p) : "r"(n) : "cc", "memory");
}

#ifdef __cplusplus
}
#endif
#endif

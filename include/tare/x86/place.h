/* SPDX-License-Identifier: MIT */
/*
 * The position at which a thread writes next. One function of the thread at a time owns it; signal
 * handlers may call these functions, too. Only the thread itself uses it, so there is no lock.
 * Installed for tare/region.h; tare/arm64/place.h has the same functions.
 *
 * Taking it adds TARE_PLACE_TAKEN. Each operation is a single instruction, so a signal cannot
 * interrupt it.
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

/**
 * Take it. Returns the position; if it is already taken, a number that is TARE_PLACE_TAKEN more, or
 * above all addresses.
 */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_place_take(
	struct tare_place *p)
{
	uint64_t at = TARE_PLACE_TAKEN;

	__asm__ volatile("{xaddq %0, %1|xadd %1, %0}" : "+r"(at), "+m"(p->at) : : "cc", "memory");
	return at;
}

/** Restore the state before the tare_place_take() that returned `at`. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_leave(
	struct tare_place *p, uint64_t at)
{
	__asm__ volatile("" : : : "memory");
	p->at = at;
	__asm__ volatile("" : : : "memory");
}

/** Release it n further than tare_place_take() found it, if it was not taken then. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_move(
	struct tare_place *p, uint64_t at, uint32_t n)
{
	(void)at;
	__asm__ volatile("{addq %1, %0|add %0, %1}"
			 : "+m"(p->at)
			 : "er"((uint64_t)n - TARE_PLACE_TAKEN)
			 : "cc", "memory");
}

/** The value that tare_place_take() would return. */
static __inline__ uint64_t tare_place_look(const struct tare_place *p)
{
	return p->at;
}

/** The distance from `start`, whether it is taken or not. */
static __inline__ uint64_t tare_place_behind(const struct tare_place *p, uint64_t start)
{
	return (p->at - start) & (TARE_PLACE_TAKEN - 1);
}

/** *p += n, forced to be one instruction. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_add(
	uint64_t *p, uint64_t n)
{
	__asm__ volatile("{addq %1, %0|add %0, %1}" : "+m"(*p) : "r"(n) : "cc", "memory");
}

#ifdef __cplusplus
}
#endif
#endif

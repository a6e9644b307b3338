/* SPDX-License-Identifier: MIT */
/*
 * The position at which a thread writes next. One function of the thread at a time owns it; signal
 * handlers may call these functions, too. Only the thread itself uses it, so there is no lock.
 * Installed for tare/region.h; tare/x86/place.h has the same functions.
 *
 * Ownership is a separate word, which a handler restores. So a handler between the load and the
 * store does no harm, and an interrupt never makes the thread repeat instructions, as with
 * exclusive loads and stores. Those took four more instructions per point.
 */
#ifndef TARE_PLACE_H
#define TARE_PLACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tare_place {
	uint64_t at, taken; /* taken: not 0 */
};

/** Take it. Returns the position; if it is already taken, a number above all addresses. */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_place_take(
	struct tare_place *p)
{
	uint64_t taken = *(volatile uint64_t *)&p->taken;

	*(volatile uint64_t *)&p->taken = (uintptr_t)p; /* needs no additional register */
	__asm__ volatile("" : : : "memory");
	return __builtin_expect(taken != 0, 0) ? UINT64_MAX : p->at;
}

/** Restore the state before the tare_place_take() that returned `at`. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_leave(
	struct tare_place *p, uint64_t at)
{
	if (at == UINT64_MAX)
		return;
	p->at = at;
	__asm__ volatile("" : : : "memory");
	p->taken = 0;
	__asm__ volatile("" : : : "memory");
}

/** Release it n further than tare_place_take() found it, if it was not taken then. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_move(
	struct tare_place *p, uint64_t at, uint32_t n)
{
	p->at = at + n;
	__asm__ volatile("" : : : "memory");
	p->taken = 0;
	__asm__ volatile("" : : : "memory");
}

/** The value that tare_place_take() would return. */
static __inline__ uint64_t tare_place_look(const struct tare_place *p)
{
	return p->taken ? UINT64_MAX : p->at;
}

/** The distance from `start`, whether it is taken or not. */
static __inline__ uint64_t tare_place_behind(const struct tare_place *p, uint64_t start)
{
	return p->at - start;
}

/** *p += n. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_add(
	uint64_t *p, uint64_t n)
{
	*p += n;
}

#ifdef __cplusplus
}
#endif
#endif

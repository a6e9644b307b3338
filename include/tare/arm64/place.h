/* SPDX-License-Identifier: MIT */
/*
 * Where a thread writes next: a place that one of its functions at a time has, which its signal handlers may call, too. Only the
 * thread itself comes here: nothing is locked. Installed for tare/region.h; tare/x86/place.h has the same functions.
 *
 * That somebody has it is a word of its own, which a handler leaves as it found it: so one that comes between its load and its
 * store does no harm, and no interrupt makes the thread do anything twice, as with exclusive loads and stores: those were
 * four instructions more in the counts.
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

/** Take it. Returns where it is; where somebody has it already, a number beyond all memory. */
static __inline__ __attribute__((always_inline, no_instrument_function)) uint64_t tare_place_take(struct tare_place *p)
{
	uint64_t taken = *(volatile uint64_t *)&p->taken;

	*(volatile uint64_t *)&p->taken = (uintptr_t)p; /* needs no register of its own */
	__asm__ volatile("" : : : "memory");
	return __builtin_expect(taken != 0, 0) ? UINT64_MAX : p->at;
}

/** Leave it as it was before tare_place_take() returned that. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_leave(struct tare_place *p, uint64_t at)
{
	if (at == UINT64_MAX)
		return;
	p->at = at;
	__asm__ volatile("" : : : "memory");
	p->taken = 0;
	__asm__ volatile("" : : : "memory");
}

/** Leave it n further than tare_place_take() found it, nobody having had it. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_move(struct tare_place *p, uint64_t at,
												  uint32_t n)
{
	p->at = at + n;
	__asm__ volatile("" : : : "memory");
	p->taken = 0;
	__asm__ volatile("" : : : "memory");
}

/** What tare_place_take() would return. */
static __inline__ uint64_t tare_place_look(const struct tare_place *p)
{
	return p->taken ? UINT64_MAX : p->at;
}

/** How far behind `start` it is, whoever has it. */
static __inline__ uint64_t tare_place_behind(const struct tare_place *p, uint64_t start)
{
	return p->at - start;
}

/** *p += n. */
static __inline__ __attribute__((always_inline, no_instrument_function)) void tare_place_add(uint64_t *p, uint64_t n)
{
	*p += n;
}

#ifdef __cplusplus
}
#endif
#endif

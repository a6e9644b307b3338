/* SPDX-License-Identifier: MIT */
/*
 * Regions: named parts of a program, counted each time they run, on every thread.
 *
 *	TARE_REGION(parse, "parse");
 *
 *	tare_region_begin(&parse);
 *	work();
 *	tare_region_end(&parse);
 *
 *	{
 *		TARE_REGION_SCOPE(&parse);	// ends with the block, however it is left
 *		work();
 *	}
 *
 * Off by default: then each begin and end is one load and one branch. `tare regions -o FILE -- program` switches them
 * on, as does tare_regions_start(). Regions may be nested and recursive; each thread has counters and a stream of its
 * own, without a lock. In a signal handler, too: while it interrupts the recording of another point of its thread, its
 * points are kept, up to 4096, and written before the thread's next point.
 */
#ifndef TARE_REGION_H
#define TARE_REGION_H

#include <stdint.h>
#include <string.h>
#include "tare/error.h"
#include "tare/pmc.h"
#include "tare/place.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -finstrument-functions is for the program's functions: one of ours would come between a point and its clock. */
#define TARE_REGION_UNSEEN __attribute__((no_instrument_function))
#define TARE_REGION_INLINE static __inline__ __attribute__((always_inline, no_instrument_function))

/** A label, ready to be written; 0 while nothing is recorded. */
typedef uint32_t tare_label;

/** How regions are recorded. Each way has a cost of its own, which it measures and which stands in the recording. */
enum tare_region_path {
	TARE_PATH_INLINE,    /* by the functions below, from C and C++ */
	TARE_PATH_FUNCTIONS, /* by -finstrument-functions */
	TARE_PATH_PYTHON,
	TARE_PATH_RUST,
	TARE_PATH_RUST_LABEL,
	TARE_PATH_OTHER, /* by the binding to another language */
	TARE_PATHS
};

/** A static region; by TARE_REGION() only. The fields are for the inline functions below. */
struct tare_region {
	tare_label label;
	uint32_t line; /* in the source; the upper 8 bits are an enum tare_region_path */
	const char *name, *file;
};

#define TARE_LABEL_UNKNOWN 0xfffffff9u /* of a region that was never begun */
#define TARE_LABEL_END	   4u	       /* makes the point an end */

/** A region with a name, at file scope or as a static variable of a function. */
#define TARE_REGION(variable, name)                                                                \
	static struct tare_region variable = { TARE_LABEL_UNKNOWN, __LINE__, name,     \
					       __FILE__ }

/* Where the calling thread writes short points: a word of 3 bytes, the clock's ticks since the last point above 14
 * bits of label. The place is not below `*end` when that is not what it writes, or there is no room, or a point is being written: then
 * tare_region_point() keeps the point of a signal handler that comes between. So that the interrupted point and later ones do not overtake
 * it, it sets bit 63 of `last`, and `end` to a word that is 0. `*end` lies in a page that a child process finds empty, however it was made: it writes
 * nothing of its parent's. */
struct tare_region_here {
	struct tare_place place;
	uint8_t *const *end;
	uint64_t last;
};

extern TARE_API __thread struct tare_region_here tare_region_thread
	__attribute__((tls_model("initial-exec")));

/** What the inline functions leave to others; `clock` is 0 when it was not read. To be called directly only by bindings
 *  to other languages: a label begins, with TARE_LABEL_END added it ends. */
TARE_API void tare_region_point(struct tare_region *r, tare_label label, uint64_t clock);

/* Another thread takes `end` away when it stops the recording; one point more does no harm. */
#if defined(__SANITIZE_THREAD__)
#define TARE_REGION_ROOM(here) __atomic_load_n((here)->end, __ATOMIC_RELAXED)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TARE_REGION_ROOM(here) __atomic_load_n((here)->end, __ATOMIC_RELAXED)
#endif
#endif
#ifndef TARE_REGION_ROOM
#define TARE_REGION_ROOM(here) (*(here)->end)
#endif

/* `end`: 0, or TARE_LABEL_END. */
TARE_REGION_INLINE void tare_region_put(struct tare_region *r, tare_label label, tare_label end)
{
	struct tare_region_here *here = &tare_region_thread;
	uint64_t clock = 0, gap, at;
	uint32_t word;

	/* A label that is not short has the highest bit. */
	if (__builtin_expect(!(label >> 31), 1)) {
		at = tare_place_take(&here->place);
		if (__builtin_expect(at < (uintptr_t)TARE_REGION_ROOM(here), 1)) {
			gap = tare_pmc_clock();
			gap -= here->last;
			if (__builtin_expect(gap < 1024, 1)) {
				tare_place_add(&here->last, gap);
				word = (uint32_t)gap << 14 | label | end;
				memcpy((void *)(uintptr_t)at, &word, sizeof(word));
				tare_place_move(&here->place, at, 3);
				return;
			}
			__asm__ volatile("" : "+r"(gap) : : "memory"); /* made anew: to keep it would cost all points a copy */
			clock = here->last + gap;
		}
		tare_place_leave(&here->place, at);
	}
	tare_region_point(r, label | end, clock);
}

/**
 * Begin and end a region, on the calling thread.
 *
 * An end belongs to the last begin of the same label; what was begun since and is still open is closed with it, and
 * the recording says so with the region's name and place. From any thread. Never fails:
 * what cannot be written (a full disk) is counted as lost. Off: one load and one branch. On, with wall-time: some 20
 * instructions beside reading the clock; every 64 KiB of points a write to the file.
 */
TARE_REGION_INLINE void tare_region_begin(struct tare_region *r)
{
	tare_label label = __atomic_load_n(&r->label, __ATOMIC_RELAXED);

	if (label != 0)
		tare_region_put(r, label, 0);
}

TARE_REGION_INLINE void tare_region_end(struct tare_region *r)
{
	tare_label label = __atomic_load_n(&r->label, __ATOMIC_RELAXED);

	if (label != 0)
		tare_region_put(r, label, TARE_LABEL_END);
}

/** The label of a static region, for the functions that take one; 0 while nothing is recorded. */
TARE_API tare_label tare_region_label(struct tare_region *r);

/**
 * A label that is made at run time, with arguments: "query" of "typeck", "main".
 *
 * @name  any text but "".
 * @args  n texts more, which tell instances apart that have the same name; NULL when n is 0.
 *
 * Returns the same label for the same texts until recording stops; 0 while nothing is recorded, or for a text that is NULL.
 * Where there is no room for it in the file, points of it are counted as lost, or have a label without a name. Copies the texts. From any thread; takes a lock, so keep it where it is used often.
 */
TARE_API tare_label tare_label_new(const char *name, const char *const *args, unsigned n);

/** The same for bindings: of a label whose points are recorded by that path. */
TARE_API tare_label tare_label_new_by(enum tare_region_path path, const char *name, const char *const *args, unsigned n);

/** The same with its place in the source: @file, copied, NULL: not known; @line, below 2^24. Labels of several places are several. */
TARE_API tare_label tare_label_new_at(enum tare_region_path path, const char *name, const char *const *args, unsigned n, const char *file,
				      uint32_t line);

/**
 * For bindings whose own functions an exception may leave anywhere: begin a label, or with TARE_LABEL_END added end it; *open is
 * one more after a begin, one less after an end, which tells them later whether it was done. open may be NULL. A label 0 does nothing.
 */
TARE_API void tare_label_point(tare_label label, uint32_t *open);

/**
 * For bindings that know that regions do not nest: ends the calling thread's innermost region, which must be of that label, and says in the
 * recording that this is not where it ended: it is shown as begun and not ended.
 */
TARE_API void tare_label_cut(tare_label label);

/**
 * For bindings: measure what a region costs when it is recorded by `path`, and write that into the recording.
 *
 * @empty  runs n empty regions with that label, one after another, as the path's users do. It is called some fifty times, with
 *         n of 2 or 65, on the calling thread, whose points go nowhere meanwhile. Signals to that thread wait.
 *
 * Returns 0, also when the recording knows already; -ESRCH when nothing is recorded; -ENODATA when a counter could not be read
 * meanwhile; -EINVAL for a path that is not a binding's.
 * From any thread, before its first region.
 */
typedef void tare_region_empty(tare_label label, unsigned n, void *with);
TARE_API int tare_region_measure(enum tare_region_path path, tare_region_empty *empty, void *with);

/** Begin and end a label; a label 0 does nothing. */
TARE_REGION_INLINE void tare_label_begin(tare_label label)
{
	if (label)
		tare_region_put(0, label, 0);
}

TARE_REGION_INLINE void tare_label_end(tare_label label)
{
	if (label)
		tare_region_put(0, label, TARE_LABEL_END);
}

/** A point in time, and a number at one: on the timeline of the calling thread, counters read as for a begin. */
TARE_API void tare_label_instant(tare_label label);
TARE_API void tare_label_integer(tare_label label, uint64_t value);

/** A timing that need not end on the thread where it started, nor within the region. */
struct tare_timing {
	tare_label label;
	uint64_t number;
};

TARE_API struct tare_timing tare_timing_start(tare_label label);
/** From any thread, once. One that was started while nothing was recorded does nothing. */
TARE_API void tare_timing_finish(struct tare_timing t);

/**
 * Record regions from now on, in this process and those that it forks.
 *
 * @path    of the file, which is written anew.
 * @events  counters, at most 8: "wall-time", "none", "instructions-minus-irqs:u", "instructions:u" and whatever else
 *          tare_events_new() takes; NULL for "wall-time".
 * @err     says what cannot be had and why; may be NULL.
 *
 * Returns 0; -EBUSY when it is recording already, also where the environment asks for that (tare_regions_from_environment()); -ENOENT, -EACCES, -EOPNOTSUPP, ... when a counter cannot be read;
 * what open(2) says about the file. Measures what a region itself costs, which takes some milliseconds.
 */
TARE_API int tare_regions_start(const char *path, const char *events, struct tare_error *err);

/**
 * As the environment says, for bindings to other languages: C and C++ programs need not call it, for a region that is
 * begun first does. TARE_REGIONS=FILE records, into a new file or at the end of the recording that FILE is;
 * TARE_REGIONS_EVENTS are its counters. Returns 1 when it records now, 0 when the environment does not ask for it; as
 * tare_regions_start() otherwise. Looks once.
 */
TARE_API int tare_regions_from_environment(struct tare_error *err);

/**
 * Stop. Regions that are open stay so in the file. Threads that are in the middle of a point finish it.
 *
 * Returns 0; -ENOSPC or another errno when something could not be written: err says how much was lost. Also at exit
 * and at the end of the program it stops by itself.
 */
TARE_API int tare_regions_stop(struct tare_error *err);

/** A number that changes whenever recording starts or stops; labels are valid as long as it stays. Even: off. */
TARE_API unsigned tare_regions_generation(void);

TARE_REGION_INLINE void tare_region_leave(struct tare_region *const *r)
{
	tare_region_end(*r);
}

TARE_REGION_INLINE void tare_label_leave(const tare_label *label)
{
	tare_label_end(*label);
}

#define TARE_REGION_JOIN_(a, b) a##b
#define TARE_REGION_JOIN(a, b)	TARE_REGION_JOIN_(a, b)

#ifdef __cplusplus
}

namespace tare {
/* Ends with its scope: `tare::region r(parse);` */
class region {
public:
	TARE_REGION_UNSEEN explicit region(struct tare_region &r) : r_(&r), label_(0)
	{
		tare_region_begin(r_);
	}
	TARE_REGION_UNSEEN explicit region(tare_label label) : r_(0), label_(label)
	{
		tare_label_begin(label_);
	}
	TARE_REGION_UNSEEN ~region()
	{
		if (r_)
			tare_region_end(r_);
		else
			tare_label_end(label_);
	}

private:
	struct tare_region *r_;
	tare_label label_;
	region(const region &);
	region &operator=(const region &);
};
}

#define TARE_REGION_SCOPE(r) ::tare::region TARE_REGION_JOIN(tare_scope_, __COUNTER__)(*(r))
#define TARE_LABEL_SCOPE(label) ::tare::region TARE_REGION_JOIN(tare_scope_, __COUNTER__)((tare_label)(label))
#else
/** Begin here, end where the block ends: by return, break or goto, too (gcc, clang). */
#define TARE_REGION_SCOPE(r)                                                                       \
	struct tare_region *const TARE_REGION_JOIN(tare_scope_, __COUNTER__)                          \
		__attribute__((cleanup(tare_region_leave), unused)) = (tare_region_begin(r), (r))
#define TARE_LABEL_SCOPE(label_)                                                                   \
	const tare_label TARE_REGION_JOIN(tare_scope_, __COUNTER__)                                   \
		__attribute__((cleanup(tare_label_leave), unused)) = tare_label_entered(label_)
TARE_REGION_INLINE tare_label tare_label_entered(tare_label label)
{
	tare_label_begin(label);
	return label;
}
#endif
#endif

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
 * Off by default: then each begin and end is one load and one branch. `tare regions -o FILE --
 * program` and tare_regions_start() turn recording on. Regions may be nested and recursive. Each
 * thread has its own counters and its own stream, without a lock. Regions may be used in signal
 * handlers: if a handler interrupts the recording of another point of its thread, up to 4096 of its
 * points are kept and written before the thread's next point.
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

/*
 * Excluded from -finstrument-functions: an instrumented call would come between a point and its
 * clock.
 */
#define TARE_REGION_UNSEEN __attribute__((no_instrument_function))
#define TARE_REGION_INLINE static __inline__ __attribute__((always_inline, no_instrument_function))

/** A label, ready to be written; 0 while recording is off. */
typedef uint32_t tare_label;

/**
 * The ways of recording regions. Each has its own overhead, which it measures and stores in the
 * recording.
 */
enum tare_region_path {
	TARE_PATH_INLINE,    /* by the functions below, from C and C++ */
	TARE_PATH_FUNCTIONS, /* by -finstrument-functions */
	TARE_PATH_PYTHON,
	TARE_PATH_RUST,
	TARE_PATH_RUST_LABEL,
	TARE_PATH_OTHER, /* by the binding for another language */
	TARE_PATHS
};

/** A static region, defined by TARE_REGION(). The fields are for the inline functions below. */
struct tare_region {
	tare_label label;
	uint32_t line; /* source line; the upper 8 bits are an enum tare_region_path */
	const char *name, *file;
};

#define TARE_LABEL_UNKNOWN 0xfffffff9u /* of a region that was never begun */
#define TARE_LABEL_END     4u          /* turns the point into an end */

/** A region with a name, at file scope or as a static variable of a function. */
#define TARE_REGION(variable, name)                                                                \
	static struct tare_region variable = { TARE_LABEL_UNKNOWN, __LINE__, name, __FILE__ }

/*
 * The place where the calling thread writes short points: words of 3 bytes, with the clock's ticks
 * since the last point above a 14-bit label. `place` is not below `*end` if the thread's points
 * have another form, if there is no room, or if a point is being written. In the last case,
 * tare_region_point() keeps the points of a signal handler. To keep the order with the interrupted
 * and later points, it sets bit 63 of `last`, and points `end` to a zero word. `*end` is in a page
 * that is wiped on fork, so a child process, created in any way, does not write to its parent's
 * block.
 */
struct tare_region_here {
	struct tare_place place;
	uint8_t *const *end;
	uint64_t last;
};

extern TARE_API __thread struct tare_region_here tare_region_thread
	__attribute__((tls_model("initial-exec")));

/**
 * The cases that the inline functions do not handle; `clock` is 0 if it was not read. Only bindings
 * for other languages call it directly: a label begins, with TARE_LABEL_END added it ends.
 */
TARE_API void tare_region_point(struct tare_region *r, tare_label label, uint64_t clock);

/* Another thread clears `end` when it stops the recording; one more point does no harm. */
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

	/* A label that is not short has the highest bit set. */
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
			/* computed again: keeping it would cost every point a copy */
			__asm__ volatile("" : "+r"(gap) : : "memory");
			clock = here->last + gap;
		}
		tare_place_leave(&here->place, at);
	}
	tare_region_point(r, label | end, clock);
}

/**
 * Begin and end a region, on the calling thread.
 *
 * An end belongs to the last begin of the same label. It also closes regions begun since then that
 * are still open, and the recording notes their name and place. From any thread. Never fails:
 * points that cannot be written (disk full) are counted as lost. Off: one load and one branch. On,
 * with wall-time: about 20 instructions in addition to reading the clock, and a write to the file
 * per 64 KiB of points.
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

/** The label of a static region, for functions that take a label; 0 while recording is off. */
TARE_API tare_label tare_region_label(struct tare_region *r);

/**
 * Create a label at run time, with arguments: "query" with "typeck", "main".
 *
 * @name  any text except "".
 * @args  n further texts, which distinguish instances with the same name; NULL if n is 0.
 *
 * Returns the same label for the same texts until recording stops; 0 while recording is off, or if
 * a text is NULL. If the file has no room for it, its points are counted as lost, or have a label
 * without a name. Copies the texts. From any thread. Takes a lock, so keep the label if it is used
 * often.
 */
TARE_API tare_label tare_label_new(const char *name, const char *const *args, unsigned n);

/** The same for bindings: a label with points recorded by that path. */
TARE_API tare_label tare_label_new_by(enum tare_region_path path, const char *name,
				      const char *const *args, unsigned n);

/**
 * The same with a source location: @file is copied, NULL: not known; @line is below 2^24. Different
 * locations are different labels.
 */
TARE_API tare_label tare_label_new_at(enum tare_region_path path, const char *name,
				      const char *const *args, unsigned n, const char *file,
				      uint32_t line);

/**
 * For bindings with functions that an exception may leave at any point: begin a label, or with
 * TARE_LABEL_END added end it. *open is incremented after a begin and decremented after an end, so
 * the binding can check later whether that was done. open may be NULL. A label 0 does nothing.
 */
TARE_API void tare_label_point(tare_label label, uint32_t *open);

/**
 * For bindings that know that regions do not nest: ends the calling thread's innermost region,
 * which must have that label, and marks in the recording that it did not end here. It is shown as
 * begun and not ended.
 */
TARE_API void tare_label_cut(tare_label label);

/**
 * For bindings: measure the overhead of a region recorded by `path`, and store it in the recording.
 *
 * @empty  runs n empty regions with that label, one after another, as users of the path do. It is
 *         called about fifty times, with n of 2 or 65, on the calling thread. Its points are not
 *         recorded, and signals to the thread are blocked meanwhile.
 *
 * Returns 0, also if the recording has the overhead already; -ESRCH if recording is off; -ENODATA
 * if a counter could not be read meanwhile; -EINVAL if the path is not a binding's. Call it from
 * any thread, before the thread's first region.
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

/**
 * A point in time, and a number at one, on the timeline of the calling thread; counters are read as
 * for a begin.
 */
TARE_API void tare_label_instant(tare_label label);
TARE_API void tare_label_integer(tare_label label, uint64_t value);

/**
 * A timing that may end on another thread than it started on, and need not be nested in the region.
 */
struct tare_timing {
	tare_label label;
	uint64_t number;
};

TARE_API struct tare_timing tare_timing_start(tare_label label);
/** From any thread, once. Does nothing if recording was off when the timing was started. */
TARE_API void tare_timing_finish(struct tare_timing t);

/**
 * Record regions from now on, in this process and in those that it forks.
 *
 * @path    of the file, which is replaced.
 * @events  counters, at most 8: "wall-time", "none", "instructions-minus-irqs:u", "instructions:u"
 *          and anything else that tare_events_new() accepts; NULL for "wall-time".
 * @err     says which counter is unavailable and why; may be NULL.
 *
 * Returns 0; -EBUSY if it is recording already, also if the environment requested that
 * (tare_regions_from_environment()); -ENOENT, -EACCES, -EOPNOTSUPP, ... if a counter cannot be
 * read; the errno of open(2) for the file. Measures the overhead of a region, which takes some
 * milliseconds.
 */
TARE_API int tare_regions_start(const char *path, const char *events, struct tare_error *err);

/**
 * Start recording as the environment requests, for bindings for other languages. C and C++ programs
 * need not call it, because the first region does. TARE_REGIONS=FILE records into a new file, or
 * appends to FILE if it is a recording; TARE_REGIONS_EVENTS are the counters. Returns 1 if it
 * records now, 0 if the environment does not request it; otherwise as tare_regions_start(). Checks
 * the environment once.
 */
TARE_API int tare_regions_from_environment(struct tare_error *err);

/**
 * Stop recording. Open regions stay open in the file. Threads within a point finish it.
 *
 * Returns 0; -ENOSPC or another errno if something could not be written: err says how much was
 * lost. Recording also stops at exit.
 */
TARE_API int tare_regions_stop(struct tare_error *err);

/**
 * A number that changes whenever recording starts or stops. Labels are valid while it is unchanged.
 * Even: off.
 */
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
#define TARE_REGION_JOIN(a, b)  TARE_REGION_JOIN_(a, b)

#ifdef __cplusplus
}

namespace tare
{
/* Ends with its scope: `tare::region r(parse);` */
class region
{
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
#define TARE_LABEL_SCOPE(label)                                                                    \
	::tare::region TARE_REGION_JOIN(tare_scope_, __COUNTER__)((tare_label)(label))
#else
/** Begin here, and end where the block is left, also by return, break or goto (gcc, clang). */
#define TARE_REGION_SCOPE(r)                                                                       \
	struct tare_region *const TARE_REGION_JOIN(tare_scope_, __COUNTER__)                       \
		__attribute__((cleanup(tare_region_leave), unused)) = (tare_region_begin(r), (r))
#define TARE_LABEL_SCOPE(label_)                                                                   \
	const tare_label TARE_REGION_JOIN(tare_scope_, __COUNTER__)                                \
		__attribute__((cleanup(tare_label_leave), unused)) = tare_label_entered(label_)
TARE_REGION_INLINE tare_label tare_label_entered(tare_label label)
{
	tare_label_begin(label);
	return label;
}
#endif
#endif

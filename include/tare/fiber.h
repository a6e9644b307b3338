/* SPDX-License-Identifier: MIT */
/*
 * Fibers: coroutines that the program itself switches between, each with a stream of regions of its
 * own.
 *
 *	struct tare_fiber *f = tare_fiber_new("parser");
 *
 *	tare_region_switch(f);	// right before the switch, on the thread that switches
 *	swapcontext(&here, &there);
 *	...
 *	tare_fiber_free(f);
 *
 * Without these calls tare sees one thread, and the regions of its coroutines interleave. With them
 * each fiber is recorded like a thread: regions may be open across a switch, and the counts of an
 * interval are those of its fiber. A clock keeps running while a fiber is switched out, as it does
 * for a thread that waits; that time is a region "(switched out)" within the regions that are open,
 * so the self time of those excludes it.
 *
 * A fiber may resume on another thread. This holds for counters of the PMU, too, although they
 * count per thread.
 */
#ifndef TARE_FIBER_H
#define TARE_FIBER_H

#include "tare/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tare_fiber;

/**
 * A handle for a coroutine. It needs no recording.
 *
 * @name  as the recording shows it; up to 15 bytes are copied. NULL or "": "fiber 1", "fiber 2",
 * ...
 *
 * Returns NULL with errno ENOMEM. The caller owns it: tare_fiber_free(). From any thread. Costs an
 * allocation of some 300 bytes; while it is recorded, 64 KiB of the file are mapped for it from its
 * first region on.
 */
TARE_API struct tare_fiber *tare_fiber_new(const char *name);

/**
 * End a fiber and free the handle; NULL does nothing. Regions that are open in it stay open in the
 * recording.
 *
 * From any thread; not while the fiber runs on another one, nor from a signal handler: then it does
 * nothing, and the handle is never freed. Where it runs on the calling thread, that continues as
 * NULL. While it is recorded, it costs a write to the file.
 */
TARE_API void tare_fiber_free(struct tare_fiber *fiber);

/**
 * The calling thread continues as that fiber. Call it on the thread that switches, right before the
 * switch: before swapcontext(), before resuming a coroutine_handle, and again before control goes
 * back.
 *
 * @to  a fiber that runs on no other thread; NULL: the thread's own stack.
 *
 * Returns 0; -ENOMEM; -EBUSY when the fiber runs on another thread: then nothing changes, points
 * until the next switch count for the calling fiber, and the recording has an instant "(switch
 * refused: the fiber runs on another thread)" there. -EDEADLK from a signal handler that interrupts
 * the recording of a point, and within tare_region_measure(): nothing changes either. Errors are
 * detected only during a recording.
 *
 * A coroutine that hands itself to another thread calls tare_region_switch(NULL), or that of the
 * fiber which continues, before the other thread can see it.
 *
 * From any thread. Off: a call, a store, two loads and a branch. On: counters are read twice, and
 * what passes between the two reads is in no interval; with a clock, 32 bytes and 16 for each
 * counter are recorded when a fiber is resumed.
 */
TARE_API int tare_region_switch(struct tare_fiber *to);

/**
 * The fiber that the calling thread continued as last; NULL: none. From any thread. Costs a load.
 */
TARE_API struct tare_fiber *tare_fiber_current(void);

#ifdef __cplusplus
}

namespace tare
{
/* Owns a fiber: a member of a coroutine's promise. */
class fiber
{
      public:
	explicit fiber(const char *name = 0) : f_(tare_fiber_new(name))
	{
	}
	~fiber()
	{
		tare_fiber_free(f_);
	}
	struct tare_fiber *get() const
	{
		return f_;
	}

      private:
	struct tare_fiber *f_;
	fiber(const fiber &);
	fiber &operator=(const fiber &);
};

/*
 * The calling thread is that fiber until the end of the scope, then again the one that it was
 * before. Around resume().
 */
class fiber_scope
{
      public:
	explicit fiber_scope(struct tare_fiber *f) : before_(tare_fiber_current())
	{
		tare_region_switch(f);
	}
	~fiber_scope()
	{
		tare_region_switch(before_);
	}

      private:
	struct tare_fiber *before_;
	fiber_scope(const fiber_scope &);
	fiber_scope &operator=(const fiber_scope &);
};
}
#endif
#endif

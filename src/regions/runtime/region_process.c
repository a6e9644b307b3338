/* SPDX-License-Identifier: MIT */
#include "regions/runtime/region_process.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/pages.h"

enum { BECOMING = (int)0x80000000 };

static struct region_self nobody; /* until region_self is first needed */
struct region_self *region_self_page = &nobody;
static unsigned number = 1; /* of this process, or of the parent that forked it */
static __thread bool becoming __attribute__((tls_model("initial-exec")));
/* this thread has the lock, or is acquiring or releasing it */
static __thread bool locking __attribute__((tls_model("initial-exec")));

/* Works without a lock, for a child forked meanwhile: the first page that is stored stays. */
static void make_page(void)
{
	static struct region_self without_memory;
	struct region_self *page = pages_new_wiped(sizeof(*page)), *none = &nobody;

	if (!page)
		page = &without_memory;
	__atomic_store_n(&page->process, number, __ATOMIC_RELEASE);
	if (!__atomic_compare_exchange_n(&region_self_page, &none, page, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE) &&
	    page != &without_memory)
		pages_free(page, sizeof(*page));
}

unsigned region_process_next(void)
{
	return ++number;
}

void region_process_begin(unsigned process)
{
	__atomic_store_n(&region_self()->process, process, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) void look_closely(void)
{
	struct region_self *self;
	unsigned is = 0;

	if (becoming)
		return; /* in a handler that interrupted this */
	if (region_self() == &nobody)
		make_page();
	becoming = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self = region_self();
	if (__atomic_compare_exchange_n(&self->process, &is, (unsigned)BECOMING, false,
					__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		region_child_begins();
	while (__atomic_load_n(&self->process, __ATOMIC_ACQUIRE) == (unsigned)BECOMING)
		sched_yield(); /* another thread is doing it */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	becoming = false;
}

void region_process_look(void)
{
	if (__builtin_expect((int)region_process() <= 0, 0))
		look_closely();
}

/*
 * With -fsanitize=thread, ThreadSanitizer does not see this lock, because libtare is not built with
 * it. The sanitizer's annotations are only present in such programs.
 *
 * Source: LLVM compiler-rt/lib/tsan/rtl/tsan_interface_inl.h
 */
extern void __tsan_acquire(void *address) __attribute__((weak, visibility("default")));
extern void __tsan_release(void *address) __attribute__((weak, visibility("default")));

/* The second mutex of "Futexes Are Tricky" (U. Drepper). */
bool region_lock(void)
{
	unsigned *lock, is = 0;
	int kept = errno;

	region_process_look();
	if (locking)
		return false;
	locking = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lock = &region_self()->lock;
	if (!__atomic_compare_exchange_n(lock, &is, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
			syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL);
	if (__tsan_acquire)
		__tsan_acquire(lock);
	errno = kept;
	return true;
}

bool region_locking(void)
{
	return locking;
}

void region_unlock(void)
{
	unsigned *lock = &region_self()->lock;
	int kept = errno;

	if (__tsan_release)
		__tsan_release(lock);
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	locking = false;
	errno = kept;
}

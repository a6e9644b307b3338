/* SPDX-License-Identifier: MIT */
/*
 * Times of files by the virtual clock. The kernel gives a file that is written during the run a
 * real time. When the program first reads such a time, it gets the current virtual time, and the
 * same time whenever it reads it again. If the program has already read a later real time, it gets
 * a virtual time between those of the two neighbours. So the order of files is the real one, equal
 * times stay equal, and no file is newer than the clock. Times from before the run are not changed,
 * unless the virtual clock starts before them. Times in the future, which a program set itself, are
 * not changed either.
 */
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <linux/time.h>
#include "exact/engine/engine.h"

#define NS   1000000000ll
#define HOUR (3600 * NS)

enum { SQUEEZE = 1 << 15 };

enum { LOCK_TRIES = 20000, NOW = (1 << 30) - 1, OMIT = (1 << 30) - 2 /* UTIME_NOW, UTIME_OMIT */ };

struct time {
	int64_t s, ns;
};

static struct file_time *list(void)
{
	return (struct file_time *)((uint8_t *)eng.shared + SHARED_TIMES);
}

static int64_t real_now(int clock)
{
	struct time ts = { 0 };

	sys(__NR_clock_gettime, clock, &ts);
	return ts.s * NS + ts.ns;
}

/* A process that is killed while it holds the lock must not stop the others. */
static void lock_times(void)
{
	volatile uint32_t *word = &eng.shared->clock.lock;
	uint32_t seen = 0;

	for (int i = 0; i < LOCK_TRIES &&
	     !__atomic_compare_exchange_n(word, &seen, 1, false, __ATOMIC_ACQUIRE,
					  __ATOMIC_RELAXED);
	     i++, seen = 0)
		sys(__NR_sched_yield);
}

static void unlock_times(void)
{
	__atomic_store_n(&eng.shared->clock.lock, 0, __ATOMIC_RELEASE);
}

static uint32_t n_times(void)
{
	uint32_t n = eng.shared->clock.n_times;

	return n < TIMES_MAX ? n : TIMES_MAX;
}

/* The first entry of the list with a time not before `key`: its shown time, or its real one. */
static uint32_t place_of(int64_t key, bool shown)
{
	const struct file_time *l = list();
	uint32_t from = 0, to = n_times();

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if ((shown ? l[mid].shown : l[mid].real) < key)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static void insert(uint32_t at, int64_t real, int64_t shown)
{
	struct file_time *l = list();
	uint32_t n = n_times();

	if (n == TIMES_MAX)
		return;
	for (uint32_t i = n; i > at; i--)
		l[i] = l[i - 1];
	l[at] = (struct file_time){ real, shown };
	eng.shared->clock.n_times = n + 1;
}

static int64_t start_of(uint32_t at)
{
	return at ? list()[at - 1].shown : eng.clock_start;
}

/* The lock is held. */
static int64_t shown_for(struct thread *t, int64_t real)
{
	uint32_t at = place_of(real, false);
	int64_t before = start_of(at), shown;

	if (at < n_times() && list()[at].real == real)
		return list()[at].shown;
	if (at < n_times())
		shown = before + (list()[at].shown - before) / 2;
	else
		shown = eng.clock_start + clock_now(t);
	if (shown < before)
		shown = before;
	insert(at, real, shown);
	return shown;
}

/*
 * Times before the real start of the run but after its virtual start are compressed into the hour
 * before the virtual start. Their order is kept, for up to 3.7 years.
 */
static int64_t squeezed(int64_t real)
{
	int64_t first = eng.clock_start - HOUR, into;

	if (real <= first)
		return real;
	into = (real - first) / SQUEEZE;
	return first + (into < HOUR ? into : HOUR - 1);
}

static int64_t stretched(int64_t shown)
{
	int64_t first = eng.clock_start - HOUR;

	return shown <= first ? shown : first + (shown - first) * SQUEEZE;
}

/* Is the virtual start before the real one? */
static bool starts_early(void)
{
	return eng.clock_start - HOUR < eng.clock_real_start;
}

/* For a time from during the run, or one that a program set, maybe in the future. */
static int64_t time_of_run(struct thread *t, int64_t real)
{
	uint32_t at;
	int64_t shown = real;

	lock_times();
	at = place_of(real, false);
	if (at < n_times() && list()[at].real == real)
		shown = list()[at].shown;
	else if (real <= real_now(CLOCK_REALTIME))
		shown = shown_for(t, real);
	unlock_times();
	return shown;
}

/* Replaces a real time by the one that the program gets. */
static void show(struct thread *t, int64_t *s, int64_t *ns)
{
	int64_t real = *s * NS + *ns, shown = real;

	if (*s < 0 || *s > INT64_MAX / NS / 2)
		return;
	if (real >= eng.clock_real_start)
		shown = time_of_run(t, real);
	else if (starts_early())
		shown = squeezed(real);
	*s = shown / NS;
	*ns = shown % NS;
}

/*
 * Call before the clock is set forward: files that were written until now get times up to now.
 */
void file_times_mark(struct thread *t)
{
	int64_t real;

	/* the same as a first look at this time; not needed before a file can have been written */
	lock_times();
	real = real_now(CLOCK_REALTIME_COARSE);
	if (real >= eng.clock_real_start)
		shown_for(t, real);
	unlock_times();
}

/* ---- stat ---- */

static void show_words(struct thread *t, uint64_t *s, uint64_t *ns)
{
	int64_t words[2] = { (int64_t)*s, (int64_t)*ns };

	show(t, &words[0], &words[1]);
	*s = (uint64_t)words[0];
	*ns = (uint64_t)words[1];
}

static void old_stat(struct thread *t, unsigned to)
{
	const uint64_t *r = t->regs;
	struct stat st;
	long ret = to == RDX ? sys(r[RAX], r[RDI], r[RSI], &st, r[R10]) : sys(r[RAX], r[RDI], &st);

	if (ret == 0) {
		show_words(t, &st.st_mtime, &st.st_mtime_nsec);
		show_words(t, &st.st_ctime, &st.st_ctime_nsec);
		show_words(t, &st.st_atime, &st.st_atime_nsec);
		if (copy_bytes((void *)r[to], &st, sizeof st) != sizeof st)
			ret = -EFAULT;
	}
	finish(t, ret);
}

static void show_statx(struct thread *t, struct statx_timestamp *ts)
{
	int64_t s = ts->tv_sec, ns = ts->tv_nsec;

	show(t, &s, &ns);
	ts->tv_sec = s;
	ts->tv_nsec = (uint32_t)ns;
}

static void new_stat(struct thread *t)
{
	const uint64_t *r = t->regs;
	struct statx st;
	long ret = sys(r[RAX], r[RDI], r[RSI], r[RDX], r[R10], &st);

	if (ret == 0) {
		show_statx(t, &st.stx_btime);
		show_statx(t, &st.stx_mtime);
		show_statx(t, &st.stx_ctime);
		show_statx(t, &st.stx_atime);
		if (copy_bytes((void *)r[R8], &st, sizeof st) != sizeof st)
			ret = -EFAULT;
	}
	finish(t, ret);
}

/* ---- utimensat ---- */

/* The real time to store for a time that the program sets, which it later reads back. */
static int64_t real_for(struct thread *t, int64_t shown)
{
	int64_t now = real_now(CLOCK_REALTIME), real;
	int64_t clock = eng.clock_start + clock_now(t);
	uint32_t at, n;

	if (shown < eng.clock_start)
		return starts_early() ? stretched(shown) : shown;
	lock_times();
	n = n_times();
	at = place_of(shown, true);
	if (at < n && list()[at].shown == shown) {
		real = list()[at].real;
	} else {
		int64_t low = at ? list()[at - 1].real : eng.clock_real_start;

		if (at < n)
			real = low + (list()[at].real - low) / 2;
		else
			real = shown > clock ? now + (shown - clock) : now;
		if (real > low || !at)
			insert(at, real, shown);
	}
	unlock_times();
	return real;
}

static void make_real(struct thread *t, struct time *ts, int64_t unit)
{
	int64_t real;

	if (ts->s < 0 || ts->s > INT64_MAX / NS / 2 || ts->ns < 0 || ts->ns >= NS / unit)
		return;
	real = real_for(t, ts->s * NS + ts->ns * unit);
	ts->s = real / NS;
	ts->ns = real % NS / unit;
}

/* utimensat(dir, path, times, flags); utimes(path, times) and futimesat(dir, path, times) in us. */
static bool set_times(struct thread *t, unsigned from, int64_t unit)
{
	const uint64_t *r = t->regs;
	struct time both[2];
	uint64_t args[3] = { r[RDI], r[RSI], r[RDX] };

	if (!r[from] || copy_bytes(both, (const void *)r[from], sizeof both) != sizeof both)
		return false; /* now; or the kernel reports the error */
	if (unit != 1 || (both[0].ns != NOW && both[0].ns != OMIT))
		make_real(t, &both[0], unit);
	if (unit != 1 || (both[1].ns != NOW && both[1].ns != OMIT))
		make_real(t, &both[1], unit);
	args[from == RSI ? 1 : 2] = (uint64_t)both;
	finish(t, sys(r[RAX], args[0], args[1], args[2], r[R10]));
	return true;
}

/* utime(path, times) in seconds. */
static bool set_seconds(struct thread *t)
{
	const uint64_t *r = t->regs;
	int64_t s[2];

	if (!r[RSI] || copy_bytes(s, (const void *)r[RSI], sizeof s) != sizeof s)
		return false;
	for (int i = 0; i < 2; i++) {
		struct time ts = { s[i], 0 };

		make_real(t, &ts, 1);
		s[i] = ts.s;
	}
	finish(t, sys(r[RAX], r[RDI], s));
	return true;
}

/* False: another call. */
bool file_time_call(struct thread *t)
{
	switch (t->regs[RAX]) {
	case __NR_stat:
	case __NR_fstat:
	case __NR_lstat:
		old_stat(t, RSI);
		return true;
	case __NR_newfstatat:
		old_stat(t, RDX);
		return true;
	case __NR_statx:
		new_stat(t);
		return true;
	case __NR_utimensat:
		return set_times(t, RDX, 1);
	case __NR_futimesat:
		return set_times(t, RDX, 1000);
	case __NR_utimes:
		return set_times(t, RSI, 1000);
	case __NR_utime:
		return set_seconds(t);
	default:
		return false;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * The virtual clock: 1 ns for each instruction of the thread, from a fixed start. A thread never
 * reads a time earlier than the latest that any thread of the run has read, so time never goes
 * backward between threads or processes. A child starts at its parent's time.
 *
 * A sleep sets the sleeper's time forward. It takes no real time if every other thread of the run
 * sleeps longer, or waits for a child, a futex, a signal or a pipe that the run created
 * (all_wait()). Otherwise it lasts its real time, or until the others begin to wait. Timeouts of
 * poll(2) and similar calls, and of futexes, are real, but absolute ones are converted.
 *
 * Timers are the kernel's and run in real time. So the clock of a process that sets a timer runs
 * with the real clock from then on, and no thread skips a sleep while a timer may expire.
 */
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <linux/time.h>
#include <linux/wait.h>
#include "exact/engine/engine.h"

#define NS      1000000000ll
#define FOREVER INT64_MAX

enum {
	STATE_ROOM = 128,
	/* ns; files written before and after a sleep of this length have different times */
	TICK_SEEN = 10000000,
	SLICE = 1000000, /* ns; the first real part of a sleep */
	SLICE_MAX = 16000000,
	FUTEX_WAITV = 449,    /* from Linux 5.16 */
	SETTIME_ABSOLUTE = 1, /* TIMER_ABSTIME, TFD_TIMER_ABSTIME */
};

/* CLOCK_MONOTONIC at virtual time 0: an uptime of about a day. */
static const int64_t UPTIME = 100000 * NS;

struct time {
	int64_t s, ns;
};

static struct virtual_clock *shared_clock(void)
{
	return &eng.shared->clock;
}

int64_t real_time(int clock)
{
	struct time ts = { 0 };

	sys(__NR_clock_gettime, clock, &ts);
	return ts.s * NS + ts.ns;
}

static void beyond(uint32_t what)
{
	if (!(shared_clock()->beyond & what))
		__atomic_fetch_or(&shared_clock()->beyond, what, __ATOMIC_RELAXED);
}

/* ---- the time ---- */

static int64_t own_time(const struct thread *t)
{
	return t->clock + t->count;
}

void clock_publish(int64_t now)
{
	volatile int64_t *latest = &shared_clock()->latest;
	int64_t seen = *latest;

	if (eng.shared->threads_top == 1 && seen < now) { /* there was never another thread */
		*latest = now;
		return;
	}
	while (seen < now &&
	       !__atomic_compare_exchange_n(latest, &seen, now, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
}

void clock_forward(struct thread *t, int64_t to)
{
	int64_t now = own_time(t);

	if (to > now)
		t->clock += to - now;
	clock_publish(own_time(t));
}

/* The virtual time, for the program. */
int64_t clock_now(struct thread *t)
{
	const struct process *p = process_at(t->process);
	int64_t to = shared_clock()->latest;

	if (p->has_timer) {
		int64_t real = real_time(CLOCK_MONOTONIC) + p->by_real;

		to = real > to ? real : to;
	}
	clock_forward(t, to);
	return own_time(t);
}

void clock_child(const struct thread *parent, struct thread *child)
{
	child->clock = own_time(parent) - child->count;
	child->count_first = child->count;
}

/* A thread that waits for this one to end must not read an earlier time. */
void clock_ends(struct thread *t)
{
	if (eng.mode & SAME_CLOCK)
		clock_publish(own_time(t));
}

static int64_t process_instructions(const struct thread *t)
{
	int64_t sum = process_at(t->process)->done[EXACT_INSTRUCTIONS];

	for (uint32_t i = 0; i < shared_threads(eng.shared); i++)
		if (eng.shared->thread_states[i] == THREAD_LIVE &&
		    thread_at(i)->process == t->process)
			sum += thread_at(i)->count - thread_at(i)->count_first;
	return sum;
}

/* The clock's time at virtual time 0; -1: the clock is not virtual. */
int64_t clock_begin(uint64_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI:
		return eng.clock_start;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		return UPTIME;
	default:
		return -1;
	}
}

static bool read_clock(struct thread *t, uint64_t clock, int64_t *out)
{
	int64_t begin = clock_begin(clock);

	if (begin >= 0)
		*out = begin + clock_now(t);
	else if (clock == CLOCK_THREAD_CPUTIME_ID)
		*out = t->count - t->count_first;
	else if (clock == CLOCK_PROCESS_CPUTIME_ID)
		*out = process_instructions(t);
	else
		return false;
	return true;
}

bool clock_executes(const struct insn *in)
{
	return (eng.mode & SAME_CLOCK) && (insn_rdtsc(in) || insn_rdtscp(in));
}

/* rdtsc, rdtscp: a tick is 1 ns. */
void clock_instruction(struct thread *t, const struct insn *in)
{
	uint64_t now = (uint64_t)(UPTIME + clock_now(t));

	t->regs[RAX] = (uint32_t)now;
	t->regs[RDX] = now >> 32;
	if (insn_rdtscp(in))
		t->regs[RCX] = t->cpu;
}

/* ---- answers ---- */

static void answer(struct thread *t, uint64_t to, const void *from, size_t n)
{
	finish(t, copy_bytes((void *)to, from, n) == n ? 0 : -EFAULT);
}

/*
 * As finish(), for frequent calls: continues as after a call that the kernel made, without a
 * look-up.
 */
static void answer_fast(struct thread *t, uint64_t to, const int64_t pair[2])
{
	bool done = !to || store_pair(to, pair[0], pair[1]);

	if (t->drafted) {
		finish(t, done ? 0 : -EFAULT);
		return;
	}
	t->regs[RAX] = done ? 0 : (uint64_t)-EFAULT;
	t->regs[RCX] = t->target;
	t->regs[R11] = t->flags;
	t->jump = t->tail;
}

static bool get_time(struct thread *t)
{
	const uint64_t *r = t->regs;
	int64_t now;

	if (!read_clock(t, r[RDI], &now))
		return false;
	answer_fast(t, r[RSI], (int64_t[]){ now / NS, now % NS });
	return true;
}

static void get_time_of_day(struct thread *t)
{
	const uint64_t *r = t->regs;
	int64_t now = eng.clock_start + clock_now(t);
	uint64_t no_zone = 0;

	if (r[RSI] && copy_bytes((void *)r[RSI], &no_zone, 8) != 8) {
		finish(t, -EFAULT);
		return;
	}
	answer_fast(t, r[RDI], (int64_t[]){ now / NS, now % NS / 1000 });
}

static void get_seconds(struct thread *t)
{
	int64_t now = (eng.clock_start + clock_now(t)) / NS;
	uint64_t to = t->regs[RDI];

	finish(t, to && copy_bytes((void *)to, &now, 8) != 8 ? -EFAULT : now);
}

/* sysinfo(2): its first word. */
static void system_facts(struct thread *t)
{
	uint64_t facts[14];
	long ret = sys(__NR_sysinfo, facts);

	if (ret < 0) {
		finish(t, ret);
		return;
	}
	facts[0] = (uint64_t)((UPTIME + clock_now(t)) / NS);
	answer(t, t->regs[RDI], facts, sizeof facts);
}

static char *put_decimal(char *p, uint64_t n)
{
	char digits[20];
	unsigned k = 0;

	do
		digits[k++] = (char)('0' + n % 10);
	while (n /= 10);
	while (k)
		*p++ = digits[--k];
	return p;
}

/* A memory file in place of /proc/uptime: no time idle. */
static bool opens_uptime(struct thread *t)
{
	static const char name[] = "uptime", idle[] = " 0.00\n";
	const uint64_t *r = t->regs;
	bool at = r[RAX] == __NR_openat;
	uint64_t flags = at ? r[RDX] : r[RSI], hundredths;
	char text[64], *p = text;
	long fd;

	if ((flags & O_ACCMODE) != O_RDONLY || !is_path(at ? r[RSI] : r[RDI], "/proc/uptime"))
		return false;
	hundredths = (uint64_t)((UPTIME + clock_now(t)) / (NS / 100));
	p = put_decimal(p, hundredths / 100);
	*p++ = '.';
	*p++ = (char)('0' + hundredths / 10 % 10);
	*p++ = (char)('0' + hundredths % 10);
	memcpy(p, idle, sizeof idle - 1);
	p += sizeof idle - 1;
	fd = sys(__NR_memfd_create, name, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	if (fd >= 0) {
		sys(__NR_write, fd, text, p - text);
		sys(__NR_lseek, fd, 0, 0);
	}
	finish(t, fd);
	return true;
}

/* ---- does every other thread wait? ---- */

static char *put_number(char *p, const char *before, uint32_t n)
{
	while (*before)
		*p++ = *before++;
	return put_decimal(p, n);
}

/* "/proc/PID/task/TID" and `rest`; without the thread if tid is 0. */
static void put_path(char *p, int32_t pid, int32_t tid, const char *rest)
{
	p = put_number(p, "/proc/", (uint32_t)pid);
	if (tid)
		p = put_number(p, "/task/", (uint32_t)tid);
	while ((*p++ = *rest++))
		;
}

/*
 * Can only the run wake the thread that reads from `fd`? Pipes that the command inherited may have
 * writers outside.
 */
static bool reads_own_pipe(int32_t pid, int32_t tid, uint32_t fd)
{
	const struct virtual_clock *c = shared_clock();
	const uint32_t n = __atomic_load_n(&c->n_pipes, __ATOMIC_RELAXED);
	char path[96], rest[24];
	struct stat st;

	*put_number(rest, "/fd/", fd) = 0;
	put_path(path, pid, tid, rest);
	if (n > CLOCK_PIPES || sys(__NR_stat, path, &st) < 0 || (st.st_mode & 0170000) != 0010000)
		return false;
	for (uint32_t i = 0; i < n && i < CLOCK_PIPES; i++)
		if (c->pipes[i] == st.st_ino)
			return false;
	return true;
}

/* The kernel's state of a thread, or of a process (tid 0); 0: it does not exist. */
char state_of(int32_t pid, int32_t tid)
{
	char path[64], text[STATE_ROOM] = "";
	char state = 0;
	long fd, n;

	put_path(path, pid, tid, "/stat");
	fd = sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd == -ENOENT || fd == -ESRCH ? 0 : '?';
	n = sys(__NR_read, fd, text, sizeof text - 1);
	sys(__NR_close, fd);
	/* the name is in parentheses, and may contain parentheses */
	for (long i = 0; i + 2 < n; i++)
		if (text[i] == ')' && text[i + 1] == ' ')
			state = text[i + 2];
	return state ? state : '?';
}

/* An uncounted process runs, or one that is about to end. */
static bool process_runs(const struct process *p)
{
	char state;

	if (p->state == PROCESS_TAKEN || (p->state == PROCESS_LIVE && (p->refused || p->foreign)))
		return true;
	if (p->state != PROCESS_ENDED)
		return false;
	state = state_of(p->pid, 0);
	return state && state != 'Z' && state != 'X';
}

static bool waits_longer(const struct thread *o, const struct thread *t)
{
	int64_t until = o->until;

	return o->in_call && until &&
		(until > t->until || (until == t->until && o->index > t->index));
}

/*
 * The sum of the other threads' counts: two sums are equal only if none of them executed an
 * instruction. -1: one of them does not wait for longer than `t`. `n`: the number of others.
 */
static int64_t counts_of_waiting(const struct thread *t, unsigned *n)
{
	int64_t sum = 0;

	*n = 0;
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++) {
		const struct thread *o = thread_at(i);
		uint32_t state = eng.shared->thread_states[i];

		if (o == t || state == THREAD_FREE)
			continue;
		if (state != THREAD_LIVE || !waits_longer(o, t))
			return -1;
		sum += o->count & INT32_MAX;
		++*n;
	}
	return sum;
}

/*
 * Does every other thread of the run wait in a call, so that nothing happens before t->until? A
 * thread that was woken and has not continued yet is not in state S.
 */
static bool all_wait(const struct thread *t, unsigned *others)
{
	int64_t before = counts_of_waiting(t, others), after;
	const struct process *own = process_at(t->process);

	if (before < 0 || own->foreign || shared_clock()->timers > real_time(CLOCK_MONOTONIC))
		return false;
	for (uint32_t i = 0; i < shared_processes(eng.shared); i++) {
		*others += process_at(i)->state == PROCESS_ENDED;
		if (process_runs(process_at(i)))
			return false;
	}
	for (uint32_t i = 0; *others && i < shared_threads(eng.shared); i++) {
		const struct thread *o = thread_at(i);
		int32_t pid = process_at(o->process)->pid;

		if (o == t || eng.shared->thread_states[i] != THREAD_LIVE)
			continue;
		if (state_of(pid, o->tid) != 'S' ||
		    (o->regs[RAX] == __NR_read && o->until == FOREVER &&
		     !reads_own_pipe(pid, o->tid, (uint32_t)o->regs[RDI])))
			return false;
	}
	after = counts_of_waiting(t, &(unsigned){ 0 });
	return before == after;
}

/* ---- sleeping ---- */

static void really_sleep(int64_t ns)
{
	struct time ts = { ns / NS, ns % NS };

	sys(__NR_nanosleep, &ts);
}

/* 0, or -EINTR: a signal arrived, and t->pending is set. */
static long sleep_until(struct thread *t, int64_t until)
{
	int64_t from = clock_now(t), lasts = until - from, begun = real_time(CLOCK_MONOTONIC);
	int64_t tick = lasts < TICK_SEEN ? 0 : real_time(CLOCK_REALTIME_COARSE), slept = 0,
		slice = SLICE;
	unsigned others, looks = 0;

	if (lasts <= 0) {
		sys(__NR_sched_yield);
		return 0;
	}
	file_times_mark(t);
	t->until = until;
	t->in_call = 1;
	really_sleep(1); /* some real time for something outside, if the program polls for it */
	while (slept < lasts && !t->pending) {
		/* Others may be about to wake, so check twice. */
		if (real_time(CLOCK_REALTIME_COARSE) != tick && all_wait(t, &others)) {
			if (!others || looks++)
				break;
		} else {
			looks = 0;
		}
		really_sleep(slice < lasts - slept ? slice : lasts - slept);
		slept = real_time(CLOCK_MONOTONIC) - begun;
		slice = slice < SLICE_MAX ? 2 * slice : slice;
	}
	t->until = 0;
	clock_forward(t, t->pending ? from + slept : until);
	return t->pending && slept < lasts ? -EINTR : 0;
}

bool time_read(uint64_t at, int64_t unit, int64_t *out)
{
	struct time ts;

	if (copy_bytes(&ts, (const void *)at, sizeof ts) != sizeof ts || ts.s < 0 || ts.ns < 0 ||
	    ts.ns >= NS / unit)
		return false; /* the kernel reports the error */
	*out = ts.s > FOREVER / NS / 4 ? FOREVER / 4 : ts.s * NS + ts.ns * unit;
	return true;
}

void time_write(uint64_t to, int64_t ns, int64_t unit)
{
	struct time ts = { ns / NS, ns % NS / unit };

	if (ns < 0)
		ts = (struct time){ 0 };
	if (to)
		copy_bytes((void *)to, &ts, sizeof ts);
}

/* nanosleep(asked, left), clock_nanosleep(clock, flags, asked, left). */
static bool sleep_call(struct thread *t, uint64_t clock, uint64_t flags, uint64_t asked,
		       uint64_t left)
{
	int64_t begin = clock_begin(clock), ns, until;
	long ret;

	if (begin < 0 || !time_read(asked, 1, &ns))
		return false;
	until = flags & SETTIME_ABSOLUTE ? ns - begin : clock_now(t) + ns;
	ret = sleep_until(t, until);
	if (ret < 0 && !(flags & SETTIME_ABSOLUTE))
		time_write(left, until - clock_now(t), 1);
	finish(t, ret);
	return true;
}

/* poll(2) or select(2) without descriptors. */
static bool empty_wait(struct thread *t, int64_t ns, uint64_t left, int64_t unit)
{
	int64_t until = clock_now(t) + ns;
	long ret = sleep_until(t, until);

	time_write(left, until - clock_now(t), unit);
	finish(t, ret);
	return true;
}

/* The kernel makes the call, with a timeout in real time. */
static bool real_wait(struct thread *t, int64_t ns, int32_t returns)
{
	t->timeout = clock_now(t) + ns;
	t->timeout_returns = returns;
	return false;
}

/* Without a timeout; the event may come from the run alone. */
static bool endless_wait(struct thread *t)
{
	t->until = FOREVER;
	return false;
}

static bool poll_call(struct thread *t, bool nothing, int64_t ns, uint64_t left, int64_t unit)
{
	return nothing ? empty_wait(t, ns, left, unit) : real_wait(t, ns, 0);
}

static bool poll_calls(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t mask = 0;
	int64_t ns;

	switch (r[RAX]) {
	case __NR_poll:
		ns = (int32_t)r[RDX] * (NS / 1000);
		return ns < 0 ? !r[RSI] && endless_wait(t) : ns && poll_call(t, !r[RSI], ns, 0, 1);
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
		ns = (int32_t)r[R10] * (NS / 1000);
		return ns > 0 && real_wait(t, ns, 0);
	case __NR_epoll_pwait2:
		return r[R10] && time_read(r[R10], 1, &ns) && ns && real_wait(t, ns, 0);
	case __NR_ppoll:
		return r[RDX] && time_read(r[RDX], 1, &ns) && ns &&
			poll_call(t, !r[RSI] && !r[R10], ns, r[RDX], 1);
	case __NR_select:
		return r[R8] && time_read(r[R8], 1000, &ns) && ns &&
			poll_call(t, !r[RDI], ns, r[R8], 1000);
	default: /* pselect6 */
		if (r[R9] && copy_bytes(&mask, (const void *)r[R9], 8) != 8)
			return false;
		return r[R8] && time_read(r[R8], 1, &ns) && ns &&
			poll_call(t, !r[RDI] && !mask, ns, r[R8], 1);
	}
}

/* ---- deadlines ---- */

/* Replaces the deadline of the call by one in real time; register `at` has its address. */
static bool real_deadline(struct thread *t, unsigned at, uint64_t clock, int64_t deadline)
{
	int64_t begin = clock_begin(clock), left, real;

	if (begin < 0)
		return false;
	left = deadline - begin - clock_now(t);
	real = left <= 0 ? 0 : real_time((int)clock) + left;
	t->wait_real[0] = real / NS;
	t->wait_real[1] = real % NS;
	t->timeout = left > 0 ? deadline - begin : 0;
	t->wait_kept = t->regs[at];
	t->wait_register = at;
	t->regs[at] = (uint64_t)t->wait_real;
	if (!t->timeout)
		t->timeout = own_time(t);
	t->timeout_returns = -ETIMEDOUT;
	t->until = t->timeout;
	return false;
}

/* Makes the call with an expired timeout, to check the word. True: no thread can change it. */
static bool futex_skips(struct thread *t, int64_t until)
{
	const uint64_t *r = t->regs;
	struct time none = { 0 };
	unsigned others;
	bool skips;
	long ret;

	if (!(r[RSI] & FUTEX_PRIVATE_FLAG))
		return false;
	t->until = until;
	skips = all_wait(t, &others);
	t->until = 0;
	if (!skips)
		return false;
	ret = sys(__NR_futex, r[RDI], FUTEX_WAIT | FUTEX_PRIVATE_FLAG, r[RDX], &none);
	if (ret == -ETIMEDOUT)
		clock_forward(t, until);
	finish(t, ret);
	return true;
}

static bool futex_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t op = r[RSI] & FUTEX_CMD_MASK;
	uint64_t clock = op == FUTEX_LOCK_PI || r[RSI] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME
									      : CLOCK_MONOTONIC;
	int64_t ns;

	enum { LOCK_PI2 = 13 };
	if (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET && op != FUTEX_LOCK_PI && op != LOCK_PI2 &&
	    op != FUTEX_WAIT_REQUEUE_PI)
		return false;
	if (!r[R10])
		return op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET ? endless_wait(t) : false;
	if (!time_read(r[R10], 1, &ns))
		return false;
	if (op == FUTEX_WAIT) {
		if (ns && futex_skips(t, clock_now(t) + ns))
			return true;
		real_wait(t, ns, -ETIMEDOUT);
		t->until = t->timeout;
		return false;
	}
	if (op == FUTEX_WAIT_BITSET && ns - clock_begin(clock) > clock_now(t) &&
	    futex_skips(t, ns - clock_begin(clock)))
		return true;
	return real_deadline(t, R10, clock, ns);
}

/* mq_timedsend, mq_timedreceive: the deadline is by CLOCK_REALTIME. */
static bool queue_call(struct thread *t)
{
	int64_t ns;

	return t->regs[R8] && time_read(t->regs[R8], 1, &ns) &&
		real_deadline(t, R8, CLOCK_REALTIME, ns);
}

/* rt_sigtimedwait, semtimedop: the timeout is relative, and the kernel waits. */
static bool signal_wait(struct thread *t, uint64_t asked)
{
	int64_t ns;

	if (!asked)
		return endless_wait(t);
	return time_read(asked, 1, &ns) && ns && real_wait(t, ns, -EAGAIN);
}

/* A call with a timeout returned. */
void clock_waited(struct thread *t, long ret)
{
	if (t->wait_register)
		t->regs[t->wait_register] = t->wait_kept;
	if (ret == t->timeout_returns)
		clock_forward(t, t->timeout);
	t->wait_register = 0;
	t->timeout = 0;
}

/* ---- timers ---- */

/* A timer was set that may expire until `ns` from now. The process's clock then runs with the real
 * one. */
static void timer_set(struct thread *t, int64_t ns, bool repeats)
{
	struct process *p = process_at(t->process);
	volatile int64_t *timers = &shared_clock()->timers;
	int64_t real = real_time(CLOCK_MONOTONIC), end = repeats ? FOREVER : real + ns;
	int64_t seen = *timers;

	beyond(BEYOND_TIMER);
	p->by_real = clock_now(t) - real; /* further ahead, if a sleep was skipped */
	p->has_timer = 1;
	while (seen < end &&
	       !__atomic_compare_exchange_n(timers, &seen, end, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
}

/* setitimer(which, new, old): struct itimerval. */
static void interval_timer(struct thread *t)
{
	uint64_t new = t->regs[RSI];
	int64_t interval, value;

	if (new &&time_read(new, 1000, &interval) && time_read(new + 16, 1000, &value) && value)
		timer_set(t, value, interval);
}

/*
 * timer_settime(id, flags, new, old), timerfd_settime(fd, flags, new, old): struct itimerspec. An
 * absolute time becomes a relative one, as the timer's clock is not known here.
 */
static bool set_timer(struct thread *t)
{
	const uint64_t *r = t->regs;
	int64_t value, interval, now, left;
	struct time spec[2];

	if (!time_read(r[RDX], 1, &interval) || !time_read(r[RDX] + 16, 1, &value) || !value)
		return false;
	now = clock_now(t);
	/* CLOCK_REALTIME starts decades after the others. */
	left = r[RSI] & SETTIME_ABSOLUTE
		? value - now - (value > eng.clock_start / 2 ? eng.clock_start : UPTIME)
		: value;
	timer_set(t, left > 0 ? left : 0, interval);
	if (!(r[RSI] & SETTIME_ABSOLUTE))
		return false;
	left = left > 0 ? left : 1;
	spec[0] = (struct time){ interval / NS, interval % NS };
	spec[1] = (struct time){ left / NS, left % NS };
	finish(t, sys(r[RAX], r[RDI], r[RSI] & ~(uint64_t)SETTIME_ABSOLUTE, spec, r[R10]));
	return true;
}

/* False: the kernel makes the call. */
bool clock_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	int64_t ns;

	t->timeout = t->until = 0;
	t->wait_register = 0;
	switch (r[RAX]) {
	case __NR_clock_gettime:
		return get_time(t);
	case __NR_gettimeofday:
		get_time_of_day(t);
		return true;
	case __NR_time:
		get_seconds(t);
		return true;
	case __NR_sysinfo:
		system_facts(t);
		return true;
	case __NR_open:
	case __NR_openat:
		return opens_uptime(t);
	case __NR_nanosleep:
		return sleep_call(t, CLOCK_MONOTONIC, 0, r[RDI], r[RSI]);
	case __NR_clock_nanosleep:
		return sleep_call(t, r[RDI], r[RSI], r[RDX], r[R10]);
	case __NR_poll:
	case __NR_ppoll:
	case __NR_select:
	case __NR_pselect6:
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return poll_calls(t);
	case __NR_futex:
		return futex_call(t);
	case __NR_mq_timedsend:
	case __NR_mq_timedreceive:
		return queue_call(t);
	case __NR_rt_sigtimedwait:
		return signal_wait(t, r[RDX]);
	case __NR_semtimedop:
		return signal_wait(t, r[R10]);
	case FUTEX_WAITV:
		return r[R10] && time_read(r[R10], 1, &ns) && real_deadline(t, R10, r[R8], ns);
	case __NR_wait4:
		return r[RDX] & WNOHANG ? false : endless_wait(t);
	case __NR_waitid:
		return r[R10] & WNOHANG ? false : endless_wait(t);
	case __NR_read: /* from a pipe: reads_own_pipe() */
	case __NR_pause:
	case __NR_rt_sigsuspend:
		return endless_wait(t);
	case __NR_alarm:
		if (r[RDI])
			timer_set(t, (int64_t)(uint32_t)r[RDI] * NS, false);
		return false;
	case __NR_setitimer:
		interval_timer(t);
		return false;
	case __NR_timer_settime:
	case __NR_timerfd_settime:
		return set_timer(t);
	case __NR_getrusage:
	case __NR_times:
		beyond(BEYOND_CPU_TIME);
		return false;
	default:
		return false;
	}
}

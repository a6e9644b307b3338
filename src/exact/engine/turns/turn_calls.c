/* SPDX-License-Identifier: MIT */
/*
 * With SAME_TURNS: system calls that wait. The thread checks, without waiting, whether the call
 * would return. If so, the thread makes it. Otherwise the thread passes the turn on and checks
 * again later (turn_wait()). So the kernel never chooses which thread continues.
 */
#include <asm/poll.h>
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/eventpoll.h>
#include <linux/fcntl.h>
#include <linux/time.h>
#include <linux/wait.h>
#include "exact/engine/signal.h"

enum {
	PIPE_ATOMIC = 4096, /* PIPE_BUF: fits if poll(2) reports that a pipe is writable */
	FILE_KIND = 0170000,
	FIFO = 0010000,
	SOCKET = 0140000,
	SET_BYTES = 1024, /* of descriptors, for select(2) */
	PARTS = 64,       /* of a writev(2) */
	POLLED_MAX = 16,
	OPERATIONS = 64, /* of a semop(2) */
	IPC_NO_WAIT = 04000,
	NO_WAIT_MESSAGE = 0x40, /* MSG_DONTWAIT */
	LOCK_NO_WAIT = 4,       /* LOCK_NB */
	SPLICE_NO_WAIT = 2,     /* SPLICE_F_NONBLOCK */
	LOCAL = 1,              /* AF_UNIX */
	INTERNET = 2,           /* AF_INET */
	INTERNET_6 = 10,
	OF_SOCKETS = 1, /* SOL_SOCKET */
	PEER = 17,      /* SO_PEERCRED */
	ABSOLUTE = 1,   /* TIMER_ABSTIME */
	FUTEX_WAITV = 449,
	FUTEX_WAKE_2 = 454,
	FUTEX_REQUEUE_2 = 456,
	OWN_LOCK = 37,      /* F_OFD_SETLK */
	OWN_LOCK_WAIT = 38, /* F_OFD_SETLKW */
	/* why an event may not come from the run: struct thread */
	FROM_RUN = 0,
	FROM_OUTSIDE = 1,
	BY_SIGNAL = 2,
};

#define NS 1000000000ll

struct polled {
	int32_t fd;
	int16_t events, got;
};

/* ---- signals ---- */

/*
 * A signal with a handler arrived before the call, or while the thread waited in it. Always true:
 * the call is done. `restarts`: the kernel would restart the call, if the handler allows it
 * (SA_RESTART). Source: signal(7), "Interruption of system calls and library functions by signal
 * handlers".
 */
bool turn_interrupted(struct thread *t, bool waited, bool restarts)
{
	uint32_t sig = t->last_signal;

	if (!waited) {
		undo_syscall(t);
	} else if (restarts && sig >= 1 && sig <= SIGNALS &&
		   (process_at(t->process)->actions[sig - 1].flags & SA_RESTART)) {
		t->target -= 2; /* it is executed, and counted, again */
		t->edge = 0;
		dispatch(t);
	} else {
		finish(t, -EINTR);
	}
	return true;
}

/* The event that the thread waited for has happened. True: the call is done. */
static bool make_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	bool pins;
	long ret;

	if (!t->pending)
		return false;
	/* the event comes first: the signal is delivered after the call */
	pins = kernel_writes(t);
	ret = sys(r[RAX], r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9]);
	if (pins) {
		lock();
		unpin(t);
		unlock();
	}
	finish(t, ret);
	return true;
}

/* ---- descriptors ---- */

static uint32_t kind_of(int fd, uint64_t *inode)
{
	struct stat st;

	if (sys(__NR_fstat, fd, &st) < 0)
		return 0;
	*inode = st.st_ino;
	return st.st_mode & FILE_KIND;
}

/* A pipe that the run created: no other program can read or write it. */
static bool is_own_pipe(int fd)
{
	const struct virtual_clock *c = &eng.shared->clock;
	const uint32_t n = __atomic_load_n(&c->n_pipes, __ATOMIC_RELAXED);
	uint64_t inode;

	if (n > CLOCK_PIPES || kind_of(fd, &inode) != FIFO)
		return false;
	for (uint32_t i = 0; i < n && i < CLOCK_PIPES; i++)
		if (c->pipes[i] == inode)
			return false;
	return true;
}

static bool is_ready(int fd, int16_t events)
{
	struct polled p = { fd, events, 0 };

	return sys(__NR_poll, &p, 1, 0) != 0;
}

/* O_NONBLOCK, or an end of a pipe that does not allow it. */
static bool returns_at_once(int fd, int16_t events)
{
	long flags = sys(__NR_fcntl, fd, F_GETFL);

	return (flags & O_NONBLOCK) ||
		(flags & O_ACCMODE) == (events == POLLIN ? O_WRONLY : O_RDONLY);
}

/* True: the call is done. */
static bool wait_fd(struct thread *t, int fd, int16_t events)
{
	for (bool waited = false; !is_ready(fd, events); waited = true) {
		if (!waited && returns_at_once(fd, events))
			return false;
		if (t->pending)
			return turn_interrupted(t, waited, true);
		if (!turns_on(t))
			return false;
		t->may_be_outside = is_own_pipe(fd) ? FROM_RUN : FROM_OUTSIDE;
		turn_wait(t, TURN_POLLS, TURN_NEVER, waited);
		if (t->pending && is_ready(fd, events))
			return make_call(t);
	}
	return false;
}

/* ---- writing more than a pipe or socket takes at once ---- */

/* A part of a write; -EAGAIN: it would wait. */
static long write_part(int fd, bool socket, uint64_t from, uint64_t n)
{
	if (socket)
		return sys(__NR_sendto, fd, from, n, NO_WAIT_MESSAGE);
	if (!is_ready(fd, POLLOUT))
		return -EAGAIN;
	return sys(__NR_write, fd, from, n < PIPE_ATOMIC ? n : PIPE_ATOMIC);
}

/*
 * Returns the number of bytes written, or the error if there are none. *interrupted: a signal
 * arrived before the first byte.
 */
static long write_all(struct thread *t, int fd, bool socket, uint64_t from, uint64_t n,
		      bool *interrupted)
{
	uint64_t done = 0;
	long ret = 0;

	for (bool again = false; done < n;) {
		ret = write_part(fd, socket, from + done, n - done);
		if (ret > 0) {
			done += (uint64_t)ret;
			eng.shared->turns.calls++;
			again = false;
			continue;
		}
		if (ret != -EAGAIN)
			break;
		if (t->pending) {
			*interrupted = !done;
			break;
		}
		t->may_be_outside = is_own_pipe(fd) ? FROM_RUN : FROM_OUTSIDE;
		turn_wait(t, TURN_POLLS, TURN_NEVER, again);
		again = true;
		if (!turns_on(t)) {
			ret = sys(__NR_write, fd, from + done, n - done);
			return ret >= 0 ? (long)done + ret : done ? (long)done : ret;
		}
	}
	return done ? (long)done : ret;
}

static bool writes(struct thread *t, int fd)
{
	const uint64_t *r = t->regs;
	uint64_t parts[PARTS][2], n = r[RDX], sum = 0, inode;
	bool many = r[RAX] == __NR_writev, interrupted = false;
	uint32_t kind;
	long ret, all = 0;

	if (many && (n > PARTS || copy_bytes(parts, (const void *)r[RSI], n * 16) != n * 16))
		return wait_fd(t, fd, POLLOUT);
	if (!many)
		parts[0][0] = r[RSI], parts[0][1] = r[RDX], n = 1;
	for (uint64_t i = 0; i < n; i++)
		sum += parts[i][1] < 1ull << 32 ? parts[i][1] : 1ull << 32;
	if (sum <= PIPE_ATOMIC)
		return wait_fd(t, fd, POLLOUT);
	kind = kind_of(fd, &inode);
	if ((kind != FIFO && kind != SOCKET) || returns_at_once(fd, POLLOUT))
		return wait_fd(t, fd, POLLOUT);
	for (uint64_t i = 0; i < n; i++) {
		ret = write_all(t, fd, kind == SOCKET, parts[i][0], parts[i][1], &interrupted);
		if (interrupted && !all)
			return turn_interrupted(t, true, true);
		if (ret < 0) {
			all = all ? all : ret;
			break;
		}
		all += ret;
		if ((uint64_t)ret < parts[i][1])
			break;
	}
	finish(t, all);
	return true;
}

/* sendfile, splice, tee: as much as is possible without waiting. */
static bool moves(struct thread *t, int from, int to)
{
	const uint64_t *r = t->regs;
	uint64_t inode;
	long ret;

	if (wait_fd(t, from, POLLIN) || wait_fd(t, to, POLLOUT))
		return true;
	if (r[RAX] != __NR_sendfile) {
		uint64_t quick = SPLICE_NO_WAIT;

		if (r[RAX] == __NR_splice)
			ret = sys(__NR_splice, r[RDI], r[RSI], r[RDX], r[R10], r[R8],
				  r[R9] | quick);
		else
			ret = sys(r[RAX], r[RDI], r[RSI], r[RDX], r[R10] | quick);
	} else if (kind_of(to, &inode) == FIFO && r[R10] > PIPE_ATOMIC) {
		ret = sys(__NR_sendfile, r[RDI], r[RSI], r[RDX], PIPE_ATOMIC);
	} else {
		return false;
	}
	finish(t, ret);
	return true;
}

/* ---- sockets ---- */

static void look_at_peer(int fd)
{
	struct {
		int32_t pid, uid, gid;
	} peer = { 0 };
	uint32_t size = sizeof peer;

	if (sys(__NR_getsockopt, fd, OF_SOCKETS, PEER, &peer, &size) == 0 && !counted(peer.pid))
		turns_beyond(TURNS_OUTSIDE);
}

static bool connects(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint16_t family = 0;
	long ret;

	copy_bytes(&family, (const void *)r[RSI], sizeof family);
	if (family == INTERNET || family == INTERNET_6)
		turns_beyond(TURNS_NETWORK);
	if (family != LOCAL)
		return false;
	ret = sys(__NR_connect, r[RDI], r[RSI], r[RDX]);
	if (ret == 0)
		look_at_peer((int)r[RDI]);
	finish(t, ret);
	return true;
}

/* ---- times ---- */

static int64_t later(struct thread *t, int64_t ns)
{
	if (!(eng.mode & SAME_CLOCK))
		turns_beyond(TURNS_REAL_TIME);
	return turn_time(t) + ns;
}

static int64_t absolute(struct thread *t, uint64_t clock, int64_t ns)
{
	int64_t begin = clock_begin(clock);

	if (eng.mode & SAME_CLOCK)
		return ns - begin;
	return later(t, ns - real_time((int)clock));
}

/* nanosleep(asked, left), clock_nanosleep(clock, flags, asked, left). */
static bool sleeps(struct thread *t, uint64_t clock, uint64_t flags, uint64_t asked, uint64_t left)
{
	int64_t ns, until;
	bool waited = false;

	if (clock_begin(clock) < 0 || !time_read(asked, 1, &ns))
		return false;
	until = flags & ABSOLUTE ? absolute(t, clock, ns) : later(t, ns);
	t->may_be_outside = FROM_RUN;
	for (; turn_time(t) < until; waited = true) {
		if (t->pending) {
			if (waited && !(flags & ABSOLUTE))
				time_write(left, until - turn_time(t), 1);
			return turn_interrupted(t, waited, false);
		}
		if (!turns_on(t))
			return false;
		turn_wait(t, TURN_SLEEPS, until, waited);
	}
	if (!waited)
		turn_yield(t);
	finish(t, 0);
	return true;
}

/* ---- poll, select, epoll ---- */

struct wait {
	int64_t until; /* TURN_NEVER: no timeout; 0: returns at once, or an invalid argument */
	uint64_t mask; /* of signals, during the call */
	bool has_mask;
};

static bool read_mask(uint64_t at, struct wait *w)
{
	w->has_mask = at && copy_bytes(&w->mask, (const void *)at, 8) == 8;
	return true;
}

static int64_t deadline(struct thread *t, uint64_t at, int64_t unit)
{
	int64_t ns;

	if (!at)
		return TURN_NEVER;
	return time_read(at, unit, &ns) && ns ? later(t, ns) : 0;
}

static int64_t deadline_ms(struct thread *t, int32_t ms)
{
	return ms < 0 ? TURN_NEVER : ms ? later(t, ms * (NS / 1000)) : 0;
}

static struct wait wait_of(struct thread *t)
{
	const uint64_t *r = t->regs;
	struct wait w = { 0 };
	uint64_t mask = 0;

	switch (r[RAX]) {
	case __NR_poll:
		w.until = deadline_ms(t, (int32_t)r[RDX]);
		break;
	case __NR_ppoll:
		read_mask(r[R10], &w);
		w.until = deadline(t, r[RDX], 1);
		break;
	case __NR_select:
		w.until = deadline(t, r[R8], 1000);
		break;
	case __NR_pselect6:
		copy_bytes(&mask, (const void *)r[R9], r[R9] ? 8 : 0);
		read_mask(mask, &w);
		w.until = deadline(t, r[R8], 1);
		break;
	case __NR_epoll_pwait2:
		read_mask(r[R8], &w);
		w.until = deadline(t, r[R10], 1);
		break;
	default:
		if (r[RAX] == __NR_epoll_pwait)
			read_mask(r[R8], &w);
		w.until = deadline_ms(t, (int32_t)r[R10]);
	}
	return w;
}

/* select(2) of copies of the sets, as the call overwrites them; -EBADF: too many descriptors. */
static long select_now(const uint64_t *r)
{
	uint64_t bytes = (r[RDI] + 63) / 64 * 8;
	uint8_t sets[3][SET_BYTES];
	int64_t none[2] = { 0 };
	const uint64_t at[] = { r[RSI], r[RDX], r[R10] };

	if ((int32_t)r[RDI] < 0 || bytes > SET_BYTES)
		return -EBADF;
	for (int i = 0; i < 3; i++)
		if (at[i] && copy_bytes(sets[i], (const void *)at[i], bytes) != bytes)
			return -EFAULT;
	return sys(__NR_select, r[RDI], at[0] ? sets[0] : NULL, at[1] ? sets[1] : NULL,
		   at[2] ? sets[2] : NULL, none);
}

static bool is_epoll(uint64_t nr)
{
	return nr == __NR_epoll_wait || nr == __NR_epoll_pwait || nr == __NR_epoll_pwait2;
}

static bool is_select(uint64_t nr)
{
	return nr == __NR_select || nr == __NR_pselect6;
}

/* 0: no event. */
static long poll_now(const uint64_t *r)
{
	if (is_epoll(r[RAX]))
		return sys(__NR_epoll_wait, r[RDI], r[RSI], r[RDX], 0);
	return is_select(r[RAX]) ? select_now(r) : sys(__NR_poll, r[RDI], r[RSI], 0);
}

static uint32_t polls_outside(const uint64_t *r)
{
	struct polled p[POLLED_MAX];
	uint64_t n = r[RSI];

	if (is_epoll(r[RAX]) || is_select(r[RAX]))
		return is_select(r[RAX]) && !r[RDI] ? BY_SIGNAL : FROM_OUTSIDE;
	if (n > POLLED_MAX || copy_bytes(p, (const void *)r[RDI], n * sizeof *p) != n * sizeof *p)
		return FROM_OUTSIDE;
	for (uint64_t i = 0; i < n; i++)
		if (p[i].fd >= 0 && !is_own_pipe(p[i].fd))
			return FROM_OUTSIDE;
	return n ? FROM_RUN : BY_SIGNAL;
}

/* The time is over. */
static void polled_nothing(struct thread *t)
{
	const uint64_t *r = t->regs;
	int64_t none[2] = { 0 };
	long ret = 0;

	if (is_select(r[RAX]))
		ret = sys(__NR_select, r[RDI], r[RSI], r[RDX], r[R10], none);
	if (r[RAX] == __NR_select || r[RAX] == __NR_pselect6)
		time_write(r[R8], 0, 1);
	else if (r[RAX] == __NR_ppoll)
		time_write(r[RDX], 0, 1);
	finish(t, ret);
}

static bool polls(struct thread *t)
{
	const uint64_t *r = t->regs;
	struct wait w = wait_of(t);
	long ret;

	if (!w.until)
		return false;
	t->may_be_outside = polls_outside(r);
	for (bool waited = false;; waited = true) {
		if (t->pending && !waited)
			return turn_interrupted(t, false, false);
		ret = poll_now(r);
		if (ret)
			break;
		if (w.has_mask && turn_deliverable(t, w.mask))
			return false; /* the call returns EINTR */
		if (t->pending)
			return turn_interrupted(t, true, false);
		if (w.until != TURN_NEVER && turn_time(t) >= w.until) {
			polled_nothing(t);
			return true;
		}
		if (!turns_on(t))
			return false;
		turn_wait(t, TURN_POLLS, w.until, waited);
	}
	if (ret < 0 || !is_epoll(r[RAX]))
		return ret > 0 && make_call(t);
	finish(t, ret);
	return true;
}

/* ---- signals ---- */

/* pause(), rt_sigsuspend(mask, size): until a signal is delivered. */
static bool waits_for_handler(struct thread *t, bool has_mask)
{
	uint64_t mask = t->mask;

	if (has_mask && copy_bytes(&mask, (const void *)t->regs[RDI], 8) != 8)
		return false;
	t->may_be_outside = BY_SIGNAL;
	for (bool waited = false;; waited = true) {
		if (has_mask && turn_deliverable(t, mask))
			return false;
		if (t->pending)
			return turn_interrupted(t, waited, false);
		if (!turns_on(t))
			return false;
		turn_wait(t, TURN_SLEEPS, TURN_NEVER, waited);
	}
}

/* rt_sigtimedwait(set, info, timeout, size). */
static bool waits_for_signal(struct thread *t)
{
	const uint64_t *r = t->regs;
	int64_t until = deadline(t, r[RDX], 1);
	uint64_t set = 0, pending;

	if (!until || copy_bytes(&set, (const void *)r[RDI], 8) != 8)
		return false;
	t->may_be_outside = BY_SIGNAL;
	for (bool waited = false;; waited = true) {
		pending = t->kept.which | process_at(t->process)->kept.which;
		if ((pending & set) || turn_pending(set))
			return false;
		if (t->pending)
			return turn_interrupted(t, waited, false);
		if (until != TURN_NEVER && turn_time(t) >= until) {
			finish(t, -EAGAIN);
			return true;
		}
		if (!turns_on(t))
			return false;
		turn_wait(t, TURN_SLEEPS, until, waited);
	}
}

/* ---- children ---- */

/* Would wait4 or waitid return? `kind` is P_PID, P_PGID, P_ALL or P_PIDFD. */
static bool child_ready(uint64_t kind, uint64_t id, uint64_t options)
{
	struct info found = { 0 };

	return sys(__NR_waitid, kind, id, &found, options | WNOHANG | WNOWAIT, 0) < 0 ||
		found.signo;
}

static bool waits_for_child(struct thread *t)
{
	const uint64_t *r = t->regs;
	bool by_id = r[RAX] == __NR_waitid;
	uint64_t options = by_id ? r[R10] : r[RDX], kind = r[RDI], id = r[RSI];
	int32_t pid = (int32_t)r[RDI];

	if (options & WNOHANG)
		return false;
	if (!by_id) {
		kind = pid > 0 ? P_PID : pid == -1 ? P_ALL : P_PGID;
		id = (uint64_t)(pid > 0 ? pid : pid == -1 ? 0 : -(int64_t)pid);
		options |= WEXITED;
	}
	t->may_be_outside = FROM_RUN;
	for (bool waited = false; !child_ready(kind, id, options); waited = true) {
		if (t->pending)
			return turn_interrupted(t, waited, true);
		if (!turns_on(t))
			return false;
		turn_wait(t, TURN_SLEEPS, TURN_NEVER, waited);
		if (t->pending && child_ready(kind, id, options))
			return make_call(t);
	}
	return false;
}

/* ---- locks, queues ---- */

/* The non-blocking form of the call. */
static long lock_now(const uint64_t *r)
{
	switch (r[RAX]) {
	case __NR_flock:
		return sys(__NR_flock, r[RDI], r[RSI] | LOCK_NO_WAIT);
	case __NR_fcntl:
		return sys(__NR_fcntl, r[RDI], r[RSI] == F_SETLKW ? F_SETLK : OWN_LOCK, r[RDX]);
	case __NR_msgsnd:
		return sys(__NR_msgsnd, r[RDI], r[RSI], r[RDX], r[R10] | IPC_NO_WAIT);
	default: /* msgrcv */
		return sys(__NR_msgrcv, r[RDI], r[RSI], r[RDX], r[R10], r[R8] | IPC_NO_WAIT);
	}
}

static bool would_wait(uint64_t nr, long ret)
{
	return ret == -EAGAIN || (nr == __NR_fcntl && ret == -EACCES) ||
		(nr == __NR_msgrcv && ret == -ENOMSG);
}

static bool locks(struct thread *t)
{
	const uint64_t *r = t->regs;
	bool restarts = r[RAX] == __NR_flock || r[RAX] == __NR_fcntl;
	long ret;

	t->may_be_outside = FROM_OUTSIDE;
	for (bool waited = false; would_wait(r[RAX], ret = lock_now(r)); waited = true) {
		if (t->pending)
			return turn_interrupted(t, waited, restarts);
		if (!turns_on(t))
			return false;
		turn_wait(t, TURN_POLLS, TURN_NEVER, waited);
	}
	eng.shared->turns.calls++;
	finish(t, ret);
	return true;
}

struct operation {
	uint16_t number;
	int16_t operation, flags;
};

/* semop(id, operations, n), semtimedop(id, operations, n, timeout). */
static bool semaphores(struct thread *t)
{
	const uint64_t *r = t->regs;
	struct operation o[OPERATIONS];
	uint64_t bytes = r[RDX] * sizeof *o;
	int64_t until = r[RAX] == __NR_semtimedop ? deadline(t, r[R10], 1) : TURN_NEVER;
	long ret;

	if (!until || r[RDX] > OPERATIONS || copy_bytes(o, (const void *)r[RSI], bytes) != bytes)
		return false;
	for (uint64_t i = 0; i < r[RDX]; i++) {
		if (o[i].flags & IPC_NO_WAIT)
			return false;
		o[i].flags |= IPC_NO_WAIT;
	}
	t->may_be_outside = FROM_OUTSIDE;
	for (bool waited = false; (ret = sys(__NR_semop, r[RDI], o, r[RDX])) == -EAGAIN;
	     waited = true) {
		if (t->pending)
			return turn_interrupted(t, waited, false);
		if (until != TURN_NEVER && turn_time(t) >= until)
			break;
		if (!turns_on(t))
			return false;
		turn_wait(t, TURN_POLLS, until, waited);
	}
	eng.shared->turns.calls++;
	finish(t, ret);
	return true;
}

/* A pipe with a name: waits for the other end. */
static bool opens_fifo(uint64_t dir, uint64_t path, uint64_t flags)
{
	struct stat st;

	return !(flags & (O_NONBLOCK | O_PATH | O_DIRECTORY)) && (flags & O_ACCMODE) != O_RDWR &&
		sys(__NR_newfstatat, dir, path, &st, 0) == 0 && (st.st_mode & FILE_KIND) == FIFO;
}

static bool opens_and_waits(struct thread *t)
{
	const uint64_t *r = t->regs;

	if (r[RAX] == __NR_open ? opens_fifo(AT_FDCWD, r[RDI], r[RSI])
				: opens_fifo(r[RDI], r[RSI], r[RDX])) {
		eng.shared->turns.calls++;
		eng.shared->turns.blocked = (uint32_t)r[RAX];
		turns_beyond(TURNS_CALL);
		turn_out(t);
	}
	return false;
}

/* ---- all calls ---- */

static bool refused(struct thread *t)
{
	finish(t, -ENOSYS);
	return true;
}

static bool timer(void)
{
	turns_beyond(TURNS_TIMER);
	return false;
}

/* Calls that cannot end another thread's wait. */
static bool is_silent(uint64_t nr)
{
	static const uint16_t calls[] = {
		__NR_brk,
		__NR_mmap,
		__NR_munmap,
		__NR_mprotect,
		__NR_madvise,
		__NR_mremap,
		__NR_fstat,
		__NR_stat,
		__NR_lstat,
		__NR_newfstatat,
		__NR_statx,
		__NR_access,
		__NR_faccessat,
		__NR_readlink,
		__NR_getpid,
		__NR_gettid,
		__NR_getppid,
		__NR_getuid,
		__NR_geteuid,
		__NR_getgid,
		__NR_getegid,
		__NR_lseek,
		__NR_pread64,
		__NR_rt_sigaction,
		__NR_rt_sigreturn,
		__NR_sigaltstack,
		__NR_clock_gettime,
		__NR_gettimeofday,
		__NR_time,
		__NR_getrandom,
		__NR_arch_prctl,
		__NR_set_tid_address,
		__NR_rseq,
		__NR_prlimit64,
		__NR_getdents64,
		__NR_getcwd,
		__NR_uname,
		__NR_set_robust_list,
		__NR_rt_sigprocmask,
		__NR_sched_getaffinity,
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (calls[i] == nr)
			return true;
	return false;
}

static bool waiting_call(struct thread *t)
{
	const uint64_t *r = t->regs;

	switch (r[RAX]) {
	case __NR_read:
		return r[RDX] && wait_fd(t, (int)r[RDI], POLLIN);
	case __NR_readv:
	case __NR_accept:
	case __NR_accept4:
	case __NR_mq_timedreceive:
		return wait_fd(t, (int)r[RDI], POLLIN);
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg: {
		uint64_t flags = r[RAX] == __NR_recvmsg ? r[RDX] : r[R10];

		return !(flags & NO_WAIT_MESSAGE) && wait_fd(t, (int)r[RDI], POLLIN);
	}
	case __NR_write:
	case __NR_writev:
		return writes(t, (int)r[RDI]);
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg: {
		uint64_t flags = r[RAX] == __NR_sendmsg ? r[RDX] : r[R10];

		return !(flags & NO_WAIT_MESSAGE) && wait_fd(t, (int)r[RDI], POLLOUT);
	}
	case __NR_mq_timedsend:
		return wait_fd(t, (int)r[RDI], POLLOUT);
	case __NR_sendfile:
		return moves(t, (int)r[RSI], (int)r[RDI]);
	case __NR_splice:
		return moves(t, (int)r[RDI], (int)r[RDX]);
	case __NR_tee:
		return moves(t, (int)r[RDI], (int)r[RSI]);
	case __NR_connect:
		return connects(t);
	case __NR_poll:
	case __NR_ppoll:
	case __NR_select:
	case __NR_pselect6:
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return polls(t);
	case __NR_nanosleep:
		return sleeps(t, CLOCK_MONOTONIC, 0, r[RDI], r[RSI]);
	case __NR_clock_nanosleep:
		return sleeps(t, r[RDI], r[RSI], r[RDX], r[R10]);
	case __NR_pause:
		return waits_for_handler(t, false);
	case __NR_rt_sigsuspend:
		return waits_for_handler(t, true);
	case __NR_rt_sigtimedwait:
		return waits_for_signal(t);
	case __NR_wait4:
	case __NR_waitid:
		return waits_for_child(t);
	case __NR_fcntl:
		return (r[RSI] == F_SETLKW || r[RSI] == OWN_LOCK_WAIT) && locks(t);
	case __NR_flock:
		return !(r[RSI] & LOCK_NO_WAIT) && locks(t);
	case __NR_msgsnd:
		return !(r[R10] & IPC_NO_WAIT) && locks(t);
	case __NR_msgrcv:
		return !(r[R8] & IPC_NO_WAIT) && locks(t);
	case __NR_semop:
	case __NR_semtimedop:
		return semaphores(t);
	case __NR_open:
	case __NR_openat:
		return opens_and_waits(t);
	case __NR_sched_yield:
		turn_yield(t);
		finish(t, 0);
		return true;
	case __NR_ptrace: /* stops its thread at any time, also in the engine: the order ends */
		turns_beyond(TURNS_TRACES);
		eng.shared->turns_over = 1;
		return false;
	case __NR_alarm:
		return r[RDI] && timer();
	case __NR_setitimer:
	case __NR_timer_settime:
	case __NR_timerfd_settime:
		return timer();
	case __NR_io_uring_setup:
	case __NR_io_setup:
	case FUTEX_WAITV:
	case FUTEX_WAKE_2:
	case FUTEX_WAKE_2 + 1:
	case FUTEX_REQUEUE_2:
		return refused(t);
	default:
		return false;
	}
}

/* Returns when the call would not wait. True: the call is done. */
bool turn_call(struct thread *t)
{
	uint64_t nr = t->regs[RAX];

	turn_take(t);
	if (!turns_on(t))
		return false;
	if (nr == __NR_futex)
		return turn_futex(t);
	switch (nr) {
	case __NR_kill:
	case __NR_tkill:
	case __NR_tgkill:
	case __NR_rt_sigqueueinfo:
	case __NR_rt_tgsigqueueinfo:
	case __NR_pidfd_send_signal:
		eng.shared->turns.signals++;
		break;
	default:
		if (!is_silent(nr) && nr != __NR_open && nr != __NR_openat)
			eng.shared->turns.calls++;
	}
	return waiting_call(t);
}

/* SPDX-License-Identifier: MIT */
/*
 * Implements exact.h in tare's process: creates the shared state, starts the supervisor, receives
 * its reports.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "base/clock.h"
#include "base/process.h"
#include "exact/samples_read.h"
#include "exact/cpus.h"
#include "exact/isa.h"
#include "exact/supervisor.h"

struct exact {
	struct shared_state *shared;
	int shared_fd, image_fd, report_fd;
	pid_t supervisor, command;
	pid_t reaped; /* the supervisor's pid, after it ended */
	bool ended, alone;
	/*
	 * the supervisor died before the command, which is our child then; report_fd is the
	 * command's pidfd
	 */
	bool lost;
	int lost_by; /* the supervisor's wait status */
	bool reaps;  /* child subreaper, until x is closed */
	int was_subreaper;
	struct exact_end end;
	/* from the supervisor's last report */
	uint32_t n_past, n_uncounted, stops_over, stops_found;
	uint64_t uncounted_hash;
	char reason[REASON_MAX], layout_lost[24];
	struct samples *samples;
	struct exact_clock clock;
	int64_t seen; /* instructions, at the last reading */
	/* the shared state is damaged, as found by a reading; later readings do not rely on it */
	bool damaged;
	struct every every; /* as requested */
};

int exact_probe(struct tare_error *err)
{
	(void)err;
	return 0;
}

#define BESIDE_BOARD (16ull << 30)

static int no_descriptor(struct tare_error *err)
{
	int code = errno;

	tare_fail(err, code, "exact: no file descriptor is left for it: %s", strerror(code));
	tare_hint(err, "ulimit -n 64, or more");
	return -code;
}

/*
 * Sealed: a process with the descriptor must not truncate the shared state, or reads past its end
 * raise SIGBUS.
 */
static bool make_shared_file(struct exact *x)
{
	x->shared_fd = memfd_create("tare-exact", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return x->shared_fd >= 0 && ftruncate(x->shared_fd, (off_t)SHARED_FILE_SIZE) == 0 &&
		fcntl(x->shared_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

/*
 * The engine's image, which programs map. Sealed: a program cannot write to it and so change the
 * engine of another one.
 */
static bool make_image_file(struct exact *x)
{
	const size_t size = (size_t)(exact_image_end - exact_image);

	x->image_fd = memfd_create("tare-exact-engine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* avoids a page fault for each page */
	return x->image_fd >= 0 && ftruncate(x->image_fd, IMAGE_MAX) == 0 &&
		write(x->image_fd, exact_image, size) == (ssize_t)size &&
		fcntl(x->image_fd, F_ADD_SEALS,
		      F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

static int make_shared(struct exact *x, struct tare_error *err)
{
	struct rlimit limit;
	bool made;
	int code;

	/* Above the limit, ftruncate would end this process by SIGXFSZ. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < SHARED_FILE_SIZE) {
		tare_fail(err, EFBIG,
			  "exact: the limit on file sizes forbids its memory for counters");
		tare_hint(err, "ulimit -f unlimited");
		return -EFBIG;
	}
	/*
	 * The same for writable memory: the kernel would grant it to the engine first, and deny it
	 * to the program later.
	 */
	if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur < BESIDE_BOARD) {
		tare_fail(
			err, ENOMEM,
			"exact: the limit on data segments, %llu KiB, may leave the command less than it needs "
			"in addition to the engine's memory",
			(unsigned long long)limit.rlim_cur >> 10);
		tare_hint(err, "ulimit -d unlimited");
		return -ENOMEM;
	}
	/*
	 * The command needs room for its own memory and for translated code in addition to the
	 * shared state.
	 */
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < SHARED_SIZE + BESIDE_BOARD) {
		errno = ENOMEM;
		goto fail;
	}
	made = make_shared_file(x) && make_image_file(x);
	if (!made && (errno == EMFILE || errno == ENFILE))
		return no_descriptor(err);
	if (!made)
		goto fail;
	x->shared = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			 x->shared_fd, 0);
	if (x->shared == MAP_FAILED) {
		x->shared = NULL;
		goto fail;
	}
	madvise(x->shared, SHARED_SIZE, MADV_DONTDUMP);
	x->shared->magic = x->shared->magic_behind = SHARED_MAGIC;
	x->shared->not_past = ~0u;
	return 0;
fail:
	code = errno;
	tare_fail(err, code, "exact: cannot have %llu GiB of address space for counters: %s",
		  (unsigned long long)((SHARED_SIZE + BESIDE_BOARD) >> 30), strerror(code));
	tare_hint(err, "ulimit -v unlimited");
	return -code;
}

static int check_event(enum exact_class class, uint64_t n, struct tare_error *err)
{
	if ((unsigned)class < EXACT_CLASSES && class != EXACT_TAKEN && n && n <= INT64_MAX / 2)
		return 0;
	return tare_fail(err, EINVAL, "exact: no samples every %llu %s", (unsigned long long)n,
			 (unsigned)class < EXACT_CLASSES ? exact_class_names[class] : "events");
}

static int check_every(const struct exact_options *o, struct tare_error *err)
{
	const struct exact_every *e = &o->every;
	int ret = 0;

	if (!e->n)
		return 0;
	if (e->n_more > EXACT_EVENTS_MAX - 1)
		return tare_fail(err, EINVAL, "exact: up to %d events are sampled at once, not %u",
				 EXACT_EVENTS_MAX, e->n_more + 1);
	if (e->n_more && (e->first || e->most || e->counts_once))
		return tare_fail(err, EINVAL,
				 "exact: where samples begin and end is of one event, not of %u",
				 e->n_more + 1);
	for (unsigned i = 0; ret == 0 && i <= e->n_more; i++)
		ret = check_event(i ? e->more[i - 1].class : e->class, i ? e->more[i - 1].n : e->n,
				  err);
	if (ret < 0)
		return ret;
	if (e->first > INT64_MAX / 2)
		return tare_fail(err, EINVAL, "exact: no samples from the %llu-th event on",
				 (unsigned long long)e->first);
	if (e->stack > EXACT_STACK_MAX || e->chain > EXACT_CHAIN_MAX)
		return tare_fail(
			err, EINVAL,
			"exact: samples have up to %d bytes of stack and %d callers, not %u and %u",
			EXACT_STACK_MAX, EXACT_CHAIN_MAX, e->stack, e->chain);
	if (e->n_peek > EXACT_PEEK_MAX)
		return tare_fail(err, EINVAL, "exact: samples peek at up to %d places, not %u",
				 EXACT_PEEK_MAX, e->n_peek);
	if (e->counts && o->total_only)
		return tare_fail(err, EINVAL,
				 "exact: samples with the counts of classes that are not counted");
	return 0;
}

/* Write the requested events to the shared state, for the engine. */
static void set_every(struct exact *x, const struct exact_every *e)
{
	struct shared_state *b = x->shared;

	b->every.n_events = e->n ? 1u + e->n_more : 0;
	b->every.event[0] = (struct every_event){ .n = e->n, .class = e->class };
	for (unsigned i = 0; i < e->n_more; i++)
		b->every.event[i + 1] = (struct every_event){ .n = e->more[i].n,
							      .class = e->more[i].class };
	b->every.jitter = e->jitter;
	b->every.first = e->first;
	b->every.most = e->most;
	b->every.only = e->only;
	b->every.counts = e->counts;
	b->every.counts_once = e->counts_once;
	b->every.registers = e->registers;
	b->every.stack = e->stack;
	b->every.chain = e->chain;
	b->every.n_peek = e->n_peek;
	b->every.peek_fs = e->peek_fs;
	memcpy(b->every.peek, e->peek, sizeof(b->every.peek));
	x->every = b->every;
}

static void reap_supervisor(struct exact *x)
{
	if (!x->supervisor)
		return;
	while (waitpid(x->supervisor, &x->lost_by, 0) < 0 && errno == EINTR)
		;
	x->reaped = x->supervisor;
	x->supervisor = 0;
}

static bool is_child(pid_t pid)
{
	siginfo_t ended;

	return pid > 0 && waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/*
 * The supervisor should never end before a command, but it can be killed. Its children became ours.
 * Processes in the shared state are still counted, but programs that they execute are not, so no
 * counts are shown.
 */
static void lose(struct exact *x)
{
	reap_supervisor(x);
	__atomic_store_n(&x->shared->gone, 1, __ATOMIC_SEQ_CST); /* no one waits for the answers */
	close(x->report_fd);
	x->report_fd = (int)syscall(SYS_pidfd_open, x->command, 0);
	x->lost = true;
}

static int say_lost(const struct exact *x, struct tare_error *err)
{
	bool killed = WIFSIGNALED(x->lost_by);

	return tare_fail(
		err, ENOTSUP,
		"exact: the counts are lost: their supervisor, process %d, was ended by %s %d",
		(int)x->reaped, killed ? "signal" : "itself, status",
		killed ? WTERMSIG(x->lost_by) : WEXITSTATUS(x->lost_by));
}

/* If the supervisor died during a change, waiting for it would never end. */
static bool is_lost(struct exact *x, uint32_t changes)
{
	siginfo_t died = { 0 };

	if (!x->lost && (changes & 1) &&
	    waitid(P_PID, (id_t)x->supervisor, &died, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    died.si_pid)
		lose(x);
	return x->lost;
}

/* Waits for the command's end without a supervisor; returns as hear() does. */
static int wait_for_orphan(struct exact *x, int timeout_ms)
{
	struct pollfd p = { .fd = x->report_fd, .events = POLLIN };
	pid_t pid;

	if (timeout_ms > 0)
		poll(&p, 1, timeout_ms);
	do {
		pid = wait4(x->command, &x->end.status, timeout_ms < 0 ? 0 : WNOHANG,
			    &x->end.usage);
	} while (pid < 0 && errno == EINTR);
	if (pid < 0) /* the caller has reaped it */
		x->end.status = 125 << 8;
	x->ended = pid != 0;
	return x->ended;
}

static void note_end(struct exact *x, const struct report *r)
{
	x->ended = true;
	x->alone = r->alone;
	x->end = (struct exact_end){ .status = r->status,
				     .never_began = r->never_began,
				     .left = r->left,
				     .usage = r->usage };
	END_TEXT(x->end.left.name);
	x->damaged |= r->damaged;
	x->n_past = r->n_past;
	x->n_uncounted = r->n_uncounted;
	x->uncounted_hash = r->uncounted_hash;
	x->stops_over = r->stops_over;
	x->stops_found = r->stops_found;
	memcpy(x->layout_lost, r->layout_lost, sizeof x->layout_lost);
	END_TEXT(x->layout_lost);
	memcpy(x->reason, r->reason, sizeof x->reason);
	END_TEXT(x->reason);
}

/* Receive the supervisor's next report: 1; 0: timeout; -EIO: the supervisor is gone. */
static int hear(struct exact *x, int timeout_ms, struct report *r)
{
	struct pollfd p = { .fd = x->report_fd, .events = POLLIN };
	ssize_t n;
	int ret;

	do {
		ret = poll(&p, 1, timeout_ms);
	} while (ret < 0 && errno == EINTR && timeout_ms < 0);
	if (ret <= 0)
		return 0;
	n = read(x->report_fd, r, sizeof *r);
	return n == sizeof *r ? 1 : -EIO;
}

static void list_pipes(struct virtual_clock *c)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	struct stat st;

	c->n_pipes = d ? 0 : CLOCK_PIPES + 1;
	while (d && (e = readdir(d))) {
		if (fstat(atoi(e->d_name), &st) < 0 || !S_ISFIFO(st.st_mode))
			continue;
		if (c->n_pipes < CLOCK_PIPES)
			c->pipes[c->n_pipes] = st.st_ino;
		c->n_pipes += c->n_pipes <= CLOCK_PIPES;
	}
	if (d)
		closedir(d);
}

int64_t file_time_now(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void set_clock(struct exact *x, int64_t start)
{
	if (!start)
		return;
	x->shared->clock.start = start;
	x->shared->clock.real_start = file_time_now();
}

static int make_cpus(struct exact *x, const struct exact_options *o)
{
	struct isa_model host;

	if (!o->isa)
		isa_host(&host);
	return cpus_files(&x->shared->cpu_files, o->isa ? o->isa : &host, o->cpus);
}

/*
 * Kept code has no samples and no place in a profile, and with random addresses no process could
 * use that of another.
 */
static bool keeps_code(const struct exact_options *o)
{
	return o->keep_code && !o->aslr && !o->profile && !o->every.n;
}

int exact_launch(struct exact **out, char *const argv[], char *const envp[],
		 const struct exact_options *o, struct tare_error *err)
{
	static const struct exact_options defaults;
	struct exact *x;
	struct report r = { 0 };
	int fds[2] = { -1, -1 }, ret;
	bool by_exec = false;
	pid_t tare = getpid();
	uint64_t every_signal = ~0ull;
	sigset_t mask;

	*out = NULL;
	if (!o)
		o = &defaults;
	ret = check_every(o, err);
	if (ret < 0)
		return ret;
	x = calloc(1, sizeof *x);
	if (!x)
		return tare_fail_nomem(err);
	x->report_fd = -1;
	x->shared_fd = x->image_fd = -1;
	ret = make_shared(x, err);
	if (ret < 0)
		goto out;
	if (o->isa)
		x->shared->isa = *o->isa;
	if (o->clock_start || o->turns)
		list_pipes(&x->shared->clock);
	set_clock(x, o->clock_start);
	x->shared->auxv = (struct auxv_values){ .no_vdso = o->no_vdso || o->clock_start,
						.hwcaps = o->isa,
						.hwcap = x->shared->isa.hwcap,
						.hwcap2 = x->shared->isa.hwcap2 };
	if (o->cpus) {
		ret = make_cpus(x, o);
		if (ret < 0) {
			tare_fail_nomem(err);
			goto out;
		}
	}
	set_every(x, &o->every);
	exact_clock_begin(&x->clock);
	if (pipe2(fds, O_CLOEXEC) < 0) {
		ret = no_descriptor(err);
		goto out;
	}
	x->report_fd = fds[0];
	prctl(PR_GET_CHILD_SUBREAPER, &x->was_subreaper);
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* in case the supervisor is killed */
	x->reaps = true;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every_signal, NULL, sizeof every_signal);
	x->supervisor = fork();
	if (x->supervisor != 0)
		sigprocmask(SIG_SETMASK, &mask, NULL);
	if (x->supervisor < 0) {
		ret = tare_fail(err, errno, "exact: cannot fork: %s", strerror(errno));
		process_limit_hint(err, -ret);
		goto out;
	}
	if (x->supervisor == 0) {
		struct launch l = {
			.shared = x->shared,
			.shared_fd = x->shared_fd,
			.image_fd = x->image_fd,
			.report_fd = fds[1],
			.tare = tare,
			.mask = o->mask ? o->mask : &mask,
			.argv = argv,
			.envp = envp,
			.aslr = o->aslr,
			.auxv = { o->same_random, x->shared->auxv },
			.mode = (o->total_only ? 0 : COUNT_TAKEN) |
				(o->running || o->clock_start ? COUNT_RUNNING : 0) |
				(o->clock_start ? SAME_CLOCK : 0) |
				(o->profile ? COUNT_PROFILE : 0) | (o->every.n ? COUNT_EVERY : 0) |
				(o->every.n && o->every.path ? COUNT_PATH : 0) |
				(o->same_random ? SAME_RANDOM : 0) |
				(o->same_readdir ? SAME_READDIR : 0) |
				(o->turned_readdir ? TURNED_READDIR : 0) | (o->isa ? SAME_ISA : 0) |
				(o->cpus ? SAME_CPUS : 0) | (o->turns ? SAME_TURNS : 0) |
				(o->same_terminal ? SAME_TERMINAL : 0) |
				(keeps_code(o) ? KEEP_CODE : 0),
		};

		close(fds[0]);
		supervise(&l);
	}
	close(fds[1]);
	fds[1] = -1;
	ret = hear(x, -1, &r);
	if (ret < 0) {
		pid_t command = READ_ONCE(x->shared->command);

		reap_supervisor(x);
		ret = 0;
		/* checked in the process table: the shared state may contain any number */
		if (is_child(command)) {
			x->command = command;
			lose(x); /* and the command with it */
		} else {
			ret = say_lost(x, err);
		}
		goto out;
	}
	x->alone = r.error; /* then it ends */
	if (r.error) {
		by_exec = !r.reason[0];
		if (by_exec)
			ret = tare_fail(err, r.error, "%s: %s", argv[0], strerror(r.error));
		else if (r.error == ENOTSUP) /* the reason is sufficient */
			ret = tare_fail(err, r.error, "exact: %s: %s", argv[0], r.reason);
		else
			ret = tare_fail(err, r.error, "exact: %s: %s: %s", argv[0], r.reason,
					strerror(r.error));
		if (!by_exec)
			process_limit_hint(err, r.error);
		goto out;
	}
	if (r.ended) {
		note_end(x, &r);
	} else if (r.reason[0]) {
		ret = tare_fail(err, ENOTSUP, "exact: %s", r.reason);
		goto out;
	}
	x->command = r.pid;
	ret = 0;
out:
	if (ret < 0 && !by_exec) {
		ret = -ENOTSUP;
		if (err)
			err->code = ENOTSUP;
	}
	if (fds[1] >= 0)
		close(fds[1]);
	if (ret < 0) {
		exact_close(x);
		x = NULL;
	}
	*out = x;
	return ret;
}

pid_t exact_pid(const struct exact *x)
{
	return x->command;
}

int exact_fd(const struct exact *x)
{
	return x->report_fd;
}

int exact_wait(struct exact *x, int timeout_ms, struct exact_end *end, struct tare_error *err)
{
	struct report r;
	int ret;

	(void)err;
	if (!x->ended) {
		ret = x->lost ? 0 : hear(x, timeout_ms, &r);
		if (ret < 0)
			lose(x);
		if (x->lost && !wait_for_orphan(x, timeout_ms))
			return 0;
		if (!x->lost && (ret == 0 || r.samples))
			return 0;
		if (!x->lost)
			note_end(x, &r);
	}
	*end = x->end;
	return 1;
}

_Static_assert((int)EXACT_UNCOUNTED_MAX == (int)UNCOUNTED_MAX &&
		       (int)EXACT_REASON_MAX == (int)REASON_MAX,
	       "the lists in the shared state");

enum {
	TRIES_MAX = 5000,
	TRIES_MIN = 3,     /* however long they take */
	FALL_MAX = 1 << 20 /* a reading may include blocks that are then left early */
};

static const uint64_t TRY_NS = 5000000000;

/* A reading of the shared state, repeated until nothing changed meanwhile. */
struct reading {
	uint32_t changes; /* at its start */
	int tries;
	uint64_t begun; /* clock_now_ns() */
	/* inconsistent: something wrote to it during the reading, or overwrote it before */
	bool torn;
};

static void begin_reading(struct reading *r, const struct shared_state *b)
{
	if (!r->tries)
		r->begun = clock_now_ns();
	r->torn = false;
	r->changes = __atomic_load_n(&b->changes, __ATOMIC_SEQ_CST);
}

/*
 * Must the reading be repeated? Not forever: the supervisor may have died while it moved sums. A
 * program can also fake that, which then counts as damage.
 */
static bool in_motion(struct exact *x, struct reading *r)
{
	if (!r->torn && !(r->changes & 1) &&
	    r->changes == __atomic_load_n(&x->shared->changes, __ATOMIC_SEQ_CST))
		return false;
	if (x->damaged || is_lost(x, r->changes))
		return false;
	/* If no process writes any more, the shared state does not change. */
	x->damaged = ++r->tries >= TRIES_MAX ||
		(r->tries >= TRIES_MIN &&
		 ((x->ended && x->alone) || clock_now_ns() - r->begun >= TRY_NS));
	if (!x->damaged && (r->torn || r->changes & 1))
		usleep(1000);
	return !x->damaged;
}

/* Threads that wait for room in a ring stop waiting. */
static int damaged(struct exact *x, struct tare_error *err)
{
	x->damaged = true;
	x->shared->every.nobody = 1;
	tare_fail(err, ENOTSUP, "exact: a program overwrote the memory that contains its counts");
	tare_hint(err, "it cannot be counted exactly; hardware counters, if any: --engine perf");
	return -ENOTSUP;
}

/*
 * Does the shared state still match the supervisor's last report? The command could have changed
 * it.
 */
static bool is_as_reported(const struct exact *x)
{
	uint32_t past = x->shared->n_past, uncounted = x->shared->n_uncounted;

	if (uncounted_hash(x->shared, x->n_uncounted) != x->uncounted_hash)
		return false;
	return x->alone ? past == x->n_past && uncounted == x->n_uncounted
			: past >= x->n_past && uncounted >= x->n_uncounted;
}

static bool is_damaged(struct exact *x)
{
	x->damaged |= shared_damaged(x->shared) || (x->ended && !x->lost && !is_as_reported(x));
	return x->damaged;
}

static bool is_used(const struct process *p)
{
	uint32_t state = p->state;

	return state != PROCESS_FREE && state != PROCESS_TAKEN;
}

static bool add_live(struct exact *x, uint32_t thread, uint32_t process,
		     int64_t into[EXACT_CLASSES])
{
	return add_thread(x->shared, x->shared_fd,
			  READ_ONCE(shared_process(x->shared, process)->lineage), thread, into);
}

/* False: inconsistent. */
static bool sum_up(struct exact *x, int64_t out[EXACT_CLASSES], char reason[REASON_MAX])
{
	struct shared_state *b = x->shared;
	uint32_t n_past = b->n_past;
	bool fits = READ_ONCE(b->not_past) == ~n_past;

	copy_once(reason, x->reason[0] ? x->reason : b->reason, REASON_MAX);
	reason[REASON_MAX - 1] = 0;
	memset(out, 0, EXACT_CLASSES * sizeof *out);
	fits &= add_sums(out, b->past_overflow, &b->past_overflow_check);
	for (uint32_t i = 0; i < n_past && i < PAST_MAX; i++)
		fits &= add_sums(out, shared_past(b, i)->counts, &shared_past(b, i)->check);
	for (uint32_t i = 0; i < shared_processes(b); i++) {
		const struct process *p = shared_process(b, i);

		if (!is_used(p))
			continue;
		if (refused_all(b, p) && !reason[0]) {
			copy_once(reason, p->reason, REASON_MAX);
			reason[REASON_MAX - 1] = 0;
		}
		fits &= add_sums(out, p->done, &p->done_check);
	}
	for (uint32_t i = 0; i < shared_threads(b); i++)
		if (b->thread_states[i] == THREAD_LIVE)
			fits &= add_live(x, i, thread_process(b, i), out);
	return fits;
}

int exact_counts(struct exact *x, int64_t out[EXACT_CLASSES], struct tare_error *err)
{
	struct shared_state *b = x->shared;
	struct exact_partial partial;
	struct reading r = { 0 };
	char reason[REASON_MAX];

	do {
		begin_reading(&r, b);
		if (is_damaged(x)) /* it may be lost by now, too */
			return damaged(x, err);
		r.torn = !sum_up(x, out, reason);
		if (is_lost(x, r.changes))
			return say_lost(x, err);
	} while (in_motion(x, &r));
	if (is_damaged(x))
		return damaged(x, err);
	if (reason[0])
		return tare_fail(err, ENOTSUP, "exact: %s", reason);
	if (out[EXACT_INSTRUCTIONS] < 0 || out[EXACT_INSTRUCTIONS] + FALL_MAX < x->seen)
		return damaged(x, err);
	x->seen = out[EXACT_INSTRUCTIONS];
	exact_partial(x, &partial);
	if (partial.n) /* room for the text that follows */
		return tare_fail(err, ENODATA, "exact: without %u process%s: %.23s: %.*s",
				 partial.n, partial.n == 1 ? "" : "es", partial.process[0].name,
				 REASON_MAX - 1, partial.process[0].reason);
	return 0;
}

void exact_slow(struct exact *x, struct exact_slow *out)
{
	struct shared_state *b = x->shared;

	*out = (struct exact_slow){ 0 };
	if (is_damaged(x))
		return;
	out->compared = READ_ONCE(b->compared);
	out->stepped = READ_ONCE(b->stepped);
	for (uint32_t i = 0; i < shared_processes(b); i++) {
		const struct process *p = shared_process(b, i);

		if (!is_used(p))
			continue;
		out->compared += p->compared;
		out->stepped += p->stepped;
	}
	/* both are executions of at least one instruction: more were never made */
	if (out->compared > (uint64_t)x->seen + FALL_MAX ||
	    out->stepped > (uint64_t)x->seen + FALL_MAX)
		*out = (struct exact_slow){ 0 };
}

static void list_missing(struct exact_partial *out, const struct uncounted *u)
{
	struct exact_missing *m = &out->process[out->n];

	if (out->n++ >= EXACT_UNCOUNTED_MAX)
		return;
	*m = (struct exact_missing){ .pid = u->pid,
				     .serial = u->serial,
				     .ended = u->how == REFUSED_ENDED };
	snprintf(m->name, sizeof m->name, "%.*s", (int)sizeof u->name - 1, u->name);
	snprintf(m->reason, sizeof m->reason, "%.*s", REASON_MAX - 1, u->reason);
}

static void look_for_missing(struct shared_state *b, struct exact_partial *out)
{
	uint32_t n = b->n_uncounted;
	struct uncounted u;
	struct process own;

	*out = (struct exact_partial){ 0 };
	for (uint32_t i = 0; i < n && i < UNCOUNTED_MAX; i++) {
		copy_once(&u, &b->uncounted[i], sizeof u);
		list_missing(out, &u);
	}
	if (n > UNCOUNTED_MAX)
		out->n = n;
	for (uint32_t i = 0; i < shared_processes(b); i++) {
		const struct process *p = shared_process(b, i);

		if (!is_used(p) || !p->refused || refused_all(b, p))
			continue;
		copy_once(&own, p, sizeof own);
		uncounted_of(&own, &u);
		list_missing(out, &u);
	}
}

void exact_partial(struct exact *x, struct exact_partial *out)
{
	struct reading r = { 0 };

	do {
		begin_reading(&r, x->shared);
		look_for_missing(x->shared, out);
	} while (in_motion(x, &r));
	if (x->lost || is_damaged(x))
		*out = (struct exact_partial){ 0 };
}

bool exact_damaged(const struct exact *x)
{
	return x->damaged;
}

const char *exact_clock_beyond(const struct exact *x)
{
	static const char *const what[] = {
		NULL,
		"timers ran in real time",
		"CPU times (getrusage, times) are real",
		"timers ran in real time, and CPU times (getrusage, times) are real",
	};

	return x->damaged ? NULL
			  : what[__atomic_load_n(&x->shared->clock.beyond, __ATOMIC_RELAXED) & 3];
}

bool exact_turns_beyond(const struct exact *x, char *to, size_t room)
{
	static const struct {
		uint32_t bit;
		const char *what;
	} rows[] = {
		{ TURNS_REAL_TIME, "sleeps and timeouts take real time without clock" },
		{ TURNS_NETWORK, "network sockets" },
		{ TURNS_OUTSIDE, "a socket of another program" },
		{ TURNS_UNCOUNTED, "a process ran without the engine" },
		{ TURNS_TRACES, "no order from the first ptrace call on" },
		{ TURNS_TIMER, "timers" },
		{ TURNS_STOPPED, "a thread was stopped" },
		{ TURNS_LATE, "a process took long to end" },
	};
	const uint32_t beyond = __atomic_load_n(&x->shared->turns.beyond, __ATOMIC_RELAXED);
	size_t n = 0;

	to[0] = '\0';
	if (x->damaged)
		return false;
	if (beyond & TURNS_CALL)
		n = (size_t)snprintf(to, room, "system call %u waited in the kernel",
				     READ_ONCE(x->shared->turns.blocked));
	for (size_t i = 0; i < ARRAY_SIZE(rows) && n < room; i++)
		if (beyond & rows[i].bit)
			n += (size_t)snprintf(to + n, room - n, "%s%s", n ? ", " : "",
					      rows[i].what);
	return to[0];
}

const char *exact_isa_beyond(struct exact *x, char program[24])
{
	uint32_t beyond = __atomic_load_n(&x->shared->isa_beyond, __ATOMIC_ACQUIRE);

	if (beyond <= ISA_ALWAYS || beyond >= ISA_FEATURES_N || is_damaged(x))
		return NULL;
	memcpy(program, x->shared->isa_beyond_program, 24);
	program[23] = '\0';
	return isa_feature_name(beyond);
}

const char *exact_layout_lost(const struct exact *x)
{
	return x->layout_lost[0] ? x->layout_lost : NULL;
}

bool exact_gainer(const struct exact *x, char *to, size_t room)
{
	char own[GAINER_MAX];

	copy_once(own, x->shared->gainer, sizeof own);
	END_TEXT(own);
	snprintf(to, room, "%s", x->damaged ? "" : own);
	return to[0];
}

uint32_t exact_warm(const struct exact *x)
{
	return x->shared->began_warm;
}

unsigned exact_stops(const struct exact *x)
{
	uint64_t word = x->shared->stops_sent;
	unsigned sent = (uint32_t)word, most = x->stops_over;

	if (x->stops_found > most)
		most = x->stops_found;
	return !x->damaged && word == sent * STOP_UNIT && sent > most ? sent : most;
}

int exact_samples(struct exact *x, exact_sample_fn *each, void *with, struct tare_error *err)
{
	const struct samples_of of = {
		.b = x->shared, .every = &x->every, .clock = &x->clock, .ended = x->ended
	};
	int64_t total[EXACT_CLASSES];
	char reason[REASON_MAX];
	int ret;

	if (!x->every.n_events)
		return tare_fail(err, ENODATA, "exact: no samples were asked for");
	if (x->lost && x->ended)
		return say_lost(x, err);
	ret = is_damaged(x) ? SAMPLES_DAMAGED : samples_give(&x->samples, &of, each, with, err);
	if (ret == 0 && x->ended && x->alone && sum_up(x, total, reason) && !reason[0] &&
	    !samples_add_up(x->samples, total))
		ret = SAMPLES_DAMAGED;
	return ret == SAMPLES_DAMAGED ? damaged(x, err) : ret;
}

/* No process runs any more: instructions with and without a place must add up to the total. */
static bool profile_adds_up(struct exact *x, const struct exact_profile *p)
{
	uint64_t sum = (uint64_t)p->unplaced;
	int64_t all[EXACT_CLASSES];
	char reason[REASON_MAX];
	bool fits = sum_up(x, all, reason);

	for (size_t i = 0; i < p->n_code; i++)
		sum += (uint64_t)p->code[i].executions * p->code[i].instructions;
	return reason[0] ||
		(fits && sum == (uint64_t)all[EXACT_INSTRUCTIONS]); /* no counts, no sum */
}

int exact_profile(struct exact *x, struct exact_profile *out, struct tare_error *err)
{
	struct reading r = { 0 };
	int ret;

	*out = (struct exact_profile){ 0 };
	do {
		exact_profile_free(out);
		*out = (struct exact_profile){ 0 };
		if (is_damaged(x))
			return damaged(x, err);
		begin_reading(&r, x->shared);
		if (is_lost(x, r.changes))
			return say_lost(x, err);
		ret = profile_gather(x->shared, x->shared_fd, out, err);
		r.torn = ret == -EBADMSG || ret == -EAGAIN ||
			(ret == 0 && x->ended && x->alone && !profile_adds_up(x, out));
		if (ret < 0 && !r.torn)
			break;
	} while (in_motion(x, &r));
	if (ret < 0 || x->damaged)
		exact_profile_free(out);
	return x->damaged ? damaged(x, err) : ret;
}

/* Without the counts of its live threads. */
static bool process_facts(struct exact *x, uint32_t process, struct exact_process *out)
{
	const struct process *p = shared_process(x->shared, process);
	struct process own;

	copy_once(&own, p, sizeof own);
	*out = (struct exact_process){ .pid = own.pid,
				       .parent = own.parent_pid,
				       .serial = own.serial,
				       .stable_id = own.stable_id,
				       .live = true,
				       .partial = own.refused };
	process_name(&own, out->name);
	return add_sums(out->counts, p->done, &p->done_check);
}

static bool past_facts(struct exact *x, uint32_t i, struct exact_process *out)
{
	struct past own;

	copy_once(&own, shared_past(x->shared, i), sizeof own);
	END_TEXT(own.name);
	*out = (struct exact_process){ .pid = own.pid,
				       .parent = own.parent,
				       .serial = own.serial,
				       .stable_id = own.stable_id,
				       .partial = own.refused };
	memcpy(out->name, own.name, sizeof own.name);
	return add_sums(out->counts, own.counts, &own.check);
}

/* place: PROCESSES entries; the index in `out` of each live process, from 1. */
static size_t list_processes(struct exact *x, struct exact_process *out, size_t n, size_t *place,
			     bool *torn)
{
	struct shared_state *b = x->shared;
	size_t found = 0;

	memset(place, 0, PROCESSES * sizeof *place);
	for (uint32_t i = 0, past = shared_pasts(b); i < past; i++, found++)
		if (found < n)
			*torn |= !past_facts(x, i, &out[found]);
	for (uint32_t i = 0; i < shared_processes(b); i++) {
		if (!is_used(shared_process(b, i)))
			continue;
		if (found < n) {
			*torn |= !process_facts(x, i, &out[found]);
			place[i] = found + 1;
		}
		found++;
	}
	for (uint32_t t = 0; n && t < shared_threads(b); t++) {
		uint32_t i = b->thread_states[t] == THREAD_LIVE ? thread_process(b, t) : PROCESSES;

		if (i < PROCESSES && place[i])
			*torn |= !add_live(x, t, i, out[place[i] - 1].counts);
	}
	return found;
}

static size_t list_threads(struct exact *x, struct exact_thread *out, size_t n, bool *torn)
{
	struct shared_state *b = x->shared;
	const struct ended_thread *ended = (const struct ended_thread *)((uint8_t *)b +
									 SHARED_ENDED);
	size_t found = 0;

	for (uint32_t i = 0, all = b->n_ended; !*torn && i < all && i < ENDED_MAX; i++, found++) {
		struct ended_thread own;

		if (found >= n)
			continue;
		copy_once(&own, &ended[i], sizeof own);
		out[found] = (struct exact_thread){ .serial = own.serial,
						    .born = own.born,
						    .stable_id = own.stable_id,
						    .tid = own.tid };
		*torn |= !own.ready || !add_sums(out[found].counts, own.counts, &own.check);
	}
	for (uint32_t i = 0; i < shared_threads(b); i++) {
		uint32_t process = thread_process(b, i);

		if (b->thread_states[i] != THREAD_LIVE)
			continue;
		if (found < n) {
			out[found] = thread_facts(b, i);
			out[found].serial = READ_ONCE(shared_process(b, process)->serial);
			*torn |= !add_live(x, i, process, out[found].counts);
		}
		found++;
	}
	return found;
}

/*
 * No process runs any more. Do the threads' counts add up to the total? They do, unless some did
 * not fit the list.
 */
static bool adds_up(struct exact *x, const struct exact_thread *thread, size_t n)
{
	int64_t all[EXACT_CLASSES];
	uint64_t sum[EXACT_CLASSES] = { 0 };
	char reason[REASON_MAX];
	bool same = sum_up(x, all, reason);

	for (size_t i = 0; i < n; i++)
		for (int c = 0; c < EXACT_CLASSES; c++)
			sum[c] += (uint64_t)thread[i].counts[c];
	for (int c = 0; c < EXACT_CLASSES; c++)
		same &= sum[c] == (uint64_t)all[c];
	return same || n >= ENDED_MAX;
}

size_t exact_processes(struct exact *x, struct exact_process *out, size_t n)
{
	size_t found, *place = calloc(PROCESSES, sizeof *place);
	struct reading r = { 0 };

	if (!place)
		return 0;
	do {
		begin_reading(&r, x->shared);
		found = is_damaged(x) ? 0 : list_processes(x, out, n, place, &r.torn);
	} while (!x->damaged && in_motion(x, &r));
	free(place);
	return x->damaged ? 0 : found;
}

size_t exact_threads(struct exact *x, struct exact_thread *out, size_t n)
{
	struct reading r = { 0 };
	size_t found;

	do {
		begin_reading(&r, x->shared);
		if (is_damaged(x))
			return 0;
		found = list_threads(x, out, n, &r.torn);
		if (out && found <= n && x->ended && x->alone)
			r.torn |= !adds_up(x, out, found);
	} while (in_motion(x, &r));
	return x->damaged ? 0 : found;
}

void exact_signalled(const struct exact *x, int number)
{
	if (x->supervisor > 0 && process_state(NULL, x->supervisor) == 'T')
		kill(x->supervisor, number == SIGKILL ? SIGKILL : SIGCONT);
}

void exact_close(struct exact *x)
{
	if (!x)
		return;
	if (x->report_fd >= 0)
		close(x->report_fd);
	if (x->shared) {
		x->shared->every.nobody = 1;
		munmap(x->shared, SHARED_SIZE);
	}
	free(x->samples);
	if (x->shared_fd >= 0)
		close(x->shared_fd);
	if (x->image_fd >= 0)
		close(x->image_fd);
	/* The supervisor ends with the last process it serves; reap it if that is now. */
	if (x->supervisor > 0)
		waitpid(x->supervisor, NULL, x->alone ? 0 : WNOHANG);
	if (x->reaps && !x->was_subreaper)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	free(x);
}

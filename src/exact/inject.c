/* SPDX-License-Identifier: MIT */
/*
 * Maps the engine into a program that was just executed and has not run an instruction yet: makes
 * it execute a few system calls (by ptrace), then start at the engine's first instruction.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "base/proc_maps.h"
#include "exact/supervisor.h"

enum {
	CS_64_BIT = 0x33,
	PATH_ROOM = 64,
	BELOW_STACK = 4096,
	PAGE = 4096,
	CALLS_MAX = 6,
	CALLS_ROOM = 640
};

static const uint64_t TABLES_BELOW = 64ull << 30, HEAP_ROOM = 32ull << 30;

struct remote {
	pid_t tid;
	int mem; /* /proc/tid/mem */
	struct user_regs_struct start;
	uint64_t code;   /* CALLS_ROOM bytes for code, then PATH_ROOM bytes for each of two names */
	int held_signal; /* a stop signal to deliver at the end */
};

/* A system call that the program is to make. */
struct call {
	long nr;
	uint64_t args[6];
	/*
	 * its descriptor (the fifth argument, or close()'s only one) is the result of this earlier
	 * call; -1: given in args
	 */
	int fd_from;
};

static uint8_t *put_imm(uint8_t *p, unsigned reg, uint64_t value)
{
	*p++ = (uint8_t)(0x48 | reg >> 3);
	*p++ = (uint8_t)(0xb8 | (reg & 7));
	memcpy(p, &value, sizeof value);
	return p + sizeof value;
}

/* Registers that hold the results, by their encoding: system calls do not change these. */
static const uint8_t result_in[CALLS_MAX] = { 12, 13, 14, 15, 3 /* rbx */, 5 /* rbp */ };

/* code bytes per call, at most; one more byte traps at the end */
enum { CALL_BYTES = 6 * 10 + 3 + 10 + 2 + 12 };

_Static_assert(CALLS_MAX *CALL_BYTES + 1 <= CALLS_ROOM, "room for their code");

/* Code that makes the calls in sequence, until one fails, and traps. */
static size_t write_calls(uint8_t code[CALLS_ROOM], const struct call *calls, size_t n)
{
	static const uint8_t args[6] = { 7 /* rdi */, 6 /* rsi */, 2 /* rdx */, 10, 8, 9 };
	static const uint8_t go[] = { 0x0f, 0x05 };
	uint8_t *p = code;

	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < 6; k++)
			p = put_imm(p, args[k], calls[i].args[k]);
		if (calls[i].fd_from >= 0) {
			/* mov rdi, r12 + fd_from; or mov r8, ... */
			const uint8_t from = (uint8_t)(0xc0 |
						       (result_in[calls[i].fd_from] - 8) << 3);
			const uint8_t move[] = { calls[i].nr == SYS_close ? 0x4c : 0x4d, 0x89,
						 calls[i].nr == SYS_close ? from | 7 : from };

			memcpy(p, move, sizeof move), p += sizeof move;
		}
		p = put_imm(p, 0, (uint64_t)calls[i].nr);
		memcpy(p, go, sizeof go), p += sizeof go;

		/* mov result_in[i], rax;  cmp rax, -4095;  jb over the trap;  int3 */
		const uint8_t keep[] = { result_in[i] < 8 ? 0x48 : 0x49,
					 0x89,
					 0xc0 | (result_in[i] & 7),
					 0x48,
					 0x3d,
					 0x01,
					 0xf0,
					 0xff,
					 0xff,
					 0x72,
					 0x01,
					 0xcc };

		memcpy(p, keep, sizeof keep), p += sizeof keep;
	}
	*p++ = 0xcc;
	return (size_t)(p - code);
}

int next_stop(pid_t tid)
{
	for (;;) {
		siginfo_t is = { 0 };

		if (waitid(P_PID, (id_t)tid, &is, WEXITED | WSTOPPED | WNOWAIT | __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return -ESRCH;
		}
		if (is.si_code != CLD_TRAPPED && is.si_code != CLD_STOPPED)
			return -ESRCH;
		is.si_pid = 0;
		if (waitid(P_PID, (id_t)tid, &is, WSTOPPED | WNOHANG | __WALL) == 0 &&
		    is.si_pid == tid)
			return is.si_status;
	}
}

/* Was the stop caused by the program's own instruction, and not by a signal that was sent? */
static bool is_fault(pid_t tid, int stop)
{
	siginfo_t how = { 0 };

	return (stop == SIGSEGV || stop == SIGBUS || stop == SIGILL) &&
		ptrace(PTRACE_GETSIGINFO, tid, 0, &how) == 0 && how.si_code > 0;
}

static bool reads(const struct remote *r, void *to, size_t size, uint64_t at)
{
	ssize_t n = pread(r->mem, to, size, (off_t)at);

	errno = n >= 0 ? EIO : errno;
	return n == (ssize_t)size;
}

static bool writes(const struct remote *r, const void *from, size_t size, uint64_t at)
{
	ssize_t n = pwrite(r->mem, from, size, (off_t)at);

	errno = n >= 0 ? EIO : errno;
	return n == (ssize_t)size;
}

/*
 * Make system calls in the program. Stores what each returned; -ECANCELED if an earlier one failed.
 * The code is written to the page of its entry point and traps at the end, so all calls cost one
 * wait. -EFAULT: that page is not executable.
 */
static int remote_calls(struct remote *r, const struct call *calls, size_t n,
			int64_t results[CALLS_MAX])
{
	struct user_regs_struct regs = r->start;
	uint8_t code[CALLS_ROOM];
	size_t size = write_calls(code, calls, n);

	regs.orig_rax = (unsigned long)-1;
	regs.rip = r->code;
	regs.r12 = regs.r13 = regs.r14 = regs.r15 = regs.rbx = regs.rbp = (unsigned long)-ECANCELED;
	if (!writes(r, code, size, r->code) || ptrace(PTRACE_SETREGS, r->tid, 0, &regs) < 0)
		return -errno;
	for (;;) {
		int stop = ptrace(PTRACE_CONT, r->tid, 0, 0) < 0 ? -ESRCH : next_stop(r->tid);

		if (stop < 0)
			return stop;
		if (is_fault(r->tid, stop))
			return -EFAULT;
		/*
		 * PTRACE_EVENT_STOP: SIGCONT arrived, which cancels a stop, or it was stopped,
		 * which takes effect when it is detached
		 */
		if (stop >> 8) {
			r->held_signal = (stop & 0xff) == SIGTRAP ? 0 : r->held_signal;
			continue;
		}
		if (stop != SIGTRAP) { /* SIGSTOP: all others are blocked */
			r->held_signal = stop;
			continue;
		}
		if (ptrace(PTRACE_GETREGS, r->tid, 0, &regs) < 0)
			return -errno;
		if (regs.rip > r->code && regs.rip <= r->code + size)
			break;
	}

	const unsigned long long all[CALLS_MAX] = { regs.r12, regs.r13, regs.r14,
						    regs.r15, regs.rbx, regs.rbp };

	for (size_t i = 0; i < n; i++)
		results[i] = (int64_t)all[i];
	return 0;
}

static int64_t remote_call(struct remote *r, long nr, uint64_t a, uint64_t b, uint64_t c,
			   uint64_t d, uint64_t e, uint64_t f)
{
	const struct call call = { nr, { a, b, c, d, e, f }, -1 };
	int64_t result[CALLS_MAX];
	int ret = remote_calls(r, &call, 1, result);

	return ret < 0 ? ret : result[0];
}

static bool failed(int64_t ret)
{
	return ret < 0 && ret > -4096;
}

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/* The identity of the file at `name`, as the program sees it, and its last modification time. */
static void look_at_file(struct exec_region *r, pid_t tid, const char *name, uint64_t inode)
{
	char path[4500];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/root%s", (int)tid, name);
	if (name[0] != '/' || stat(path, &st) < 0 || st.st_ino != inode)
		return;
	r->dev = st.st_dev;
	r->inode = st.st_ino;
	r->written_ns = ns_of(&st.st_mtim);
	if (changed_just_now(ns_of(&st.st_ctim), (uint64_t)file_time_now()))
		return;
	r->version = (struct file_version){ .dev = st.st_dev,
					    .inode = st.st_ino,
					    .size = (uint64_t)st.st_size,
					    .written_ns = r->written_ns,
					    .changed_ns = ns_of(&st.st_ctim) };
}

/* The program's executable memory, written to the shared state for the engine. */
struct regions {
	uint32_t n;
	struct exec_region at[EXEC_REGIONS];
};

static int read_regions(struct regions *all, pid_t tid)
{
	struct proc_maps maps;
	struct proc_map m;
	int ret = proc_maps_open(&maps, NULL, tid);

	if (ret < 0)
		return ret;
	all->n = 0;
	while (ret == 0 && proc_maps_next(&maps, &m)) {
		struct exec_region *r = &all->at[all->n];

		if (m.rights[2] != 'x' || !strcmp(m.name, "[vsyscall]"))
			continue;
		if (all->n == EXEC_REGIONS) {
			ret = -E2BIG;
			break;
		}
		all->n++;
		*r = (struct exec_region){ .start = m.start,
					   .end = m.end,
					   .writable = m.rights[1] == 'w',
					   .shared = m.rights[3] == 's',
					   .kernel = !strcmp(m.name, "[vdso]") };
		look_at_file(r, tid, m.name, m.inode);
		/* An executable stack: it grows down, and its writes cannot be watched. */
		if (!strcmp(m.name, "[stack]")) {
			r->checked = 1;
			r->start = m.end - (8 << 20);
		}
	}
	proc_maps_close(&maps);
	return ret;
}

/* A message with one descriptor; pointers are valid in the receiver. */
struct parcel {
	struct msghdr header;
	struct iovec vector;
	_Alignas(struct cmsghdr)
		uint8_t control[CMSG_SPACE(sizeof(int))]; /* a struct cmsghdr, and the descriptor */
	int pair[2];
	char byte;
};

static struct parcel new_parcel(struct parcel *here, uint64_t at)
{
	uint8_t *base = here ? (uint8_t *)here
			     : (uint8_t *)at; /* NOLINT(performance-no-int-to-ptr) */

	return (struct parcel){
		.header = { .msg_iov = (struct iovec *)(base + offsetof(struct parcel, vector)),
			    .msg_iovlen = 1,
			    .msg_control = base + offsetof(struct parcel, control),
			    .msg_controllen = CMSG_SPACE(sizeof(int)) },
		.vector = { .iov_base = base + offsetof(struct parcel, byte), .iov_len = 1 },
	};
}

/* Send it through our copy of one end of the program's own socket pair. */
static bool send_shared(pid_t tid, int end, int shared_fd)
{
	const struct cmsghdr head = { .cmsg_len = CMSG_LEN(sizeof(int)),
				      .cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS };
	struct parcel p = new_parcel(&p, 0);
	int pidfd = (int)syscall(SYS_pidfd_open, tid, 0);
	int to = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, end, 0);
	bool sent;

	memcpy(p.control, &head, sizeof head);
	memcpy(p.control + CMSG_LEN(0), &shared_fd, sizeof shared_fd);
	sent = to >= 0 && sendmsg(to, &p.header, MSG_NOSIGNAL) == 1;
	if (to >= 0)
		close(to);
	if (pidfd >= 0)
		close(pidfd);
	return sent;
}

/*
 * Pass the shared state to a program of another user or root directory: it creates a socket pair,
 * and as it is traced, tare can duplicate one end. No other process can send into it.
 */
static int64_t hand_shared(struct remote *r, int shared_fd, uint64_t at)
{
	struct parcel p = new_parcel(NULL, at);
	uint64_t pair = at + offsetof(struct parcel, pair);
	struct cmsghdr head;
	int64_t got;
	int fd;

	if (failed(remote_call(r, SYS_socketpair, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair, 0,
			       0)) ||
	    !reads(r, p.pair, sizeof p.pair, pair))
		return -EACCES;
	got = send_shared(r->tid, p.pair[1], shared_fd) && writes(r, &p, sizeof p, at)
		? remote_call(r, SYS_recvmsg, (uint64_t)p.pair[0], at,
			      MSG_CMSG_CLOEXEC | MSG_DONTWAIT, 0, 0, 0)
		: -EACCES;
	remote_call(r, SYS_close, (uint64_t)p.pair[0], 0, 0, 0, 0, 0);
	remote_call(r, SYS_close, (uint64_t)p.pair[1], 0, 0, 0, 0, 0);
	if (got != 1 || !reads(r, &p, sizeof p, at))
		return -EACCES;
	memcpy(&head, p.control, sizeof head);
	if (head.cmsg_len != CMSG_LEN(sizeof fd) || head.cmsg_type != SCM_RIGHTS)
		return -EACCES;
	memcpy(&fd, p.control + CMSG_LEN(0), sizeof fd);
	return fd;
}

/* hand_shared(), then restores the program's memory. */
static int64_t hand_over(struct remote *r, int shared_fd)
{
	uint64_t at = (r->start.rsp - BELOW_STACK) & ~0xfull;
	uint8_t before[sizeof(struct parcel)];
	int64_t fd;

	if (!reads(r, before, sizeof before, at))
		return -EIO;
	fd = hand_shared(r, shared_fd, at);
	return writes(r, before, sizeof before, at) ? fd : -EIO;
}

/* Is there also room for the program's heap? */
static bool leaves_room(const struct regions *all, uint64_t place)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (all->at[i].end > place - IMAGE_BELOW - TABLES_BELOW - HEAP_ROOM &&
		    all->at[i].start < place + SHARED_SIZE)
			return false;
	return true;
}

/* The two files, and the program's descriptors of them. */
enum { SHARED_FILE, IMAGE_FILE, FILES };

static const int64_t NOT_OPEN = INT64_MIN;

/*
 * Map the shared state and the image in the program. Files that are NOT_OPEN are opened by name,
 * which works if the program has the same user, root directory and namespaces; afterwards fds has
 * the descriptors, or -errno. -errno: nothing is mapped, but the files may be open. The image is
 * closed afterwards.
 */
static int map_at(struct remote *r, uint64_t place, uint64_t data, uint64_t end, int64_t fds[FILES])
{
	enum { BOARD, CODE, DATA, MAPS };
	const uint64_t image = place - IMAGE_BELOW, names = r->code + CALLS_ROOM;
	const struct {
		uint64_t from, size, rights, flags, offset;
		int file;
	} rows[MAPS] = {
		[BOARD] = { place, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			    0, SHARED_FILE },
		[CODE] = { image, data, PROT_READ | PROT_EXEC, MAP_PRIVATE, 0, IMAGE_FILE },
		[DATA] = { image + data, end - data, PROT_READ | PROT_WRITE, MAP_PRIVATE, data,
			   IMAGE_FILE },
	};
	const size_t opened = fds[SHARED_FILE] == NOT_OPEN ? FILES : 0;
	struct call calls[CALLS_MAX] = {
		{ SYS_openat, { (uint64_t)AT_FDCWD, names, O_RDWR | O_CLOEXEC }, -1 },
		{ SYS_openat, { (uint64_t)AT_FDCWD, names + PATH_ROOM, O_RDONLY | O_CLOEXEC }, -1 }
	};
	int64_t results[CALLS_MAX], *mapped = results + opened;
	int ret;

	for (int i = 0; i < MAPS; i++)
		calls[opened + (size_t)i] = (struct call){
			SYS_mmap,
			{ rows[i].from, rows[i].size, rows[i].rights,
			  rows[i].flags | MAP_FIXED_NOREPLACE, (uint64_t)fds[rows[i].file],
			  rows[i].offset },
			opened ? rows[i].file : -1
		};
	calls[opened + MAPS] = (struct call){ SYS_close,
					      { (uint64_t)fds[IMAGE_FILE] },
					      opened ? IMAGE_FILE : -1 };
	ret = remote_calls(r, calls, opened + MAPS + 1, results);
	if (ret < 0)
		return ret;
	if (opened)
		memcpy(fds, results, FILES * sizeof *fds);
	for (int i = 0; i < FILES; i++)
		if (failed(fds[i]))
			return (int)fds[i];
	if (!failed(mapped[DATA]))
		return 0;
	ret = (int)(failed(mapped[BOARD]) ? mapped[BOARD] : -ENOMEM);
	for (int i = 0; i < DATA; i++)
		if (!failed(mapped[i]))
			remote_call(r, SYS_munmap, rows[i].from, rows[i].size, 0, 0, 0, 0);
	return ret;
}

/*
 * Pass the files that it could not open, because of another user or root directory. False: that
 * failed, too.
 */
static bool hand_over_files(struct remote *r, const struct launch *l, int64_t fds[FILES])
{
	const int ours[FILES] = { l->shared_fd, l->image_fd };

	for (int i = 0; i < FILES; i++) {
		if (fds[i] == -EACCES || fds[i] == -ENOENT || fds[i] == -EPERM ||
		    fds[i] == -ECANCELED /* an earlier call failed */)
			fds[i] = hand_over(r, ours[i]);
		if (failed(fds[i]))
			return false;
	}
	return true;
}

static void close_files(struct remote *r, const int64_t fds[FILES])
{
	for (int i = 0; i < FILES; i++)
		if (fds[i] >= 0)
			remote_call(r, SYS_close, (uint64_t)fds[i], 0, 0, 0, 0, 0);
}

static int map_all(struct remote *r, const struct launch *l, const struct regions *all,
		   struct process *p, uint64_t *at, char *reason)
{
	const struct image_head *head = (const struct image_head *)exact_image;
	uint64_t data = offsetof(struct image_head, data) + (uint64_t)head->data;
	uint64_t end = offsetof(struct image_head, end) + (uint64_t)head->end, place = 0;
	char paths[FILES][PATH_ROOM] = { "" };
	int64_t fds[FILES] = { NOT_OPEN, NOT_OPEN };
	int ret = -ENOMEM;

	snprintf(paths[SHARED_FILE], PATH_ROOM, "/proc/%d/fd/%d", (int)getpid(), l->shared_fd);
	snprintf(paths[IMAGE_FILE], PATH_ROOM, "/proc/%d/fd/%d", (int)getpid(), l->image_fd);
	if (!writes(r, paths, sizeof paths, r->code + CALLS_ROOM)) {
		ret = -errno;
		snprintf(reason, REASON_MAX, "cannot write to the program's memory: %s",
			 strerror(-ret));
		return ret;
	}
	for (size_t i = 0;
	     i < ARRAY_SIZE(shared_places) && ret < 0 && ret != -ESRCH && ret != -EFAULT; i++) {
		if (!leaves_room(all, shared_places[i]))
			continue;
		place = shared_places[i];
		ret = map_at(r, place, data, end, fds);
		if (fds[SHARED_FILE] != NOT_OPEN &&
		    (failed(fds[SHARED_FILE]) || failed(fds[IMAGE_FILE]))) {
			if (!hand_over_files(r, l, fds)) {
				int code = (int)(failed(fds[SHARED_FILE]) ? fds[SHARED_FILE]
									  : fds[IMAGE_FILE]);

				close_files(r, fds);
				snprintf(
					reason, REASON_MAX,
					"the program cannot open tare's memory (%s), and tare cannot pass it: %s",
					paths[SHARED_FILE], strerror(-code));
				return code;
			}
			ret = map_at(r, place, data, end, fds);
		}
	}
	if (ret < 0) {
		close_files(r, fds);
		snprintf(reason, REASON_MAX,
			 "the exact engine cannot be mapped into the program (ulimit -v?): %s",
			 strerror(-ret));
		return ret;
	}
	*at = place;
	p->image = place - IMAGE_BELOW;
	p->tables_at = place - IMAGE_BELOW - TABLES_BELOW;
	p->mapped[LIMIT_SPACE] = SHARED_SIZE + ((end + 4095) & ~4095ull);
	p->mapped[LIMIT_DATA] = (end - data + 4095) & ~4095ull;
	p->image_size = end;
	p->shared_size = SHARED_SIZE;
	p->entry = r->start.rip;
	p->shared_at = place;
	p->shared_fd = (int32_t)fds[SHARED_FILE];
	return 0;
}

/*
 * It will run uncounted: restore the limits that the previous program had set. The kernel's are
 * higher (engine/limits.c), so this only lowers them, regardless of what the shared state contains.
 */
static void limits_for_real(pid_t tid, const struct process *p)
{
	static const int resources[LIMITS] = {
		[LIMIT_SPACE] = RLIMIT_AS, [LIMIT_DATA] = RLIMIT_DATA
	};

	for (int i = 0; i < LIMITS; i++) {
		struct limit wish = p->limits[i];
		struct rlimit now;

		if (!(p->limited & 1u << i) || prlimit(tid, (unsigned)resources[i], NULL, &now) < 0)
			continue;
		now.rlim_max = wish.max < now.rlim_max ? wish.max : now.rlim_max;
		now.rlim_cur = wish.cur < now.rlim_cur ? wish.cur : now.rlim_cur;
		if (now.rlim_cur > now.rlim_max)
			now.rlim_cur = now.rlim_max;
		prlimit(tid, (unsigned)resources[i], &now, NULL);
	}
}

/*
 * Is its first instruction in executable memory? Otherwise it dies there without executing
 * anything.
 */
static bool can_begin(const struct regions *all, uint64_t pc)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (pc >= all->at[i].start && pc < all->at[i].end)
			return true;
	return false;
}

int inject(struct shared_state *b, const struct launch *l, pid_t tid, struct process *p,
	   char reason[REASON_MAX])
{
	struct remote r = { .tid = tid, .mem = -1 };
	uint64_t all = ~0ull;
	uint8_t before[CALLS_ROOM + FILES * PATH_ROOM];
	struct regions regions;
	uint64_t place = 0;
	char path[64];
	int ret;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r.start) < 0)
		return -errno;
	if (r.start.cs != CS_64_BIT) {
		snprintf(reason, REASON_MAX,
			 "a 32-bit program, which the exact engine does not run");
		return -ENOTSUP;
	}
	ret = read_regions(&regions, tid);
	if (ret < 0) {
		snprintf(reason, REASON_MAX, "cannot read /proc/%d/maps: %s%s", (int)tid,
			 strerror(-ret),
			 access("/proc/self/maps", F_OK) < 0
				 ? "; mount /proc: mount -t proc proc /proc"
				 : "");
		return ret;
	}
	p->n_regions = regions.n;
	memcpy(p->regions, regions.at, regions.n * sizeof *regions.at);
	if (!can_begin(&regions, r.start.rip)) {
		limits_for_real(tid, p);
		return -EFAULT;
	}
	snprintf(path, sizeof path, "/proc/%d/mem", (int)tid);
	r.mem = open(path, O_RDWR | O_CLOEXEC);
	r.code = r.start.rip & ~(PAGE - 1ull);
	if (r.mem < 0 || !reads(&r, before, sizeof before, r.code) ||
	    ptrace(PTRACE_SETSIGMASK, tid, 8, &all) < 0) {
		ret = -errno;
		snprintf(reason, REASON_MAX, "cannot have the program's memory: %s",
			 strerror(-ret));
		goto out;
	}
	ret = map_all(&r, l, &regions, p, &place, reason);
	if (!writes(&r, before, sizeof before, r.code) && ret != -ESRCH) {
		ret = -errno;
		snprintf(reason, REASON_MAX, "cannot have the program's memory: %s",
			 strerror(-ret));
	}

	struct user_regs_struct regs = r.start;

	regs.orig_rax = (unsigned long)-1;
	if (ret == 0) {
		regs.rip = place - IMAGE_BELOW;
		regs.rdi = place + SHARED_PROCESSES +
			(uint64_t)(p - shared_process(b, 0)) * sizeof(struct process);
		regs.rsi = place;
	}
	if (ptrace(PTRACE_SETREGS, tid, 0, &regs) < 0)
		ret = -errno;
out:
	if (ret < 0)
		limits_for_real(tid, p);
	if (r.mem >= 0)
		close(r.mem);
	return ret < 0 ? ret : r.held_signal;
}

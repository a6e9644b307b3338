/* SPDX-License-Identifier: MIT */
/*
 * Put the engine into a program that has just been executed and has not run an instruction yet:
 * have it make a few system calls by remote control (ptrace), then start at the engine's first
 * instruction.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "exact/supervisor.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { CS_64_BIT = 0x33, PATH_ROOM = 64, BELOW_STACK = 4096 };

/*
 * Where the board goes, with image and tables right below: behind the heap of a program at a fixed address, in what the kernel's
 * largest gaps leave whole, and where sanitizers expect nothing but programs. TSan takes 0x550000000000 to 0x568000000000 for
 * that, MSan 0x510000000000 to 0x600000000000, and both die of anything of a stranger's elsewhere. With random addresses
 * the program may stand there: then it is the next.
 * Source: compiler-rt, tsan_platform.h, MappingX86_64; msan.h, kMemoryLayout.
 */
static const uint64_t places[] = { 0x559000000000, 0x550500000000, 0x520000000000, 0x200000000000, 0x180000000000 };

enum { IMAGE_BELOW = 0x10000000 };

static const uint64_t TABLES_BELOW = 64ull << 30, HEAP_ROOM = 32ull << 30;

struct remote {
	pid_t tid;
	int mem; /* /proc/tid/mem */
	struct user_regs_struct start;
	int held_signal; /* a stop signal to hand over at the end */
};

/* One system call in the program, at its entry point, where a syscall instruction was written. */
static int64_t remote_call(struct remote *r, long nr, uint64_t a, uint64_t b, uint64_t c,
			   uint64_t d, uint64_t e, uint64_t f)
{
	struct user_regs_struct regs = r->start;
	int status;

	regs.rax = (unsigned long)nr;
	regs.orig_rax = (unsigned long)-1;
	regs.rdi = a;
	regs.rsi = b;
	regs.rdx = c;
	regs.r10 = d;
	regs.r8 = e;
	regs.r9 = f;
	for (;;) {
		struct user_regs_struct now;

		if (ptrace(PTRACE_SETREGS, r->tid, 0, &regs) < 0 ||
		    ptrace(PTRACE_SINGLESTEP, r->tid, 0, 0) < 0 ||
		    waitpid(r->tid, &status, __WALL) != r->tid || !WIFSTOPPED(status))
			return -ESRCH;
		if (ptrace(PTRACE_GETREGS, r->tid, 0, &now) < 0)
			return -errno;
		/* The first trap of all is the end of execve itself, and sets rax to its result. */
		if (now.rip == r->start.rip + 2)
			return (int64_t)now.rax;
		if (status >> 8 != SIGTRAP)
			r->held_signal = WSTOPSIG(status);
	}
}

static bool failed(int64_t ret)
{
	return ret < 0 && ret > -4096;
}

/* The file at `name`, as the program sees it: which it is, and when it was last written. */
static void look_at_file(struct exec_region *r, pid_t tid, const char *name, unsigned long inode)
{
	char path[4500];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/root%s", (int)tid, name);
	if (name[0] != '/' || stat(path, &st) < 0 || st.st_ino != inode)
		return;
	r->dev = st.st_dev;
	r->inode = st.st_ino;
	r->written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
}

/* The program's executable memory, from /proc/tid/maps. */
static int read_regions(struct process *p, pid_t tid)
{
	char path[64], line[4400];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	p->n_regions = 0;
	while (fgets(line, sizeof line, f)) {
		unsigned long start, end, inode;
		int name = 0;
		char prot[8];

		if (sscanf(line, "%lx-%lx %7s %*s %*s %lu %n", &start, &end, prot, &inode, &name) != 4 || prot[2] != 'x' ||
		    strstr(line, "[vsyscall]"))
			continue;
		if (p->n_regions == EXEC_REGIONS) {
			fclose(f);
			return -E2BIG;
		}
		p->regions[p->n_regions] = (struct exec_region){
			.start = start,
			.end = end,
			.writable = prot[1] == 'w',
			.shared = prot[3] == 's',
		};
		line[strcspn(line, "\n")] = 0;
		look_at_file(&p->regions[p->n_regions], tid, line + name, inode);
		/* A stack that may be executed: it grows down, and its writes cannot be watched. */
		if (strstr(line, "[stack]")) {
			p->regions[p->n_regions].checked = 1;
			p->regions[p->n_regions].start = end - (8 << 20);
		}
		p->n_regions++;
	}
	fclose(f);
	return 0;
}

/* The board for the program by its name, which programs of the same user, root and namespaces can open. */
static int64_t open_board(struct remote *r, const char *path, uint64_t at)
{
	char name[PATH_ROOM] = "";

	snprintf(name, sizeof name, "%s", path);
	if (pwrite(r->mem, name, sizeof name, (off_t)at) != sizeof name)
		return -EIO;
	return remote_call(r, SYS_openat, (uint64_t)AT_FDCWD, at, O_RDWR | O_CLOEXEC, 0, 0, 0);
}

/* A message that carries one descriptor; the pointers are the receiver's. */
struct parcel {
	struct msghdr header;
	struct iovec vector;
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(int))]; /* a struct cmsghdr, and the descriptor */
	int pair[2];
	char byte;
};

static struct parcel new_parcel(struct parcel *here, uint64_t at)
{
	uint8_t *base = here ? (uint8_t *)here : (uint8_t *)at; /* NOLINT(performance-no-int-to-ptr) */

	return (struct parcel){
		.header = { .msg_iov = (struct iovec *)(base + offsetof(struct parcel, vector)),
			    .msg_iovlen = 1,
			    .msg_control = base + offsetof(struct parcel, control),
			    .msg_controllen = CMSG_SPACE(sizeof(int)) },
		.vector = { .iov_base = base + offsetof(struct parcel, byte), .iov_len = 1 },
	};
}

/* Through our copy of one end of the program's own pair of sockets. */
static bool send_board(pid_t tid, int end, int board_fd)
{
	const struct cmsghdr head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	struct parcel p = new_parcel(&p, 0);
	int pidfd = (int)syscall(SYS_pidfd_open, tid, 0);
	int to = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, end, 0);
	bool sent;

	memcpy(p.control, &head, sizeof head);
	memcpy(p.control + CMSG_LEN(0), &board_fd, sizeof board_fd);
	sent = to >= 0 && sendmsg(to, &p.header, MSG_NOSIGNAL) == 1;
	if (to >= 0)
		close(to);
	if (pidfd >= 0)
		close(pidfd);
	return sent;
}

/*
 * To a program of another user or root, handed over: it makes a pair of sockets, and since it is traced its
 * end can be had. Nobody else can send into it.
 */
static int64_t hand_board(struct remote *r, int board_fd, uint64_t at)
{
	struct parcel p = new_parcel(NULL, at);
	uint64_t pair = at + offsetof(struct parcel, pair);
	struct cmsghdr head;
	int64_t got;
	int fd;

	if (failed(remote_call(r, SYS_socketpair, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair, 0, 0)) ||
	    pread(r->mem, p.pair, sizeof p.pair, (off_t)pair) != sizeof p.pair)
		return -EACCES;
	got = send_board(r->tid, p.pair[1], board_fd) && pwrite(r->mem, &p, sizeof p, (off_t)at) == sizeof p
		  ? remote_call(r, SYS_recvmsg, (uint64_t)p.pair[0], at, MSG_CMSG_CLOEXEC | MSG_DONTWAIT, 0, 0, 0)
		  : -EACCES;
	remote_call(r, SYS_close, (uint64_t)p.pair[0], 0, 0, 0, 0, 0);
	remote_call(r, SYS_close, (uint64_t)p.pair[1], 0, 0, 0, 0, 0);
	if (got != 1 || pread(r->mem, &p, sizeof p, (off_t)at) != sizeof p)
		return -EACCES;
	memcpy(&head, p.control, sizeof head);
	if (head.cmsg_len != CMSG_LEN(sizeof fd) || head.cmsg_type != SCM_RIGHTS)
		return -EACCES;
	memcpy(&fd, p.control + CMSG_LEN(0), sizeof fd);
	return fd;
}

/* The board, opened in the program; its memory is as before. */
static int64_t give_board(struct remote *r, const struct board *b, int board_fd, char *reason)
{
	uint64_t at = (r->start.rsp - BELOW_STACK) & ~0xfull;
	char path[PATH_ROOM];
	uint8_t before[sizeof(struct parcel) > PATH_ROOM ? sizeof(struct parcel) : PATH_ROOM];
	int64_t fd;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)b->supervisor, board_fd);
	if (pread(r->mem, before, sizeof before, (off_t)at) != sizeof before) {
		snprintf(reason, REASON_MAX, "cannot read the program's stack");
		return -EIO;
	}
	fd = open_board(r, path, at);
	if (fd == -EACCES || fd == -ENOENT || fd == -EPERM)
		fd = hand_board(r, board_fd, at);
	if (pwrite(r->mem, before, sizeof before, (off_t)at) != sizeof before)
		fd = -EIO;
	if (failed(fd))
		snprintf(reason, REASON_MAX, "the program cannot open tare's memory (%s), nor be given it: %s", path,
			 strerror((int)-fd));
	return fd;
}

/* Is there room for the program's heap, too? */
static bool leaves_room(const struct process *p, uint64_t place)
{
	for (uint32_t i = 0; i < p->n_regions; i++)
		if (p->regions[i].end > place - IMAGE_BELOW - TABLES_BELOW - HEAP_ROOM && p->regions[i].start < place + BOARD_SIZE)
			return false;
	return true;
}

static int map_all(struct remote *r, struct board *b, int board_fd, struct process *p, char *reason)
{
	const struct image_head *head = (const struct image_head *)exact_image;
	uint64_t data = offsetof(struct image_head, data) + (uint64_t)head->data;
	uint64_t end = offsetof(struct image_head, end) + (uint64_t)head->end;
	int64_t fd = give_board(r, b, board_fd, reason), at = -ENOMEM;

	if (failed(fd))
		return (int)fd;
	for (size_t i = 0; i < ARRAY_SIZE(places) && failed(at); i++) {
		if (!leaves_room(p, places[i]))
			continue;
		at = remote_call(r, SYS_mmap, places[i], BOARD_SIZE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, (uint64_t)fd, 0);
		if (failed(at))
			continue;
		p->image = places[i] - IMAGE_BELOW;
		p->tables_at = p->image - TABLES_BELOW;
		if (!failed(remote_call(r, SYS_mmap, p->image, data, PROT_READ | PROT_EXEC,
					MAP_PRIVATE | MAP_FIXED_NOREPLACE, (uint64_t)fd,
					BOARD_IMAGE)) &&
		    !failed(remote_call(r, SYS_mmap, p->image + data, end - data,
					PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED_NOREPLACE,
					(uint64_t)fd, BOARD_IMAGE + data)))
			break;
		remote_call(r, SYS_munmap, (uint64_t)at, BOARD_SIZE, 0, 0, 0, 0);
		at = -ENOMEM;
	}
	if (failed(at)) {
		remote_call(r, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
		snprintf(reason, REASON_MAX,
			 "the exact engine cannot be mapped into the program (ulimit -v?): %s",
			 strerror((int)-at));
		return (int)at;
	}
	p->mapped[LIMIT_SPACE] = BOARD_SIZE + ((end + 4095) & ~4095ull);
	p->mapped[LIMIT_DATA] = (end - data + 4095) & ~4095ull;
	p->image_size = end;
	p->board_size = BOARD_SIZE;
	p->entry = r->start.rip;
	p->board_at = (uint64_t)at;
	p->board_fd = (int32_t)fd;
	return 0;
}

/* It is to run uncounted: under the limits that the program before it had set. */
static void limits_for_real(pid_t tid, const struct process *p)
{
	static const int resources[LIMITS] = { [LIMIT_SPACE] = RLIMIT_AS, [LIMIT_DATA] = RLIMIT_DATA };

	for (int i = 0; i < LIMITS; i++)
		if (p->limited & 1u << i)
			prlimit(tid, (unsigned)resources[i], &(struct rlimit){ p->limits[i].cur, p->limits[i].max }, NULL);
}

int inject(struct board *b, int board_fd, pid_t tid, struct process *p, char reason[REASON_MAX])
{
	static const uint8_t syscall_insn[2] = { 0x0f, 0x05 };
	struct remote r = { .tid = tid, .mem = -1 };
	uint64_t all = ~0ull;
	uint8_t before[2];
	char path[64];
	int ret;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r.start) < 0)
		return -errno;
	if (r.start.cs != CS_64_BIT) {
		snprintf(reason, REASON_MAX,
			 "a 32-bit program, which the exact engine does not run");
		return -ENOTSUP;
	}
	ret = read_regions(p, tid);
	if (ret < 0) {
		snprintf(reason, REASON_MAX, "cannot read the program's memory map: %s",
			 strerror(-ret));
		return ret;
	}
	snprintf(path, sizeof path, "/proc/%d/mem", (int)tid);
	r.mem = open(path, O_RDWR | O_CLOEXEC);
	if (r.mem < 0 || pread(r.mem, before, 2, (off_t)r.start.rip) != 2 ||
	    ptrace(PTRACE_SETSIGMASK, tid, 8, &all) < 0 ||
	    pwrite(r.mem, syscall_insn, 2, (off_t)r.start.rip) != 2) {
		ret = -errno;
		snprintf(reason, REASON_MAX, "cannot write to the program's memory: %s",
			 strerror(-ret));
		goto out;
	}
	ret = map_all(&r, b, board_fd, p, reason);
	if (pwrite(r.mem, before, 2, (off_t)r.start.rip) != 2)
		ret = -EIO;

	struct user_regs_struct regs = r.start;

	regs.orig_rax = (unsigned long)-1;
	if (ret == 0) {
		regs.rip = p->image;
		regs.rdi = p->board_at + BOARD_PROCESSES +
			   (uint64_t)(p - board_process(b, 0)) * sizeof(struct process);
		regs.rsi = p->board_at;
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

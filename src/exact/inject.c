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
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "exact/supervisor.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { CS_64_BIT = 0x33, PATH_ROOM = 64, BELOW_STACK = 4096 };

/* Where board and image go: far from where kernels, libraries and sanitizers put things. */
static const uint64_t places[] = { 0x200000000000, 0x240000000000, 0x180000000000, 0x500000000000 };

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
		unsigned long start, end;
		char prot[8];

		if (sscanf(line, "%lx-%lx %7s", &start, &end, prot) != 3 || prot[2] != 'x' ||
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

static int map_all(struct remote *r, struct board *b, int board_fd, struct process *p, char *reason)
{
	const struct image_head *head = (const struct image_head *)exact_image;
	uint64_t data = offsetof(struct image_head, data) + (uint64_t)head->data;
	uint64_t end = offsetof(struct image_head, end) + (uint64_t)head->end;
	uint64_t path_at = (r->start.rsp - BELOW_STACK) & ~0xfull;
	char path[PATH_ROOM] = "", before[PATH_ROOM];
	int64_t fd, at = -ENOMEM;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)b->supervisor, board_fd);
	if (pread(r->mem, before, sizeof before, (off_t)path_at) != sizeof before ||
	    pwrite(r->mem, path, sizeof path, (off_t)path_at) != sizeof path) {
		snprintf(reason, REASON_MAX, "cannot write to the program's stack");
		return -EIO;
	}
	fd = remote_call(r, SYS_openat, (uint64_t)AT_FDCWD, path_at, O_RDWR | O_CLOEXEC, 0, 0, 0);
	if (pwrite(r->mem, before, sizeof before, (off_t)path_at) != sizeof before)
		fd = -EIO;
	if (failed(fd)) {
		snprintf(reason, REASON_MAX,
			 "the program cannot open tare's memory at %s (another root, user or pid "
			 "namespace): %s",
			 path, strerror((int)-fd));
		return (int)fd;
	}
	for (size_t i = 0; i < ARRAY_SIZE(places) && failed(at); i++) {
		at = remote_call(r, SYS_mmap, places[i], BOARD_SIZE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, (uint64_t)fd, 0);
		if (failed(at))
			continue;
		/* a core dump would write all of it: hours, and a full disk */
		remote_call(r, SYS_madvise, (uint64_t)at, BOARD_SIZE, MADV_DONTDUMP, 0, 0, 0);
		p->image = places[i] - 0x10000000;
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
	remote_call(r, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	if (failed(at)) {
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

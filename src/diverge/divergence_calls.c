/* SPDX-License-Identifier: MIT */
/* System calls of x86-64 that write data to the caller's memory: their names, and where they
 * write. Source: syscalls(2) and the manual page of each. */
#include <stdio.h>
#include "diverge/divergence_cause.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, SOMEWHERE = 254, NO = 255 };

/* It writes to the address in `to`, `length` times `size` bytes; without `length`, `size` bytes.
 * SOMEWHERE: through a list of buffers. */
static const struct call_row {
	int nr;
	const char *name;
	uint8_t to, length;
	uint32_t size;
} rows[] = {
	{ 0, "read", RSI, RDX, 1 },
	{ 1, "write", NO, NO, 0 },
	{ 2, "open", NO, NO, 0 },
	{ 3, "close", NO, NO, 0 },
	{ 4, "stat", RSI, NO, 144 },
	{ 5, "fstat", RSI, NO, 144 },
	{ 6, "lstat", RSI, NO, 144 },
	{ 7, "poll", RDI, RSI, 8 },
	{ 8, "lseek", NO, NO, 0 },
	{ 9, "mmap", NO, NO, 0 },
	{ 10, "mprotect", NO, NO, 0 },
	{ 11, "munmap", NO, NO, 0 },
	{ 12, "brk", NO, NO, 0 },
	{ 13, "rt_sigaction", RDX, NO, 32 },
	{ 14, "rt_sigprocmask", RDX, NO, 8 },
	{ 15, "rt_sigreturn", NO, NO, 0 },
	{ 16, "ioctl", RDX, NO, 256 },
	{ 17, "pread64", RSI, RDX, 1 },
	{ 19, "readv", SOMEWHERE, NO, 0 },
	{ 20, "writev", NO, NO, 0 },
	{ 21, "access", NO, NO, 0 },
	{ 22, "pipe", RDI, NO, 8 },
	{ 23, "select", RSI, NO, 128 },
	{ 24, "sched_yield", NO, NO, 0 },
	{ 25, "mremap", NO, NO, 0 },
	{ 28, "madvise", NO, NO, 0 },
	{ 32, "dup", NO, NO, 0 },
	{ 33, "dup2", NO, NO, 0 },
	{ 34, "pause", NO, NO, 0 },
	{ 27, "mincore", RDX, NO, 1 << 20 },
	{ 35, "nanosleep", RSI, NO, 16 },
	{ 36, "getitimer", RSI, NO, 32 },
	{ 38, "setitimer", RDX, NO, 32 },
	{ 39, "getpid", NO, NO, 0 },
	{ 41, "socket", NO, NO, 0 },
	{ 42, "connect", NO, NO, 0 },
	{ 43, "accept", NO, NO, 0 },
	{ 44, "sendto", NO, NO, 0 },
	{ 45, "recvfrom", RSI, RDX, 1 },
	{ 46, "sendmsg", NO, NO, 0 },
	{ 47, "recvmsg", SOMEWHERE, NO, 0 },
	{ 48, "shutdown", NO, NO, 0 },
	{ 51, "getsockname", RSI, NO, 128 },
	{ 52, "getpeername", RSI, NO, 128 },
	{ 53, "socketpair", R10, NO, 8 },
	{ 55, "getsockopt", SOMEWHERE, NO, 0 },
	{ 56, "clone", NO, NO, 0 },
	{ 57, "fork", NO, NO, 0 },
	{ 58, "vfork", NO, NO, 0 },
	{ 59, "execve", NO, NO, 0 },
	{ 60, "exit", NO, NO, 0 },
	{ 61, "wait4", RSI, NO, 4 },
	{ 62, "kill", NO, NO, 0 },
	{ 63, "uname", RDI, NO, 390 },
	{ 70, "msgrcv", RSI, RDX, 1 },
	{ 72, "fcntl", NO, NO, 0 },
	{ 79, "getcwd", RDI, RSI, 1 },
	{ 80, "chdir", NO, NO, 0 },
	{ 82, "rename", NO, NO, 0 },
	{ 83, "mkdir", NO, NO, 0 },
	{ 87, "unlink", NO, NO, 0 },
	{ 89, "readlink", RSI, RDX, 1 },
	{ 96, "gettimeofday", RDI, NO, 16 },
	{ 97, "getrlimit", RSI, NO, 16 },
	{ 98, "getrusage", RSI, NO, 144 },
	{ 99, "sysinfo", RDI, NO, 112 },
	{ 100, "times", RDI, NO, 32 },
	{ 102, "getuid", NO, NO, 0 },
	{ 104, "getgid", NO, NO, 0 },
	{ 107, "geteuid", NO, NO, 0 },
	{ 110, "getppid", NO, NO, 0 },
	{ 111, "getpgrp", NO, NO, 0 },
	{ 115, "getgroups", RSI, RDI, 4 },
	{ 118, "getresuid", SOMEWHERE, NO, 0 },
	{ 120, "getresgid", SOMEWHERE, NO, 0 },
	{ 127, "rt_sigpending", RDI, NO, 8 },
	{ 128, "rt_sigtimedwait", RSI, NO, 128 },
	{ 130, "rt_sigsuspend", NO, NO, 0 },
	{ 131, "sigaltstack", RSI, NO, 24 },
	{ 137, "statfs", RSI, NO, 120 },
	{ 138, "fstatfs", RSI, NO, 120 },
	{ 157, "prctl", SOMEWHERE, NO, 0 },
	{ 158, "arch_prctl", RSI, NO, 8 },
	{ 159, "adjtimex", RDI, NO, 208 },
	{ 186, "gettid", NO, NO, 0 },
	{ 191, "getxattr", RDX, R10, 1 },
	{ 192, "lgetxattr", RDX, R10, 1 },
	{ 193, "fgetxattr", RDX, R10, 1 },
	{ 194, "listxattr", RSI, RDX, 1 },
	{ 201, "time", RDI, NO, 8 },
	{ 202, "futex", NO, NO, 0 },
	{ 203, "sched_setaffinity", NO, NO, 0 },
	{ 204, "sched_getaffinity", RDX, RSI, 1 },
	{ 217, "getdents64", RSI, RDX, 1 },
	{ 218, "set_tid_address", NO, NO, 0 },
	{ 224, "timer_gettime", RSI, NO, 32 },
	{ 228, "clock_gettime", RSI, NO, 16 },
	{ 229, "clock_getres", RSI, NO, 16 },
	{ 230, "clock_nanosleep", R10, NO, 16 },
	{ 231, "exit_group", NO, NO, 0 },
	{ 232, "epoll_wait", RSI, RDX, 12 },
	{ 233, "epoll_ctl", NO, NO, 0 },
	{ 234, "tgkill", NO, NO, 0 },
	{ 247, "waitid", RDX, NO, 128 },
	{ 257, "openat", NO, NO, 0 },
	{ 262, "newfstatat", RDX, NO, 144 },
	{ 263, "unlinkat", NO, NO, 0 },
	{ 267, "readlinkat", RDX, R10, 1 },
	{ 270, "pselect6", RSI, NO, 128 },
	{ 271, "ppoll", RDI, RSI, 8 },
	{ 273, "set_robust_list", NO, NO, 0 },
	{ 281, "epoll_pwait", RSI, RDX, 12 },
	{ 287, "timerfd_gettime", RSI, NO, 32 },
	{ 288, "accept4", NO, NO, 0 },
	{ 290, "eventfd2", NO, NO, 0 },
	{ 291, "epoll_create1", NO, NO, 0 },
	{ 293, "pipe2", RDI, NO, 8 },
	{ 295, "preadv", SOMEWHERE, NO, 0 },
	{ 299, "recvmmsg", SOMEWHERE, NO, 0 },
	{ 302, "prlimit64", R10, NO, 16 },
	{ 309, "getcpu", RDI, NO, 4 },
	{ 310, "process_vm_readv", SOMEWHERE, NO, 0 },
	{ 318, "getrandom", RDI, RSI, 1 },
	{ 319, "memfd_create", NO, NO, 0 },
	{ 327, "preadv2", SOMEWHERE, NO, 0 },
	{ 332, "statx", R8, NO, 256 },
	{ 334, "rseq", NO, NO, 0 },
	{ 435, "clone3", NO, NO, 0 },
	{ 439, "faccessat2", NO, NO, 0 },
	{ 449, "futex_waitv", NO, NO, 0 },
};

static const struct call_row *row_of(uint64_t nr)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if ((uint64_t)rows[i].nr == nr)
			return &rows[i];
	return NULL;
}

bool call_writes(const uint64_t regs[EXACT_REGISTERS], uint64_t address)
{
	const struct call_row *r = row_of(regs[RAX]);
	uint64_t length;

	if (!r || r->to == NO || r->to == SOMEWHERE)
		return false;
	length = r->length == NO ? r->size : regs[r->length] * r->size;
	return address >= regs[r->to] && address - regs[r->to] < length;
}

bool call_may_write(int nr)
{
	const struct call_row *r = row_of((uint64_t)nr);

	return !r || r->to == SOMEWHERE;
}

bool call_has_row(int nr)
{
	return row_of((uint64_t)nr) != NULL;
}

void call_name(char out[32], int nr)
{
	const struct call_row *r = row_of((uint64_t)nr);

	if (r)
		snprintf(out, 32, "%s", r->name);
	else
		snprintf(out, 32, "system call %d", nr);
}

/* SPDX-License-Identifier: MIT */
/*
 * Where nothing is mapped, every call says so; the engine's memory is such a place. Each probe is
 * of addresses that no mapping of the program's own holds.
 * exact: build=static
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include "say.h"

static char room[4096], places_read[16];

static long outcome(long ret)
{
	return ret < 0 ? -errno : ret;
}

#define TRY(what, call) SAY_LINE(what, outcome(call))

static void probe(char *at)
{
	struct iovec here[2] = { { room, 16 }, { room + 16, 16 } };
	struct iovec there[2] = { { places_read, 16 }, { at, 16 } };
	struct iovec ends[2] = { { room, 16 }, { at, 16 } };
	int pipes[2], zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	struct stat st;

	if (pipe(pipes) < 0)
		_exit(98);
	TRY("mincore", mincore(at, 4096, (unsigned char *)room));
	TRY("mincore, not a page", mincore(at + 1, 4096, (unsigned char *)room));
	TRY("msync", msync(at, 4096, MS_ASYNC));
	TRY("msync, synchronous", msync(at, 4096, MS_SYNC));
	TRY("msync, both", msync(at, 4096, MS_SYNC | MS_ASYNC));
	TRY("mlock", mlock(at + 5, 100));
	TRY("mlock2", mlock2(at, 4096, MLOCK_ONFAULT));
	TRY("munlock", munlock(at, 4096));
	TRY("madvise", madvise(at, 4096, MADV_DONTNEED));
	TRY("mprotect", mprotect(at, 4096, PROT_READ));
	TRY("munmap", munmap(at, 4096));
	TRY("mremap", (long)mremap(at, 4096, 8192, MREMAP_MAYMOVE));
	TRY("write", write(pipes[1], at, 16));
	TRY("write to null", write(null, at, 16));
	TRY("write to none", write(99, at, 16));
	TRY("read", read(zero, at, 16));
	TRY("writev", writev(pipes[1], ends, 2));
	TRY("readv", readv(zero, ends, 2));
	TRY("process_vm_readv", process_vm_readv(getpid(), here, 2, there, 2, 0));
	TRY("process_vm_readv, only it", process_vm_readv(getpid(), here, 2, there + 1, 1, 0));
	TRY("process_vm_writev", process_vm_writev(getpid(), here, 1, there + 1, 1, 0));
	TRY("access", access(at, R_OK));
	TRY("open", open(at, O_RDONLY));
	TRY("stat", stat(at, &st));
	TRY("rt_sigprocmask", syscall(SYS_rt_sigprocmask, SIG_BLOCK, at, NULL, 8));
	close(pipes[0]);
	close(pipes[1]);
	close(zero);
	close(null);
}

int main(void)
{
	static const unsigned long places[] = { 0x7ff00000, 0x7ff7f000, 0x557ff0000000,
						0x600000000000 };
	long mapped = 0;

	for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
		probe((char *)places[i]);
	for (unsigned long at = 0x555000000000; at < 0x610000000000; at += 0x1000000000)
		mapped += outcome(mincore((void *)at, 4096, (unsigned char *)room)) != -ENOMEM;
	for (unsigned long at = 0x40000000; at < 0x80000000; at += 0x400000)
		mapped += outcome(mincore((void *)at, 4096, (unsigned char *)room)) != -ENOMEM;
	SAY_LINE("mapped", mapped);
	return 0;
}

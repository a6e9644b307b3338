/* SPDX-License-Identifier: MIT */
/*
 * A program with a known number of instructions, to test the engine with. It has no loader, no
 * library and no stack, so that its counts depend neither on address space layout randomisation nor
 * on the environment.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/file.h"
#include "exact/exact.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010u /* Linux 6.3; needed where vm.memfd_noexec is 1 */
#endif

enum { TURNS = 100000, PATIENCE_MS = 30000, BASE = 0x400000 };

struct known {
	Elf64_Ehdr head;
	Elf64_Phdr load;
	uint8_t code[18];
};

static const struct known program = {
	.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			       EV_CURRENT },
		  .e_type = ET_EXEC,
		  .e_machine = EM_X86_64,
		  .e_version = EV_CURRENT,
		  .e_entry = BASE + offsetof(struct known, code),
		  .e_phoff = offsetof(struct known, load),
		  .e_ehsize = sizeof(Elf64_Ehdr),
		  .e_phentsize = sizeof(Elf64_Phdr),
		  .e_phnum = 1 },
	.load = { .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_vaddr = BASE,
		  .p_filesz = sizeof(struct known),
		  .p_memsz = sizeof(struct known),
		  .p_align = 4096 },
	.code = { 0xb9, TURNS & 0xff, TURNS >> 8 & 0xff, TURNS >> 16, 0, /* mov ecx, TURNS */
		  0xff, 0xc9, 0x75, 0xfc,                                /* 1: dec ecx; jnz 1b */
		  0x31, 0xff, 0xb8, SYS_exit, 0, 0, 0, 0x0f,
		  0x05 }, /* xor edi, edi; mov eax, SYS_exit; syscall */
};

/*
 * In a memory file, so no executable directory is needed. Returns a descriptor or negative errno.
 */
static int make(void)
{
	int fd = memfd_create("tare-known", MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("tare-known", 0);
	if (fd < 0)
		return -errno;
	if (file_write_all(fd, (const char *)&program, sizeof(program)) < 0) {
		close(fd);
		return -ENOSPC;
	}
	return fd;
}

static int judge(struct exact *x, struct tare_error *err)
{
	int64_t counts[EXACT_CLASSES] = { 0 };
	struct exact_end end = { 0 };
	int ret = exact_wait(x, PATIENCE_MS, &end, err);

	if (ret == 0) {
		kill(exact_pid(x), SIGKILL);
		return tare_fail(err, ETIMEDOUT, "a short program did not end within %d s under it",
				 PATIENCE_MS / 1000);
	}
	if (ret > 0)
		ret = exact_counts(x, counts, err);
	if (ret < 0)
		return ret;
	if (end.status)
		return tare_fail(err, EIO,
				 "a program that exits with 0 ended with wait status %#x under it",
				 end.status);
	if (counts[EXACT_INSTRUCTIONS] != 2 * TURNS + 4 || counts[EXACT_BRANCHES] != TURNS)
		return tare_fail(
			err, EIO,
			"it counted %lld instructions and %lld branches of a program that has %d and %d",
			(long long)counts[EXACT_INSTRUCTIONS], (long long)counts[EXACT_BRANCHES],
			2 * TURNS + 4, TURNS);
	return 0;
}

int exact_check(struct tare_error *err)
{
	struct tare_error unsaid = TARE_ERROR_INIT;
	struct exact_options options = { .aslr = true };
	struct exact *x = NULL;
	char path[64];
	char *argv[] = { path, NULL }, *envp[] = { NULL };
	int fd = make(), ret = 1;

	if (fd < 0)
		return 1;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	if (exact_launch(&x, argv, envp, &options, &unsaid) == 0)
		ret = judge(x, err);
	exact_close(x);
	close(fd);
	return ret;
}

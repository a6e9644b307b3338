/* SPDX-License-Identifier: MIT */
/*
 * Lets the guest communicate with the emulator, without a disk or a network, by Arm semihosting
 * calls. `semihost put FILE HOSTFILE` copies a file to the host, `semihost exit N` ends the
 * emulator with that status. Source: Arm, "Semihosting for AArch32 and AArch64", 2.0, "Semihosting
 * operations".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYS_OPEN = 0x01, SYS_CLOSE = 0x02, SYS_WRITE = 0x05, SYS_EXIT = 0x18 };
enum { OPEN_WRITE_BINARY = 5 };
#define STOPPED_APPLICATION_EXIT 0x20026

/* The emulator reads the block and its buffers by address: pages must be present. */
static long call(long op, const void *block)
{
	register long x0 __asm__("x0") = op;
	register const void *x1 __asm__("x1") = block;

	__asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
	return x0;
}

static int put(const char *from, const char *to)
{
	static char bytes[65536];
	uint64_t name[3] = { (uintptr_t)to, OPEN_WRITE_BINARY, strlen(to) };
	FILE *in = fopen(from, "rb");
	long file = call(SYS_OPEN, name);
	size_t n;

	if (!in || file < 0) {
		fprintf(stderr, "semihost: cannot open %s\n", in ? to : from);
		return 1;
	}
	while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0) {
		uint64_t block[3] = { file, (uintptr_t)bytes, n };

		if (call(SYS_WRITE, block) != 0) {
			fprintf(stderr, "semihost: the host did not take all of %s\n", from);
			return 1;
		}
	}
	call(SYS_CLOSE, (uint64_t[1]){ file });
	return ferror(in) ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "put"))
		return put(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "exit"))
		call(SYS_EXIT,
		     (uint64_t[2]){ STOPPED_APPLICATION_EXIT, strtoul(argv[2], NULL, 0) });
	fprintf(stderr, "usage: semihost put FILE HOSTFILE | semihost exit STATUS\n");
	return 2;
}

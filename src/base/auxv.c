/* SPDX-License-Identifier: MIT */
/*
 * The stack of a new program, from its pointer upwards: argc, argv, NULL, environment, NULL, then
 * pairs of a type and a value. Source: Linux, fs/binfmt_elf.c, create_elf_tables; proc(5),
 * /proc/PID/stat, "startstack"; getauxval(3).
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/auxv.h"

enum { STARTSTACK = 28, WORDS_MAX = 1 << 20, RANDOM_BYTES = 16 };

/* Any constant; programs may take zeros for a failure. */
static const uint8_t constant[RANDOM_BYTES] = { 0x74, 0x61, 0x72, 0x65, 0x9e, 0x37, 0x79, 0xb9,
						0x7f, 0x4a, 0x7c, 0x15, 0xf3, 0x9c, 0xc0, 0x60 };

static uint64_t start_of_stack(pid_t pid)
{
	char path[64], text[1024], *p;
	unsigned long long at = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strrchr(text, ')'); /* field 2; the name may contain any character */
	for (int field = 2; p && field < STARTSTACK; field++)
		p = strchr(p + 1, ' ');
	return p && sscanf(p, "%llu", &at) == 1 ? at : 0;
}

/* Words of the program's size: 32-bit programs are not supported. */
static bool is_64_bit(int mem, uint64_t sp)
{
	uint64_t argc, argv0;

	return pread(mem, &argc, 8, (off_t)sp) == 8 && pread(mem, &argv0, 8, (off_t)sp + 8) == 8 &&
		argc < WORDS_MAX && (argc == 0 || argv0 > sp);
}

/* The address after the `n`-th NULL word from `at`; 0 if there is none. */
static uint64_t behind_nulls(int mem, uint64_t at, int n)
{
	uint64_t word;

	for (int i = 0; i < WORDS_MAX && n; i++, at += 8) {
		if (pread(mem, &word, 8, (off_t)at) != 8)
			return 0;
		n -= !word;
	}
	return n ? 0 : at;
}

static bool make_constant(int mem, uint64_t at)
{
	return pwrite(mem, constant, RANDOM_BYTES, (off_t)at) == RANDOM_BYTES;
}

int auxv_fix(pid_t pid, const struct auxv_change *to)
{
	uint64_t sp = start_of_stack(pid), at, put, pair[2];
	char path[64];
	int mem, ret = -EIO;

	if (!sp)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0)
		return -errno;
	at = is_64_bit(mem, sp) ? behind_nulls(mem, sp + 8, 2) : 0;
	for (put = at; at && pread(mem, pair, 16, (off_t)at) == 16; at += 16) {
		if (!auxv_pair(pair, &to->values))
			continue;
		if (pwrite(mem, pair, 16, (off_t)put) != 16)
			break;
		if (pair[0] == AT_NULL) {
			ret = 0;
			break;
		}
		if (to->random && pair[0] == AT_RANDOM && !make_constant(mem, pair[1]))
			break;
		put += 16;
	}
	close(mem);
	return ret;
}

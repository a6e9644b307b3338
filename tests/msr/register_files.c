/* SPDX-License-Identifier: MIT */
/*
 * Registers as files: register_files DIR serves DIR/cpu/N/msr as the kernel's msr driver would,
 * from a model, until DIR is unmounted. Eight bytes at the offset of the register's number. A
 * register that is not in the model faults (EIO), as does a reserved bit; counters that are on go
 * up by 1000 whenever a register of their CPU is read. CPU 1000 is off, those above are not there.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 1000, OFF = 1000, STEP = 1000 };
#define COUNTER_BITS ((UINT64_C(1) << 48) - 1)

/*
 * Runs of registers, and the bits of each that may be written. Four of Intel's counters, six of
 * AMD's.
 */
static const struct run {
	uint32_t first, count;
	uint64_t bits;
} runs[] = {
	{ 0x10, 1, 0 },
	{ 0xc1, 4, UINT64_MAX },
	{ 0xe7, 2, 0 },
	{ 0x186, 4, 0x3ffffffff },
	{ 0x309, 3, 0xffffffffffff },
	{ 0x345, 1, 0 },
	{ 0x38d, 1, 0xbbb },
	{ 0x38e, 1, 0 },
	{ 0x38f, 1, 0x70000000f },
	{ 0x390, 1, 0x70000000f },
	{ 0xc0000300, 1, 0 },
	{ 0xc0000301, 2, 0x3f },
	{ 0xc0010200, 12, UINT64_MAX },
};
enum { RUNS = sizeof(runs) / sizeof(runs[0]), SLOTS = 40 };

static uint64_t *value[CPUS]; /* of each CPU, by slot; NULL: all 0 */

/* IA32_A_PMCx are IA32_PMCx by another name, by which all bits are written. */
static bool is_whole(uint32_t msr)
{
	return msr - 0x4c1 < 4;
}

/* Its slot, or -1. */
static int slot_of(uint32_t msr, uint64_t *bits)
{
	int slot = 0;

	if (is_whole(msr))
		msr -= 0x400;

	for (int i = 0; i < RUNS; slot += (int)runs[i++].count)
		if (msr - runs[i].first < runs[i].count) {
			*bits = runs[i].bits;
			return slot + (int)(msr - runs[i].first);
		}
	return -1;
}

static uint64_t *at(int cpu, uint32_t msr)
{
	uint64_t bits;

	return &value[cpu][slot_of(msr, &bits)];
}

/* A counter of 48 bits; when it goes round, its bit of the status register is set. */
static void count(int cpu, uint32_t counter, uint32_t status, unsigned bit)
{
	uint64_t *v = at(cpu, counter);

	*v += STEP;
	if (*v >> 48)
		*at(cpu, status) |= UINT64_C(1) << bit;
	*v &= COUNTER_BITS;
}

static void tick(int cpu)
{
	uint64_t global = *at(cpu, 0x38f), fixed = *at(cpu, 0x38d), amd = *at(cpu, 0xc0000301);

	*at(cpu, 0x10) += STEP;
	*at(cpu, 0xe8) += STEP;
	*at(cpu, 0xe7) += 2 * STEP;
	for (uint32_t i = 0; i < 6; i++) {
		if (i < 4 && global >> i & 1 && *at(cpu, 0x186 + i) & 1 << 22)
			count(cpu, 0xc1 + i, 0x38e, i);
		if (amd >> i & 1 && *at(cpu, 0xc0010200 + 2 * i) & 1 << 22)
			count(cpu, 0xc0010201 + 2 * i, 0xc0000300, i);
		if (i < 3 && global >> (32 + i) & 1 && fixed >> 4 * i & 3)
			count(cpu, 0x309 + i, 0x38e, 32 + i);
	}
}

/* "/cpu/3/msr": 3. *folder: "/cpu/3". -1: no such path. */
static int cpu_of(const char *path, int *folder)
{
	char *end;
	long cpu;

	if (strncmp(path, "/cpu/", 5) || path[5] < '0' || path[5] > '9')
		return -1;
	cpu = strtol(path + 5, &end, 10);
	*folder = !*end;
	return cpu > OFF || (*end && strcmp(end, "/msr")) ? -1 : (int)cpu;
}

static int get_attr(const char *path, struct stat *st, struct fuse_file_info *file)
{
	int folder, cpu = cpu_of(path, &folder);

	(void)file;
	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	if (!strcmp(path, "/") || !strcmp(path, "/cpu") || (cpu >= 0 && folder))
		st->st_mode = S_IFDIR | 0755;
	else if (cpu >= 0)
		st->st_mode = S_IFREG | 0600;
	else
		return -ENOENT;
	return 0;
}

static int open_file(const char *path, struct fuse_file_info *file)
{
	int folder, cpu = cpu_of(path, &folder);

	if (cpu == OFF)
		return -ENXIO;
	file->direct_io = 1;
	if (value[cpu])
		return 0;
	value[cpu] = calloc(SLOTS, sizeof(*value[cpu]));
	if (!value[cpu])
		return -ENOMEM;
	*at(cpu, 0x345) = 1 << 13; /* counters can be written whole */
	return 0;
}

static int read_file(const char *path, char *to, size_t n, off_t offset,
		     struct fuse_file_info *file)
{
	int folder, cpu = cpu_of(path, &folder), slot;
	uint64_t bits;

	(void)file;
	if (n != 8 || offset < 0 || offset > UINT32_MAX)
		return -EINVAL;
	slot = slot_of((uint32_t)offset, &bits);
	if (slot < 0)
		return -EIO;
	tick(cpu);
	memcpy(to, &value[cpu][slot], 8);
	return 8;
}

static int write_file(const char *path, const char *from, size_t n, off_t offset,
		      struct fuse_file_info *file)
{
	int folder, cpu = cpu_of(path, &folder), slot;
	uint64_t bits, v;

	(void)file;
	if (n != 8 || offset < 0 || offset > UINT32_MAX)
		return -EINVAL;
	slot = slot_of((uint32_t)offset, &bits);
	memcpy(&v, from, 8);
	if (slot < 0 || v & ~bits || !bits)
		return -EIO;
	if (offset == 0x390 || offset == 0xc0000302)
		*at(cpu, offset == 0x390 ? 0x38e : 0xc0000300) &= ~v;
	else
		value[cpu][slot] = offset >= 0xc1 && offset < 0xc5
			? (uint64_t)(int32_t)v & COUNTER_BITS
			: v;
	return 8;
}

static int cut_file(const char *path, off_t size, struct fuse_file_info *file)
{
	(void)path, (void)size, (void)file;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations calls = { .getattr = get_attr,
						      .open = open_file,
						      .read = read_file,
						      .write = write_file,
						      .truncate = cut_file };
	char *words[] = { argv[0], (char *)"-f", (char *)"-s", argc > 1 ? argv[1] : NULL, NULL };

	if (argc != 2) {
		fprintf(stderr, "usage: register_files DIR\n");
		return 2;
	}
	return fuse_main(4, words, &calls, NULL);
}

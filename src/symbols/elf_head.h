/* SPDX-License-Identifier: MIT */
/*
 * The head of an ELF file: its build id, which tells one build of a program from the next, and where
 * its segments are loaded. Read with bounds from a descriptor; the file may be anything.
 */
#ifndef SYMBOLS_ELF_HEAD_H
#define SYMBOLS_ELF_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/build_id.h"
#include "base/error.h"

enum { ELF_SEGMENTS_MAX = 64 };

struct elf_segment {
	uint64_t address, offset, size, memory_size;
	bool executable;
};

struct elf_head {
	struct build_id build_id; /* size 0: it has none */
	bool is64, is_executable;	/* ET_EXEC */
	uint16_t machine;		/* EM_ */
	uint64_t entry;			/* where the kernel enters it; 0: nowhere */
	struct elf_segment segment[ELF_SEGMENTS_MAX];
	size_t segments;
};

/* -ENOEXEC when it is no ELF file of this machine's byte order. */
int elf_head_read(struct elf_head *out, int fd, struct tare_error *err);
bool elf_offset_to_address(const struct elf_head *h, uint64_t offset, uint64_t *address);
bool elf_address_to_offset(const struct elf_head *h, uint64_t address, uint64_t *offset);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The head of an ELF file: its build id, which identifies a build of a program, and the load
 * addresses of its segments. Read with bounds checks from a descriptor; the file is untrusted.
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
	bool is64, is_executable; /* ET_EXEC */
	uint16_t machine;         /* EM_ */
	uint64_t entry;           /* entry point; 0: none */
	struct elf_segment segment[ELF_SEGMENTS_MAX];
	size_t segments;
};

/* -ENOEXEC if it is not an ELF file of this machine's byte order. */
int elf_head_read(struct elf_head *out, int fd, struct tare_error *err);
bool elf_offset_to_address(const struct elf_head *h, uint64_t offset, uint64_t *address);
bool elf_address_to_offset(const struct elf_head *h, uint64_t address, uint64_t *offset);

#endif

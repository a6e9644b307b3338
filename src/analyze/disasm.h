/* SPDX-License-Identifier: MIT */
/* Instructions as text, by Capstone, which is opened when first needed. */
#ifndef ANALYZE_DISASM_H
#define ANALYZE_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct disasm;

enum { DISASM_TEXT = 200, DISASM_BYTES = 16 };

struct disasm_insn {
	uint8_t size;	   /* in bytes; at least 1 */
	char text[DISASM_TEXT]; /* "" for what is no instruction that it knows */
	uint64_t target;   /* of a direct branch or call; 0: none */
};

/* For ELF machines EM_X86_64, EM_386, EM_AARCH64. -ENOENT when Capstone is not there, -ENOTSUP for
 * other machines. */
int disasm_open(struct disasm **out, uint16_t machine, bool intel_syntax, struct tare_error *err);
/* The instruction in n bytes at `address`. */
void disasm_next(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address,
		 struct disasm_insn *out);
void disasm_close(struct disasm *d);

#endif

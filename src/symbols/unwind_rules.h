/* SPDX-License-Identifier: MIT */
/*
 * How to unwind from a frame to its caller at one instruction of a file, from its call frame
 * information. libdw parses it; here it becomes a rule that can be applied without libdw. Rules are
 * cached, because samples hit the same instructions again and again.
 */
#ifndef SYMBOLS_UNWIND_RULES_H
#define SYMBOLS_UNWIND_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include "symbols/libdw.h"

enum { RULE_REGISTERS = 33 }; /* DWARF numbers; x86-64 has 17, arm64 33 with its pc */

enum rule_kind {
	RULE_NONE,   /* no rule for this instruction */
	RULE_SIMPLE, /* CFA = register + offset; registers saved at CFA + offset or unchanged */
	RULE_FRAME,  /* anything else: the expressions have to be evaluated */
};

struct rule {
	uint32_t module;
	enum rule_kind kind;
	uint64_t address;
	bool signal;    /* the caller was interrupted (signal frame): its address is exact */
	bool outermost; /* outermost: no caller */
	uint8_t return_register;
	uint8_t cfa_register, saved;
	int64_t cfa_offset;
	uint8_t saved_register[RULE_REGISTERS];
	int32_t saved_offset[RULE_REGISTERS];
	Dwarf_Frame *frame; /* of RULE_FRAME */
};

/* Call frame information of one file. Zero-initialise. */
struct rule_file {
	bool opened;
	Dwfl *dwfl;
	Dwarf_CFI *eh, *debug;
};

struct rules {
	struct rule *rule; /* private: by module and address */
};

void rule_file_open(struct rule_file *f, const char *path, int fd);
void rule_file_close(struct rule_file *f);
/*
 * Valid until the next call; NULL when out of memory. `sp` is the DWARF number of the stack
 * pointer.
 */
const struct rule *rules_find(struct rules *r, struct rule_file *f, uint32_t module,
			      uint64_t address, unsigned sp);
void rules_free(struct rules *r);

/* The inputs of an expression. */
struct rule_state {
	const uint64_t *reg;
	uint64_t known; /* one bit per register */
	uint64_t cfa;
	bool (*memory)(void *arg, uint64_t at, uint64_t *out);
	void *arg;
};

/*
 * Evaluates an expression; *is_place if the result is the location of the value and not the value
 * itself. False if it cannot be evaluated. Source: DWARF 5, 2.5.1, "General Operations".
 */
bool rule_evaluate(const Dwarf_Op *op, size_t n, const struct rule_state *s, uint64_t *out,
		   bool *is_place);

#endif

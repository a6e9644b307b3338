/* SPDX-License-Identifier: MIT */
/*
 * Registers by name and by number, and the fields of their bits. The rows are those of the kernel module
 * (kmod/msr_table.h), so that what is said here to be allowed is what it allows.
 */
#ifndef MSR_TABLE_H
#define MSR_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <tare_msr.h>
#include "base/text.h"
#include "base/error.h"

#define MSR_ROW(...)
#include <msr_table.h>

struct msr_row {
	const char *name;
	uint32_t number, count, step;
	unsigned maker, flags; /* enum tare_msr_maker, enum tare_msr_flags */
	uint64_t read, write, zero;
	const char *about;
};

struct msr_field {
	const char *name; /* NAME# stands for NAME0, NAME1 ... */
	unsigned low, bits, count, step;
};

enum { MSR_NAME_ROOM = 48 };

/* Rows in order: 0, 1, ... until NULL. */
const struct msr_row *msr_row_nth(size_t i);
/* The row of a register, of a CPU of that maker; NULL if it is not known. */
const struct msr_row *msr_row_of(uint32_t msr, unsigned maker);
/* "IA32_PMC3"; "0x123" for a register that is not known. */
const char *msr_name(uint32_t msr, unsigned maker, char room[MSR_NAME_ROOM]);
/* Letter case aside, or a number. -ENOENT with the nearest names. */
int msr_by_name(const char *name, unsigned maker, uint32_t *msr, struct tare_error *err);

/* Fields of a register: 0, 1, ... until false. `name` has its digit. */
struct msr_bits {
	char name[MSR_NAME_ROOM];
	unsigned low, bits;
};
bool msr_field_nth(const struct msr_row *row, size_t i, struct msr_bits *out);
int msr_field_by_name(const struct msr_row *row, const char *name, struct msr_bits *out,
		      struct tare_error *err);
/* " EVENT=0xc5 USR EN": fields that are not 0. */
void msr_fields_text(struct text *out, const struct msr_row *row, uint64_t value);

/* How many bits of the register count up; 0: it is no counter. */
unsigned msr_counts_up(const struct msr_row *row);

/*
 * Of a value that stood in a register what can be written there again: bits that are not ours to set are left off, and of a counter
 * that takes 32 bits and their sign the others are lost.
 */
uint64_t msr_value_kept(const struct msr_row *row, uint64_t value);

/* As the module would answer: 0, -EPERM or -EINVAL, in words. */
int msr_op_check(const struct tare_msr_op *op, unsigned maker, struct tare_error *err);

#endif

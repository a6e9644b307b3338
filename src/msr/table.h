/* SPDX-License-Identifier: MIT */
/*
 * Registers by name and by number, and their fields. The rows are those of the kernel module
 * (kmod/msr_table.h), so both allow the same operations.
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
	const char *name; /* NAME# means NAME0, NAME1 ... */
	unsigned low, bits, count, step;
};

enum { MSR_NAME_ROOM = 48 };

/* Rows in order: 0, 1, ... until NULL. */
const struct msr_row *msr_row_nth(size_t i);
/* The row of a register, on a CPU of that maker; NULL if unknown. */
const struct msr_row *msr_row_of(uint32_t msr, unsigned maker);
/* "IA32_PMC3"; "0x123" for an unknown register. */
const char *msr_name(uint32_t msr, unsigned maker, char room[MSR_NAME_ROOM]);
/* By name, ignoring case, or number. -ENOENT with the nearest names. */
int msr_by_name(const char *name, unsigned maker, uint32_t *msr, struct tare_error *err);

/* Fields of a register: 0, 1, ... until false. `name` includes the digit. */
struct msr_bits {
	char name[MSR_NAME_ROOM];
	unsigned low, bits;
};
bool msr_field_nth(const struct msr_row *row, size_t i, struct msr_bits *out);
int msr_field_by_name(const struct msr_row *row, const char *name, struct msr_bits *out,
		      struct tare_error *err);
/* " EVENT=0xc5 USR EN": fields that are not 0. */
void msr_fields_text(struct text *out, const struct msr_row *row, uint64_t value);

/* Number of the register's bits that count up; 0: not a counter. */
unsigned msr_counts_up(const struct msr_row *row);

/*
 * The part of a saved value that can be written back: without bits that we may not set; for a
 * counter that takes 32 bits, sign-extended, the others are lost.
 */
uint64_t msr_value_kept(const struct msr_row *row, uint64_t value);

/* The module's answer: 0, -EPERM or -EINVAL, with a message. */
int msr_op_check(const struct tare_msr_op *op, unsigned maker, struct tare_error *err);

#endif

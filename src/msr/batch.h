/* SPDX-License-Identifier: MIT */
/*
 * Text format of operations, for the command line and for files.
 *
 *	read NAME			NAME: a register by name or number
 *	write NAME VALUE		the whole register
 *	write NAME FIELD=VALUE ...	these fields, all else 0
 *	tsc				the time stamp counter
 *	rdpmc INDEX			a counter, by the index that the instruction rdpmc uses
 *
 * '#' starts a comment. No side effects.
 */
#ifndef MSR_BATCH_H
#define MSR_BATCH_H

#include "msr/table.h"

struct msr_batch {
	struct tare_msr_op op[TARE_MSR_OPS_MAX];
	unsigned line[TARE_MSR_OPS_MAX];
	size_t n;
};

/* Errors name the line. -E2BIG: more than TARE_MSR_OPS_MAX operations. */
int msr_batch_parse(struct msr_batch *out, const char *text, unsigned maker,
		    struct tare_error *err);

/* "NAME" or "NAME.FIELD", and for a write "=VALUE" after it. */
struct msr_word {
	uint32_t msr;
	bool one_field, has_value;
	struct msr_bits field; /* with one_field */
	uint64_t value;
};
int msr_word_parse(struct msr_word *out, const char *word, unsigned maker, struct tare_error *err);

/* The operation as a line of such a file, without a newline. */
void msr_op_text(struct text *out, const struct tare_msr_op *op, unsigned maker);

#endif

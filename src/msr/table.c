/* SPDX-License-Identifier: MIT */
/*
 * Lookup of registers, and checks of operations, with messages that give the rule that forbids
 * them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/num.h"
#include "msr/table.h"

#undef MSR_ROW
#define MSR_ROW(name, number, count, step, maker, read, write, zero, flags, about)                 \
	{ name, number, count, step, maker, flags, read, write, zero, about },

static const struct msr_row rows[] = {
#include <msr_table.h>
};

#define MSR_ROW(...)
#define MSR_RDPMC(maker, index, count, number, step) { maker, index, count },
static const struct {
	unsigned maker;
	uint32_t index, count;
} rdpmc_rows[] = {
#include <msr_table.h>
};

const struct msr_row *msr_row_nth(size_t i)
{
	return i < ARRAY_SIZE(rows) ? &rows[i] : NULL;
}

const struct msr_row *msr_row_of(uint32_t msr, unsigned maker)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t past = msr - rows[i].number;

		if ((rows[i].maker & maker) && past < rows[i].count * rows[i].step &&
		    past % rows[i].step == 0)
			return &rows[i];
	}
	return NULL;
}

static void name_of(const struct msr_row *row, uint32_t k, char room[MSR_NAME_ROOM])
{
	if (row->count > 1)
		snprintf(room, MSR_NAME_ROOM, "%s%u", row->name, k);
	else
		snprintf(room, MSR_NAME_ROOM, "%s", row->name);
}

const char *msr_name(uint32_t msr, unsigned maker, char room[MSR_NAME_ROOM])
{
	const struct msr_row *row = msr_row_of(msr, maker);

	if (row)
		name_of(row, (msr - row->number) / row->step, room);
	else
		snprintf(room, MSR_NAME_ROOM, "0x%x", msr);
	return room;
}

static void no_name(const char *name, unsigned maker, struct tare_error *err)
{
	char names[256][MSR_NAME_ROOM];
	const char *at[256], *other = NULL;
	struct text near = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (uint32_t k = 0; k < rows[i].count && n < ARRAY_SIZE(names); k++) {
			char one[MSR_NAME_ROOM];

			name_of(&rows[i], k, one);
			if (rows[i].maker & maker) {
				memcpy(names[n], one, sizeof(one));
				at[n] = names[n];
				n++;
			} else if (!strcasecmp(one, name)) {
				other = rows[i].maker == TARE_MSR_AMD ? "AMD" : "Intel";
			}
		}
	if (other) {
		tare_fail(err, ENOENT, "%.60s is a register of %s's CPUs, and this is another CPU",
			  name, other);
		return;
	}
	tare_fail(err, ENOENT, "no register '%.60s' is known", name);
	if (strlen(name) < MSR_NAME_ROOM)
		text_nearest(&near, name, at, n, 2);
	if (near.len)
		tare_hint(err, "did you mean %s? Any register can be named by its number", near.s);
	else
		tare_hint(
			err,
			"'tare msr list' shows names; any register can be named by its number: 0x38f");
	text_free(&near);
}

int msr_by_name(const char *name, unsigned maker, uint32_t *msr, struct tare_error *err)
{
	uint64_t number;

	if (name[0] >= '0' && name[0] <= '9') {
		if (num_parse(name, &number, NULL) < 0 || number > UINT32_MAX)
			return tare_fail(err, EINVAL,
					 "'%.40s' is no register: a number below 2^32, or a name",
					 name);
		*msr = (uint32_t)number;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (uint32_t k = 0; k < rows[i].count; k++) {
			char one[MSR_NAME_ROOM];

			name_of(&rows[i], k, one);
			if ((rows[i].maker & maker) && !strcasecmp(one, name)) {
				*msr = rows[i].number + k * rows[i].step;
				return 0;
			}
		}
	no_name(name, maker, err);
	return -ENOENT;
}

uint64_t msr_value_kept(const struct msr_row *row, uint64_t value)
{
	value &= row->write;
	return row->flags & TARE_MSR_SIGNED ? MSR_SIGNED_32(value) : value;
}

static bool is_rdpmc_index(uint32_t index, unsigned maker)
{
	for (size_t i = 0; i < ARRAY_SIZE(rdpmc_rows); i++)
		if (rdpmc_rows[i].maker & maker &&
		    index - rdpmc_rows[i].index < rdpmc_rows[i].count)
			return true;
	return false;
}

int msr_op_check(const struct tare_msr_op *op, unsigned maker, struct tare_error *err)
{
	const struct msr_row *row = msr_row_of(op->msr, maker);
	struct text bits = { 0 };
	char name[MSR_NAME_ROOM];
	uint64_t bad;

	if (op->kind == TARE_MSR_TSC)
		return 0;
	if (op->kind == TARE_MSR_RDPMC)
		return is_rdpmc_index(op->msr, maker)
			? 0
			: tare_fail(err, EPERM, "no counter on the list has index 0x%x of rdpmc",
				    op->msr);
	msr_name(op->msr, maker, name);
	if (!row)
		return tare_fail(err, EPERM, "register 0x%x is not on the list", op->msr);
	if (op->kind == TARE_MSR_READ)
		return 0;
	if (!row->write)
		return tare_fail(err, EPERM, "%s is not to be written", name);
	bad = op->value & ~row->write;
	if (!bad && row->flags & TARE_MSR_SIGNED && op->value != MSR_SIGNED_32(op->value)) {
		tare_fail(
			err, EINVAL,
			"%s takes 32 bits and their sign: 0x%llx would become 0x%llx; IA32_A_PMC%u takes all of it",
			name, (unsigned long long)op->value, MSR_SIGNED_32(op->value),
			op->msr - row->number);
		return -EINVAL;
	}
	if (!bad)
		return 0;
	msr_fields_text(&bits, row, bad);
	tare_fail(err, EINVAL, "%s: bits 0x%llx may not be set, by tare's list of registers%s%s",
		  name, (unsigned long long)bad, bits.len ? ":" : "", bits.len ? bits.s : "");
	text_free(&bits);
	return -EINVAL;
}

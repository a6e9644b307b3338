/* SPDX-License-Identifier: MIT */
/*
 * The number of bytes that an arm64 load or store accesses, from its encoding.
 * Source: Arm ARM (DDI 0487), C4.1.94, "Loads and Stores".
 */
#include "symbols/disasm.h"

static unsigned field(uint32_t insn, unsigned high, unsigned low)
{
	return insn >> low & ((2u << (high - low)) - 1);
}

/* Exclusive, with acquire or release, compare and swap: size, o2, o1. */
static unsigned exclusive(uint32_t insn)
{
	unsigned size = field(insn, 31, 30);
	bool o2 = field(insn, 23, 23), o1 = field(insn, 21, 21);

	if (!o1 || o2)
		return 1u << size;
	return size >= 2 ? 2u << size : 8u << size; /* of a pair; casp */
}

static unsigned pair(uint32_t insn)
{
	unsigned opc = field(insn, 31, 30);
	bool load = field(insn, 22, 22);

	if (opc == 3)
		return 0;
	if (field(insn, 26, 26))
		return 8u << opc;
	if (opc == 1 && !load)
		return 0; /* stgp: the tag is not data */
	return opc == 2 ? 16 : 8;
}

static unsigned literal(uint32_t insn)
{
	unsigned opc = field(insn, 31, 30);

	if (opc == 3)
		return 0;
	if (field(insn, 26, 26))
		return 4u << opc;
	return opc == 1 ? 8 : 4;
}

static unsigned one_register(uint32_t insn)
{
	unsigned size = field(insn, 31, 30), opc = field(insn, 23, 22);
	bool offset = field(insn, 24, 24), more = field(insn, 21, 21);

	if (field(insn, 26, 26)) {
		size |= (opc & 2) << 1;
		return size > 4 ? 0 : 1u << size;
	}
	/* atomic, or with pointer authentication */
	if (!offset && more && field(insn, 11, 10) != 2)
		return 1u << size;
	return size == 3 && opc >= 2 ? 0 /* a prefetch */ : 1u << size;
}

/* With acquire or release, at an offset: ldapur and related; the others here move tags. */
static unsigned at_offset(uint32_t insn)
{
	return field(insn, 26, 26) || field(insn, 21, 21) ? 0 : 1u << field(insn, 31, 30);
}

/* Vector structures: the number of registers. */
static unsigned structures(uint32_t insn)
{
	static const unsigned char registers[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2
	};

	return registers[field(insn, 15, 12)] * (8u << field(insn, 30, 30));
}

unsigned arm64_width(uint32_t insn)
{
	unsigned vector = field(insn, 26, 26), op2 = field(insn, 25, 24);

	switch (field(insn, 29, 27)) {
	case 1:
		if (op2)
			return 0;
		return !vector ? exclusive(insn) : !field(insn, 31, 31) ? structures(insn) : 0;
	case 3:
		return op2 == 0 ? literal(insn) : op2 == 1 ? at_offset(insn) : 0;
	case 5:
		return op2 < 2 ? pair(insn) : 0;
	case 7:
		return op2 < 2 ? one_register(insn) : 0;
	default:
		return 0;
	}
}

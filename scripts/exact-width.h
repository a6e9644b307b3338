/* SPDX-License-Identifier: MIT */
/*
 * How many bytes of memory an instruction accesses, according to Zydis: used to make and to check
 * the engine's table.
 */
#ifndef EXACT_WIDTH_H
#define EXACT_WIDTH_H

#include <Zydis/Zydis.h>

/*
 * The size of all its memory operands, if they are equal; 0 if unknown: processor state, cache
 * lines, hints.
 */
static int exact_width(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	int width = -1;

	switch (z->meta.category) {
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		return 0;
	default:
		break;
	}
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_CLDEMOTE:
	case ZYDIS_MNEMONIC_CLZERO:
	case ZYDIS_MNEMONIC_INVLPG:
		return 0;
	default:
		break;
	}
	if (z->meta.category == ZYDIS_CATEGORY_PREFETCH)
		return 0;
	for (int i = 0; i < z->operand_count; i++)
		if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY && o[i].mem.type == ZYDIS_MEMOP_TYPE_MEM)
			width = width < 0 || width == o[i].size / 8 ? o[i].size / 8 : 0;
	return width < 0 ? 0 : width;
}

#endif

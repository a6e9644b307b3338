/* SPDX-License-Identifier: MIT */
/*
 * See decode.h: the size of a memory operand. Separate from the decoder, as only samples need it.
 */
#include "exact/decode/decode.h"
#include "exact/decode/width_table.h"

enum { FORMS_W = 48, FORMS_66 = 24, FORMS_MANDATORY = 8, BROADCAST = 3 };

/* Row of width_cells; -1: no such map. */
static int cells_of(const struct insn *in)
{
	static const int8_t evex[] = { -1, 7, 8, 9, -1, 10, 11, -1 };

	switch (in->encoding) {
	case E_LEGACY:
		return in->map;
	case E_VEX:
		return 3 + in->map;
	case E_EVEX:
		return evex[in->map & 7];
	default:
		return 4 + in->map;
	}
}

unsigned insn_width(const struct insn *in, const uint8_t *bytes)
{
	unsigned with_66 = !!(in->prefix & P_66),
		 mandatory = in->prefix & P_F2 ? 2
		: in->prefix & P_F3            ? 1
					       : 0,
		 column = 0;
	/* last byte of a vector instruction's prefix */
	const uint8_t *last = bytes + in->opcode_at - 1;
	int row = cells_of(in);
	uint16_t cell;

	if (row < 0)
		return 0;
	if (in->encoding != E_LEGACY) {
		unsigned pp = last[in->encoding == E_EVEX ? -1 : 0] & 3; /* none, 66, F3, F2 */

		with_66 = pp == 1;
		mandatory = pp > 1 ? pp - 1 : 0;
		column = in->encoding == E_EVEX ? *last >> 5 & 3 : *last >> 2 & 1;
		if (in->encoding == E_EVEX && *last & 0x10)
			column = BROADCAST;
		else if (column > 2)
			return 0;
	}
	cell = width_cells[row][in->opcode];
	if (cell & 0x8000)
		cell = width_blocks[cell & 0x7fff]
				   [(in->rex >> 3 & 1) * FORMS_W + with_66 * FORMS_66 +
				    mandatory * FORMS_MANDATORY + (in->modrm >> 3 & 7)];
	return width_rows[cell][column];
}

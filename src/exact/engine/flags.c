/* SPDX-License-Identifier: MIT */
/*
 * Which of the six arithmetic flags are live at an address. Where none is, an `add` can count
 * without saving them. Looks a few instructions and branches ahead, and assumes all flags live
 * beyond that. A path that returns to an address already on the path adds nothing new (least
 * fixpoint).
 */
#include "exact/engine/engine.h"

enum { LOOK_INSTRUCTIONS = 10, LOOK_BRANCHES = 3 };

struct path {
	const struct path *before;
	uint64_t pc;
};

static bool on_path(const struct path *p, uint64_t pc)
{
	for (; p; p = p->before)
		if (p->pc == pc)
			return true;
	return false;
}

static unsigned live(uint64_t pc, int depth, const struct path *before)
{
	struct path here = { before, pc };
	unsigned read = 0, open = F_ALL;

	if (on_path(before, pc))
		return 0;
	for (int n = 0; n < LOOK_INSTRUCTIONS; n++) {
		struct insn in;
		size_t size = code_room(pc);

		note_reach(pc);
		if (!size || !insn_decode(&in, (const uint8_t *)pc, size))
			return read | open;
		read |= in.reads & open;
		open &= ~(unsigned)in.writes;
		if (!open)
			return read;
		pc += in.len;
		switch (in.kind) {
		case K_PLAIN:
			break;
		case K_JCC:
		case K_LOOP:
			if (depth == 0)
				return read | open;
			read |= open & live(pc + (uint64_t)in.imm, depth - 1, &here);
			open &= ~read;
			if (!open)
				return read;
			return read | (open & live(pc, depth - 1, &here));
		case K_JMP:
		case K_CALL:
			if (depth == 0)
				return read | open;
			return read | (open & live(pc + (uint64_t)in.imm, depth - 1, &here));
		default:
			return read | open;
		}
	}
	return read | open;
}

unsigned flags_live_at(uint64_t pc)
{
	return live(pc, LOOK_BRANCHES, NULL);
}

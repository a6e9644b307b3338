/* SPDX-License-Identifier: MIT */
/* Walks a unit's tree of DIEs: the contents of its functions, blocks, namespaces and classes. */
#include "symbols/symbols_private.h"

enum { LEVELS_MAX = 256 };

/* Other DIEs, mostly types, contain neither code nor variables with addresses. */
static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_module:
		return true;
	default:
		return false;
	}
}

static bool walk(Dwarf_Die *parent, die_visit *visit, void *of, unsigned inlined, unsigned level)
{
	Dwarf_Die die;

	if (level == LEVELS_MAX || libdw.dwarf_child(parent, &die))
		return true;
	do {
		int tag = libdw.dwarf_tag(&die);

		if (!visit(of, &die, inlined) ||
		    (is_scope(tag) &&
		     !walk(&die, visit, of, inlined + (tag == DW_TAG_inlined_subroutine),
			   level + 1)))
			return false;
	} while (libdw.dwarf_siblingof(&die, &die) == 0);
	return true;
}

void dwarf_walk(Dwarf_Die *unit, die_visit *visit, void *of)
{
	walk(unit, visit, of, 0, 0);
}

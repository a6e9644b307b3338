/* SPDX-License-Identifier: MIT */
/*
 * Finds inlined functions. libdw's own search walks a unit's tree of DIEs for every address; here
 * each unit is walked once, at its first address, and its ranges are sorted by start. Each range
 * knows its enclosing one, so a lookup is a binary search and a few steps outwards.
 *
 * Source: DWARF 5, 3.3.8, "Inlined Subroutines"; 2.17, "Code Addresses, Ranges, and Base
 * Addresses".
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "symbols/symbols_private.h"

enum { RANGES_MAX = 1 << 24, NONE = -1 };

struct range {
	uint64_t low, high;
	size_t die; /* index in the unit's list */
	uint32_t depth;
	int32_t around; /* the enclosing range, or NONE */
};

/* Of one unit. */
struct inlined_unit {
	Dwarf_Off key; /* of its DIE */
	struct range *range;
	Dwarf_Die *die;
	size_t ranges, dies, range_room, die_room;
};

struct inlines {
	struct inlined_unit **unit; /* sorted by key */
	size_t units;
	size_t ranges; /* of all */
};

void inlines_free(struct inlines *in)
{
	for (size_t i = 0; in && i < in->units; i++) {
		free(in->unit[i]->range);
		free(in->unit[i]->die);
		free(in->unit[i]);
	}
	if (in)
		free(in->unit);
	free(in);
}

static void add_ranges(struct inlines *in, struct inlined_unit *u, Dwarf_Die *die, uint32_t depth)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t next = 0;
	bool any = false;

	if (!array_reserve(&u->die, &u->die_room, u->dies + 1, sizeof(*u->die)))
		return;
	while ((next = libdw.dwarf_ranges(die, next, &base, &low, &high)) > 0) {
		if (low >= high || in->ranges >= RANGES_MAX ||
		    !array_reserve(&u->range, &u->range_room, u->ranges + 1, sizeof(*u->range)))
			continue;
		u->range[u->ranges++] = (struct range){ low, high, u->dies, depth, NONE };
		in->ranges++;
		any = true;
	}
	if (any)
		u->die[u->dies++] = *die;
}

struct inlining {
	struct inlines *in;
	struct inlined_unit *u;
};

static bool add_inlined(void *of, Dwarf_Die *die, unsigned inlined)
{
	struct inlining *i = of;

	if (libdw.dwarf_tag(die) == DW_TAG_inlined_subroutine)
		add_ranges(i->in, i->u, die, inlined);
	return true;
}

static int by_low(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

/* Finds the enclosing range of each: the open ranges, innermost last, are a stack. */
static void nest(struct inlined_unit *u)
{
	int32_t open = NONE;

	if (u->ranges)
		qsort(u->range, u->ranges, sizeof(*u->range), by_low);
	for (size_t i = 0; i < u->ranges; i++) {
		struct range *r = &u->range[i];

		while (open != NONE && u->range[open].high <= r->low)
			open = u->range[open].around;
		r->around = open;
		open = (int32_t)i;
	}
}

static struct inlined_unit *unit_of(struct symbols *s, struct unit *of)
{
	Dwarf_Off key = (Dwarf_Off)(uintptr_t)of->die.addr;
	struct inlines *in = s->inlines;
	struct inlined_unit *u;
	size_t low = 0, high;

	if (!in)
		in = s->inlines = calloc(1, sizeof(*in));
	if (!in)
		return NULL;
	high = in->units;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (in->unit[mid]->key < key)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < in->units && in->unit[low]->key == key)
		return in->unit[low];
	if (!array_one_more(&in->unit, in->units, sizeof(*in->unit)))
		return NULL;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	memmove(in->unit + low + 1, in->unit + low, (in->units - low) * sizeof(*in->unit));
	in->unit[low] = u;
	in->units++;
	u->key = key;
	dwarf_walk(&of->die, add_inlined, &(struct inlining){ in, u });
	nest(u);
	return u;
}

static const char *name_of(struct symbols *s, Dwarf_Die *die)
{
	Dwarf_Attribute at;
	const char *name = NULL;

	if (libdw.dwarf_attr_integrate(die, DW_AT_linkage_name, &at))
		name = libdw.dwarf_formstring(&at);
	if (!name)
		name = libdw.dwarf_diename(die);
	return name ? symbols_demangled(s, name) : "[inlined]";
}

static void call_site(struct unit *in, Dwarf_Die *die, struct symbol_inlined *out)
{
	Dwarf_Attribute at;
	Dwarf_Files *files;
	Dwarf_Word line = 0, file = 0;
	size_t n;

	if (libdw.dwarf_attr(die, DW_AT_call_line, &at) && libdw.dwarf_formudata(&at, &line) == 0)
		out->call_line = (unsigned)line;
	if (libdw.dwarf_attr(die, DW_AT_call_file, &at) && libdw.dwarf_formudata(&at, &file) == 0 &&
	    libdw.dwarf_getsrcfiles(&in->die, &files, &n) == 0 && file < n)
		out->call_file = libdw.dwarf_filesrc(files, file, NULL, NULL);
}

unsigned symbols_inlined(struct symbols *s, uint64_t offset,
			 struct symbol_inlined out[SYMBOL_INLINED_MAX])
{
	struct inlined_unit *u;
	struct unit *in;
	uint64_t address;
	size_t low;
	unsigned n = 0;

	if (!symbols_address(s, offset, &address))
		return 0;
	address += s->bias;
	in = symbols_unit(s, address);
	u = in ? unit_of(s, in) : NULL;
	if (!u)
		return 0;
	address -= in->bias;
	low = ARRAY_UPTO(u->range, u->ranges, low, address);
	for (int32_t i = (int32_t)low - 1; i != NONE && n < SYMBOL_INLINED_MAX;
	     i = u->range[i].around) {
		Dwarf_Die *die = &u->die[u->range[i].die];

		if (address >= u->range[i].high)
			continue;
		out[n] = (struct symbol_inlined){ .name = name_of(s, die) };
		call_site(in, die, &out[n]);
		n++;
	}
	return n;
}

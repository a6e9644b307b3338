/* SPDX-License-Identifier: MIT */
/*
 * What stands at a byte of a variable: "hits", "slot[3].lock", by its type in DWARF. All variables with an address of their own are
 * collected when the first is asked for.
 *
 * Source: DWARF 5, 4.1, "Data Object Entries"; 5.5, "Array Type Entries"; 5.7.6, "Data Member Entries".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/symbols_private.h"

enum { LEVELS_MAX = 64, VISITS_MAX = 1 << 24, VARIABLES_MAX = 1 << 22, MODIFIERS_MAX = 16 };

struct variable {
	uint64_t address; /* as the file counts */
	Dwarf_Die die;
};

struct fields {
	struct variable *variable; /* by address */
	size_t n, room, visits;
};

void fields_free(struct fields *f)
{
	if (f)
		free(f->variable);
	free(f);
}

static bool number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if (!libdw.dwarf_attr_integrate(die, name, &attr) || libdw.dwarf_formudata(&attr, &v))
		return false;
	*out = v;
	return true;
}

/* An address out of the unit's table (clang's), of several variables that were put together with how far behind it this one is. */
static bool indexed_address(Dwarf_Attribute *location, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Addr address;
	Dwarf_Op *op;
	size_t n;

	if (libdw.dwarf_getlocation(location, &op, &n) || !n || n > 2 || (n == 2 && op[1].atom != DW_OP_plus_uconst) ||
	    libdw.dwarf_getlocation_attr(location, op, &attr) || libdw.dwarf_formaddr(&attr, &address))
		return false;
	*out = address + (n == 2 ? op[1].number : 0);
	return true;
}

/* DW_OP_addr and eight bytes, and nothing else; or the like by DW_OP_addrx. */
static bool address_of(Dwarf_Die *die, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Block block;

	if (!libdw.dwarf_attr(die, DW_AT_location, &attr) || libdw.dwarf_formblock(&attr, &block) || !block.length)
		return false;
	if (block.data[0] == DW_OP_addrx || block.data[0] == DW_OP_GNU_addr_index)
		return indexed_address(&attr, out);
	if (block.data[0] != DW_OP_addr || block.length != 1 + sizeof(*out))
		return false;
	memcpy(out, block.data + 1, sizeof(*out));
	return true;
}

static void add(struct fields *f, uint64_t address, const Dwarf_Die *die)
{
	if (f->n == f->room) {
		size_t room = f->room ? 2 * f->room : 256;
		struct variable *more = room <= VARIABLES_MAX ? realloc(f->variable, room * sizeof(*more)) : NULL;

		if (!more)
			return;
		f->variable = more;
		f->room = room;
	}
	f->variable[f->n++] = (struct variable){ address, *die };
}

static void collect(struct fields *f, uint64_t bias, Dwarf_Die *parent, unsigned level)
{
	Dwarf_Die die;
	uint64_t address;

	if (level == LEVELS_MAX || libdw.dwarf_child(parent, &die))
		return;
	do {
		if (++f->visits > VISITS_MAX)
			return;
		switch (libdw.dwarf_tag(&die)) {
		case DW_TAG_variable:
			if (address_of(&die, &address))
				add(f, address + bias, &die);
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_module:
			collect(f, bias, &die, level + 1);
			break;
		default:
			break;
		}
	} while (libdw.dwarf_siblingof(&die, &die) == 0);
}

static int by_address(const void *pa, const void *pb)
{
	const struct variable *a = pa, *b = pb;

	return a->address < b->address ? -1 : a->address > b->address;
}

static struct variable *variable_at(struct symbols *s, uint64_t address)
{
	struct variable key = { .address = address };
	Dwarf_Addr bias;

	if (!s->fields) {
		s->fields = calloc(1, sizeof(*s->fields));
		if (!s->fields)
			return NULL;
		for (Dwarf_Die *die = NULL; (die = libdw.dwfl_module_nextcu(s->module, die, &bias));)
			collect(s->fields, bias - s->bias, die, 0);
		if (s->fields->n)
			qsort(s->fields->variable, s->fields->n, sizeof(key), by_address);
	}
	return s->fields->n ? bsearch(&key, s->fields->variable, s->fields->n, sizeof(key), by_address) : NULL;
}

/* Without names of its own: typedef, const, volatile and their kin. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;
	Dwarf_Die at = *die;

	for (unsigned i = 0; i < MODIFIERS_MAX; i++) {
		if (!libdw.dwarf_attr_integrate(&at, DW_AT_type, &attr) || !libdw.dwarf_formref_die(&attr, out))
			return false;
		switch (libdw.dwarf_tag(out)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			at = *out;
			continue;
		default:
			return true;
		}
	}
	return false;
}

/* The member, or base class, that the byte lies in. A bit field is all bytes that it has a part of. */
static bool member_at(Dwarf_Die *type, uint64_t at, Dwarf_Die *member, uint64_t *begin)
{
	if (libdw.dwarf_child(type, member))
		return false;
	do {
		int tag = libdw.dwarf_tag(member);
		uint64_t bit, bits, size;
		Dwarf_Die of;

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (number(member, DW_AT_data_bit_offset, &bit) && number(member, DW_AT_bit_size, &bits)) {
			*begin = bit / 8;
			size = (bit % 8 + bits + 7) / 8;
		} else if (!number(member, DW_AT_data_member_location, begin) || !type_of(member, &of) || libdw.dwarf_aggregate_size(&of, &size)) {
			continue;
		}
		if (at - *begin < size)
			return true;
	} while (libdw.dwarf_siblingof(member, member) == 0);
	return false;
}

bool symbols_field(struct symbols *s, uint64_t address, uint64_t at, char *out, size_t room)
{
	struct variable *v = variable_at(s, address);
	Dwarf_Die type, inner;
	uint64_t size, begin;
	size_t n = 0;

	*out = 0;
	if (!v || !type_of(&v->die, &type) || libdw.dwarf_aggregate_size(&type, &size) || at >= size)
		return false;
	for (unsigned level = 0; level < LEVELS_MAX && n < room; level++) {
		int tag = libdw.dwarf_tag(&type);
		const char *name;

		if (tag == DW_TAG_array_type) {
			if (!type_of(&type, &inner) || libdw.dwarf_aggregate_size(&inner, &size) || !size)
				break;
			n += (size_t)snprintf(out + n, room - n, "[%llu]", (unsigned long long)(at / size));
			at %= size;
			type = inner;
			continue;
		}
		if ((tag != DW_TAG_structure_type && tag != DW_TAG_class_type) || !member_at(&type, at, &inner, &begin))
			break;
		name = libdw.dwarf_diename(&inner);
		if (libdw.dwarf_tag(&inner) == DW_TAG_member && name)
			n += (size_t)snprintf(out + n, room - n, ".%s", name);
		at -= begin;
		if (!type_of(&inner, &type))
			break;
	}
	return *out != 0 && n < room;
}

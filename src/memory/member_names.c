/* SPDX-License-Identifier: MIT */
/*
 * The member at a byte of a variable, such as "hits" or "slot[3].lock", from its DWARF type. All
 * variables with a fixed address are collected at the first request. Split debug information
 * (-gsplit-dwarf, .dwo files) is read if the files are where they were built.
 *
 * Source: DWARF 5, 3.1.2, "Skeleton Compilation Unit Entries"; 4.1, "Data Object Entries"; 5.5,
 * "Array Type Entries"; 5.7.6, "Data Member Entries"; DWARF 3, 5.6.6, for the older form of bit
 * fields.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "symbols/symbols_private.h"

enum {
	LEVELS_MAX = 64,
	VISITS_MAX = 1 << 24,
	VARIABLES_MAX = 1 << 22,
	MODIFIERS_MAX = 16,
	RANGES_MAX = 16,
	STEPS_MAX = 1 << 16
};

struct variable {
	uint64_t address; /* addresses as in the file */
	Dwarf_Die die;
};

struct member_names {
	struct variable *variable; /* by address */
	size_t n, room, visits;
};

void member_names_free(struct member_names *f)
{
	if (f)
		free(f->variable);
	free(f);
}

static bool attribute_number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if (!libdw.dwarf_attr_integrate(die, name, &attr) || libdw.dwarf_formudata(&attr, &v))
		return false;
	*out = v;
	return true;
}

/*
 * An address from the unit's address table (clang). Merged variables share one entry, and each has
 * its offset from it.
 */
static bool indexed_address(Dwarf_Attribute *location, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Addr address;
	Dwarf_Op *op;
	size_t n;

	if (libdw.dwarf_getlocation(location, &op, &n) || !n || n > 2 ||
	    (n == 2 && op[1].atom != DW_OP_plus_uconst) ||
	    libdw.dwarf_getlocation_attr(location, op, &attr) ||
	    libdw.dwarf_formaddr(&attr, &address))
		return false;
	*out = address + (n == 2 ? op[1].number : 0);
	return true;
}

/* Exactly DW_OP_addr with eight bytes, or DW_OP_addrx. */
static bool address_of(Dwarf_Die *die, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Block block;

	if (!libdw.dwarf_attr(die, DW_AT_location, &attr) || libdw.dwarf_formblock(&attr, &block) ||
	    !block.length)
		return false;
	if (block.data[0] == DW_OP_addrx || block.data[0] == DW_OP_GNU_addr_index)
		return indexed_address(&attr, out);
	if (block.data[0] != DW_OP_addr || block.length != 1 + sizeof(*out))
		return false;
	memcpy(out, block.data + 1, sizeof(*out));
	return true;
}

static void add_variable(struct member_names *f, uint64_t address, const Dwarf_Die *die)
{
	if (f->n < VARIABLES_MAX &&
	    array_reserve(&f->variable, &f->room, f->n + 1, sizeof(*f->variable)))
		f->variable[f->n++] = (struct variable){ address, *die };
}

struct collected {
	struct member_names *f;
	uint64_t bias;
};

static bool collect(void *of, Dwarf_Die *die, unsigned inlined)
{
	struct collected *c = of;
	uint64_t address;

	(void)inlined;
	if (libdw.dwarf_tag(die) == DW_TAG_variable && address_of(die, &address))
		add_variable(c->f, address + c->bias, die);
	return ++c->f->visits <= VISITS_MAX;
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
		for (Dwarf_Die *die = NULL;
		     (die = libdw.dwfl_module_nextcu(s->module, die, &bias));) {
			Dwarf_Die split = { 0 };
			struct collected all = { s->fields, bias - s->bias };
			uint8_t kind = 0;
			bool apart;

			/*
			 * The .dwo unit, if any: the skeleton unit in the program has only its
			 * name.
			 */
			apart = libdw.dwarf_cu_info(die->cu, NULL, &kind, NULL, NULL, NULL, NULL,
						    NULL) == 0 &&
				kind == DW_UT_skeleton && symbols_may_split(s, die) &&
				libdw.dwarf_cu_info(die->cu, NULL, NULL, NULL, &split, NULL, NULL,
						    NULL) == 0 &&
				split.cu;
			dwarf_walk(apart ? &split : die, collect, &all);
		}
		if (s->fields->n)
			qsort(s->fields->variable, s->fields->n, sizeof(key), by_address);
	}
	return s->fields->n
		? bsearch(&key, s->fields->variable, s->fields->n, sizeof(key), by_address)
		: NULL;
}

/* Types without names of their own: typedef, const, volatile and the like. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;
	Dwarf_Die at = *die;

	for (unsigned i = 0; i < MODIFIERS_MAX; i++) {
		if (!libdw.dwarf_attr_integrate(&at, DW_AT_type, &attr) ||
		    !libdw.dwarf_formref_die(&attr, out))
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

/* The path from a variable to one byte. */
struct way {
	struct symbol_field *out;
	size_t n; /* length of its name */
	unsigned parts, steps;
	bool last; /* take the last of several bit fields in the byte, not the first */
};

enum lies { LOST, NOTHING, SOMETHING }; /* at the byte; LOST: unknown */

struct place { /* of a member, in its structure */
	uint64_t begin, size;
	bool bits;
};

static void put_part(struct way *w, bool mine, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->out->name + w->n, sizeof(w->out->name) - w->n, fmt, ap);
	va_end(ap);
	w->n += n > 0 ? (size_t)n : 0;
	if (w->n >= sizeof(w->out->name))
		w->steps = STEPS_MAX; /* out of space for the name */
	else if (w->parts < ARRAY_SIZE(w->out->part))
		w->out->part[w->parts++] = (struct symbol_part){ (uint16_t)w->n, mine };
}

static void back_to(struct way *w, size_t n, unsigned parts)
{
	w->n = n;
	w->parts = parts;
	w->out->name[n] = 0;
}

/*
 * The array's element counts by dimension. The first may be open. Each index starts at 0, and the
 * last dimension varies fastest.
 */
static bool ranges_of(Dwarf_Die *array, uint64_t count[RANGES_MAX], unsigned *n)
{
	Dwarf_Attribute unused;
	Dwarf_Die range, unit;

	*n = 0;
	if (!libdw.dwarf_diecu(array, &unit, NULL, NULL))
		return false;
	switch (libdw.dwarf_srclang(&unit)) {
	case DW_LANG_Fortran77: /* column-major; indices begin at 1, or at any number */
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
	case DW_LANG_Ada83:
	case DW_LANG_Ada95:
	case DW_LANG_Pascal83:
	case DW_LANG_Modula2:
		return false;
	default:
		break;
	}
	if (libdw.dwarf_attr(array, DW_AT_byte_stride, &unused) ||
	    libdw.dwarf_attr(array, DW_AT_bit_stride, &unused) ||
	    libdw.dwarf_attr(array, DW_AT_ordering, &unused) || libdw.dwarf_child(array, &range))
		return false;
	do {
		uint64_t low = 0;

		if (libdw.dwarf_tag(&range) != DW_TAG_subrange_type)
			continue;
		if (*n == RANGES_MAX || (attribute_number(&range, DW_AT_lower_bound, &low) && low))
			return false;
		if (!attribute_number(&range, DW_AT_count, &count[*n])) {
			if (attribute_number(&range, DW_AT_upper_bound, &count[*n]))
				count[*n]++;
			else
				count[*n] = 0;
		}
		if (*n && !count[*n])
			return false;
		++*n;
	} while (libdw.dwarf_siblingof(&range, &range) == 0);
	return *n > 0;
}

/* The alignment of types that user code does not declare cannot be changed by the user. */
static bool is_mine(Dwarf_Die *member)
{
	Dwarf_Files *files;
	Dwarf_Die unit;
	uint64_t number_of;
	const char *file;
	size_t n;

	/* Not dwarf_decl_file(), which aborts the program if a split unit has no file table. */
	if (!attribute_number(member, DW_AT_decl_file, &number_of) ||
	    !libdw.dwarf_diecu(member, &unit, NULL, NULL) ||
	    libdw.dwarf_getsrcfiles(&unit, &files, &n) || number_of >= n)
		return false;
	file = libdw.dwarf_filesrc(files, number_of, NULL, NULL);
	return file && strncmp(file, "/usr/", 5) != 0;
}

/* A bit field covers every byte that it has bits in. */
static bool place_of(Dwarf_Die *member, struct place *out)
{
	uint64_t bit, bits = 0, whole;
	Dwarf_Die of;

	out->bits = attribute_number(member, DW_AT_bit_size, &bits);
	if (out->bits && attribute_number(member, DW_AT_data_bit_offset, &bit)) {
		out->begin = bit / 8;
	} else {
		if (!attribute_number(member, DW_AT_data_member_location, &out->begin) ||
		    !type_of(member, &of) || libdw.dwarf_aggregate_size(&of, &out->size))
			return false;
		if (!out->bits)
			return true;
		/*
		 * Counted from the highest bit of its storage unit; both architectures are
		 * little-endian.
		 */
		if (!attribute_number(member, DW_AT_byte_size, &whole))
			whole = out->size;
		if (!attribute_number(member, DW_AT_bit_offset, &bit) || whole > 16 ||
		    bits > 8 * whole || bit > 8 * whole - bits)
			return false;
		bit = 8 * whole - bits - bit;
		out->begin += bit / 8;
	}
	out->size = (bit % 8 + bits + 7) / 8;
	return bits <= UINT32_MAX;
}

static enum lies follow(struct way *w, Dwarf_Die *type, uint64_t at, unsigned level);

static enum lies follow_member(struct way *w, Dwarf_Die *member, const struct place *place,
			       uint64_t at, unsigned level)
{
	const char *name = libdw.dwarf_diename(member);
	Dwarf_Die type;

	if (libdw.dwarf_tag(member) == DW_TAG_member && name)
		put_part(w, !place->bits && is_mine(member), ".%s", name);
	return place->bits               ? SOMETHING
		: type_of(member, &type) ? follow(w, &type, at - place->begin, level + 1)
					 : LOST;
}

/*
 * Members may be in the padding of a base class or of an earlier member, and an empty base class
 * has one byte. So the members at this byte decide; for padding the enclosing member is named.
 */
static enum lies follow_structure(struct way *w, Dwarf_Die *type, uint64_t at, unsigned level)
{
	size_t n = w->n;
	unsigned parts = w->parts;
	struct place place, around_place = { 0 };
	Dwarf_Die member, around = { 0 };
	bool found = false;

	if (libdw.dwarf_child(type, &member))
		return NOTHING;
	do {
		int tag = libdw.dwarf_tag(&member);
		enum lies is;

		if (++w->steps > STEPS_MAX)
			return LOST;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    !place_of(&member, &place) || at - place.begin >= place.size ||
		    (found && !place.bits))
			continue;
		back_to(w, n, parts);
		is = follow_member(w, &member, &place, at, level);
		if (is == LOST || (is == SOMETHING && !(place.bits && w->last)))
			return is;
		found |= is == SOMETHING;
		if (is == NOTHING)
			back_to(w, n, parts);
		if (is == NOTHING && tag == DW_TAG_member && !around.addr)
			around = member, around_place = place;
	} while (libdw.dwarf_siblingof(&member, &member) == 0);
	if (found)
		return SOMETHING;
	return around.addr ? follow_member(w, &around, &around_place, at, level) : NOTHING;
}

static enum lies follow_array(struct way *w, Dwarf_Die *type, uint64_t at, unsigned level)
{
	uint64_t count[RANGES_MAX], size, place[RANGES_MAX], element;
	unsigned n;
	Dwarf_Die inner;

	if (!type_of(type, &inner) || libdw.dwarf_aggregate_size(&inner, &size) || !size)
		return LOST;
	if (!ranges_of(type, count, &n))
		return SOMETHING; /* the array, without an element */
	element = at / size;
	for (unsigned i = n; i-- > 1; element /= count[i])
		place[i] = element % count[i];
	place[0] = element;
	for (unsigned i = 0; i < n; i++)
		put_part(w, false, "[%llu]", (unsigned long long)place[i]);
	return follow(w, &inner, at % size, level + 1);
}

static enum lies follow(struct way *w, Dwarf_Die *type, uint64_t at, unsigned level)
{
	if (level == LEVELS_MAX || ++w->steps > STEPS_MAX)
		return LOST;
	switch (libdw.dwarf_tag(type)) {
	case DW_TAG_array_type:
		return follow_array(w, type, at, level);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return follow_structure(w, type, at, level);
	default:
		return SOMETHING;
	}
}

bool symbols_field(struct symbols *s, uint64_t address, uint64_t at, bool last,
		   struct symbol_field *out)
{
	struct variable *v = variable_at(s, address);
	struct way w = { .out = out, .last = last };
	Dwarf_Die type;
	uint64_t size;

	*out = (struct symbol_field){ 0 };
	if (!v)
		return false;
	out->variable = libdw.dwarf_diename(&v->die);
	if (type_of(&v->die, &type) && !libdw.dwarf_aggregate_size(&type, &size) && at < size) {
		out->hole = follow(&w, &type, at, 0) != SOMETHING;
		if (w.steps < STEPS_MAX)
			out->parts = w.parts;
	}
	if (!out->parts)
		*out->name = 0;
	return out->parts != 0;
}

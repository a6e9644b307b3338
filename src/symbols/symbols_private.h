/* SPDX-License-Identifier: MIT */
/* What the files that read symbols share. */
#ifndef SYMBOLS_SYMBOLS_PRIVATE_H
#define SYMBOLS_SYMBOLS_PRIVATE_H

#include "symbols/libdw.h"
#include "symbols/symbols.h"

enum { SEGMENTS_MAX = 64 };

struct entry {
	uint64_t start, end; /* offsets in the file; end 0: not said */
	const char *name;
	uint8_t rank;  /* of several at one place the highest is shown */
	bool is_label; /* no function by its type */
};

struct segment {
	uint64_t address, offset, size;
};

/* Code of one compilation unit. */
struct unit {
	uint64_t low, high; /* libdw's addresses */
	uint64_t bias;      /* those minus the ones in its lines */
	Dwarf_Die die;
};

struct inlines;
struct fields;

struct symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t bias;                        /* libdw's addresses minus the file's own */
	struct segment segment[SEGMENTS_MAX]; /* that may be executed */
	size_t segments;
	struct entry *entry; /* by start */
	size_t n;
	struct entry *section; /* other than .text: stubs have no symbols, but a name */
	size_t sections;
	struct entry *nameless; /* by start: what call frame information tells of, read when first asked for */
	size_t n_nameless;
	char *folder;	  /* of the file, by its descriptor; NULL: not known */
	char **demangled; /* owned names */
	size_t n_demangled, demangled_room;
	struct unit *unit; /* by low */
	size_t units;
	bool units_read, nameless_read;
	bool complete;
	struct inlines *inlines; /* read when first asked for */
	struct fields *fields;	 /* likewise */
};

/* The compilation unit of one of libdw's addresses, or NULL. */
struct unit *symbols_unit(struct symbols *s, uint64_t address);
/* The name as people write it; lives as long as the symbols. */
const char *symbols_demangled(struct symbols *s, const char *name);
/* `name` is freed with the symbols; false: no room, it stays the caller's. */
bool symbols_own(struct symbols *s, char *name);
/* May libdw open the file that a skeleton unit names? See debug_file.h. */
bool symbols_may_split(struct symbols *s, Dwarf_Die *die);
/* src/symbols/nameless.c: the function at `offset` as call frame information tells of it. */
bool nameless_find(struct symbols *s, uint64_t offset, struct symbol *out);
/*
 * src/symbols/dies.c: call `visit` of all that stands in a unit's functions, blocks, namespaces and classes, each before what stands in it, until it says
 * false. `inlined`: how many inlined functions are around it. Types and variables are visited, and not entered.
 */
typedef bool die_visit(void *of, Dwarf_Die *die, unsigned inlined);
void dies_walk(Dwarf_Die *unit, die_visit *visit, void *of);
/* src/symbols/inlines.c */
void inlines_free(struct inlines *in);
/* src/memory/fields.c */
void fields_free(struct fields *f);

#endif

/* SPDX-License-Identifier: MIT */
/* Shared by the files that read symbols. */
#ifndef SYMBOLS_SYMBOLS_PRIVATE_H
#define SYMBOLS_SYMBOLS_PRIVATE_H

#include "symbols/libdw.h"
#include "symbols/symbols.h"

enum { SEGMENTS_MAX = 64 };

struct entry {
	uint64_t start, end; /* offsets in the file; end 0: not known */
	const char *name;
	uint8_t rank;  /* of several at one address the highest is shown */
	bool is_label; /* its type is not that of a function */
};

struct segment {
	uint64_t address, offset, size;
};

/* The code of one compilation unit. */
struct unit {
	uint64_t low, high; /* libdw's addresses */
	uint64_t bias;      /* those minus the addresses in its line table */
	Dwarf_Die die;
};

struct inlines;
struct member_names;

struct symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t bias;                        /* libdw's addresses minus the file's own */
	struct segment segment[SEGMENTS_MAX]; /* executable segments */
	size_t segments;
	struct entry *entry; /* by start */
	size_t n;
	/* sections other than .text: stubs have no symbols, so they get the section's name */
	struct entry *section;
	size_t sections;
	/* by start: functions from call frame information, read on first use */
	struct entry *nameless;
	size_t n_nameless;
	char *folder;     /* of the file, by its descriptor; NULL: not known */
	char **demangled; /* owned names */
	size_t n_demangled, demangled_room;
	struct unit *unit; /* by low */
	size_t units;
	bool units_read, nameless_read;
	bool complete;
	struct inlines *inlines;     /* read on first use */
	struct member_names *fields; /* likewise */
};

/* The compilation unit of a libdw address, or NULL. */
struct unit *symbols_unit(struct symbols *s, uint64_t address);
/* The demangled name; lives as long as the symbols. */
const char *symbols_demangled(struct symbols *s, const char *name);
/* Takes ownership of `name`; false: out of memory, the caller keeps it. */
bool symbols_own(struct symbols *s, char *name);
/* May libdw open the file that a skeleton unit names? See debug_file.h. */
bool symbols_may_split(struct symbols *s, Dwarf_Die *die);
/* src/symbols/eh_frame_functions.c: the function at `offset` by call frame information. */
bool eh_frame_find(struct symbols *s, uint64_t offset, struct symbol *out);
/*
 * src/symbols/dwarf_walk.c: calls `visit` for each DIE in a unit's functions, blocks, namespaces
 * and classes, parents first, until it returns false. `inlined`: the number of enclosing inlined
 * functions. Types and variables are visited, but not their children.
 */
typedef bool die_visit(void *of, Dwarf_Die *die, unsigned inlined);
void dwarf_walk(Dwarf_Die *unit, die_visit *visit, void *of);
/* src/symbols/inlines.c */
void inlines_free(struct inlines *in);
/* src/memory/member_names.c */
void member_names_free(struct member_names *f);

#endif

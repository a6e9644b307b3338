/* SPDX-License-Identifier: MIT */
/*
 * Which function and line a byte of a program's file belongs to: its symbols and DWARF lines, from
 * the file itself, its .gnu_debugdata, or its separate debugging file (by build-id or debuglink,
 * under /usr/lib/debug). Places are offsets in the file, so it does not matter where it was mapped.
 *
 * libdw does the reading; it is opened when first needed, so that who wants no symbols pays
 * nothing.
 */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct symbols;

struct symbol {
	const char *name;    /* demangled where it can be; lives as long as the symbols */
	uint64_t start, end; /* offsets in the file; it is known for nothing outside */
	bool nameless;	     /* no symbol is there: by call frame information, the name is its first address, "0x1a2b0" */
};

/* 0 when symbols can be read here, else why not. */
int symbols_probe(struct tare_error *err);

/* Those of the ELF file open as `fd`, which stays the caller's. `path` is for messages. */
int symbols_open(struct symbols **out, const char *path, int fd, struct tare_error *err);
void symbols_close(struct symbols *s);

/* Has it all its functions, not only the ones it exports? */
bool symbols_complete(const struct symbols *s);

/* The function at `offset`; false when none is known to be there, up to out->end. */
bool symbols_find(struct symbols *s, uint64_t offset, struct symbol *out);

/* The source line of the instruction at `offset`; false when there is no such information. */
bool symbols_line(struct symbols *s, uint64_t offset, const char **file, unsigned *line);

/* The address of `offset` as the file itself counts (ELF virtual address). */
bool symbols_address(const struct symbols *s, uint64_t offset, uint64_t *address);

/* A variable of its own in memory. Addresses are the file's own (ELF virtual addresses). */
struct symbol_data {
	const char *name; /* lives as long as the symbols */
	uint64_t start, end;
};

/* All variables of which the size is known, by address, one per address; free() them. Thread-local ones have none. */
int symbols_data(struct symbols *s, struct symbol_data **out, size_t *n, struct tare_error *err);

enum { SYMBOL_PARTS_MAX = 32 };

/* What a byte of a variable belongs to, by the variable's type. */
struct symbol_field {
	const char *variable; /* as the source has it, without where: "hits"; NULL: not told; lives as long as the symbols */
	char name[256];	      /* ".hits", "[3].lock" */
	bool hole;	      /* it is between what the last part holds */
	unsigned parts;
	struct symbol_part {
		uint16_t end; /* in `name` */
		bool mine;    /* a member that the program's own files declare (none below /usr), and that may be aligned there: no bit field */
	} part[SYMBOL_PARTS_MAX]; /* of more the first */
};

/*
 * What stands `at` bytes behind the beginning of the variable at `address` (of the file's own); of several bit fields in the byte the first, or
 * the last. False where types are not known, or the variable has no parts; `variable` is told then, too. Of a union it says no more than its
 * name, nor of a virtual base class: where that lies stands in the object. The first question reads all units.
 */
bool symbols_field(struct symbols *s, uint64_t address, uint64_t at, bool last, struct symbol_field *out);

/* A function that the compiler put into another one, and the line that called it. */
struct symbol_inlined {
	const char *name;
	const char *call_file; /* or NULL */
	unsigned call_line;
};

enum { SYMBOL_INLINED_MAX = 64 };

/*
 * The functions inlined at the instruction at `offset`, innermost first; what symbols_find() gives
 * is around them. Returns how many. The first question about a compilation unit reads it whole.
 */
unsigned symbols_inlined(struct symbols *s, uint64_t offset,
			 struct symbol_inlined out[SYMBOL_INLINED_MAX]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Maps a byte of a program's file to its function and line, by the symbols and DWARF lines in the
 * file itself, its .gnu_debugdata, or its separate debug file (by build-id or debuglink, under
 * /usr/lib/debug). Code is addressed by file offset, so it does not matter where it was mapped.
 *
 * Uses libdw, which is loaded on first use, so that runs without symbols pay nothing.
 */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct symbols;

struct symbol {
	const char *name;    /* demangled if possible; lives as long as the symbols */
	uint64_t start, end; /* offsets in the file; the function is known only between them */
	/*
	 * without a symbol: found by call frame information, named by its first address, "0x1a2b0"
	 */
	bool nameless;
};

/* 0 if symbols can be read here, else an errno. */
int symbols_probe(struct tare_error *err);

/*
 * Opens the symbols of the ELF file open as `fd`, which stays the caller's. `path` is for messages.
 */
int symbols_open(struct symbols **out, const char *path, int fd, struct tare_error *err);
void symbols_close(struct symbols *s);

/* Does it have all functions, not only exported ones? */
bool symbols_complete(const struct symbols *s);

/* The function at `offset`; false if none is known from there up to out->end. */
bool symbols_find(struct symbols *s, uint64_t offset, struct symbol *out);

/* The source line of the instruction at `offset`; false if there is no such information. */
bool symbols_line(struct symbols *s, uint64_t offset, const char **file, unsigned *line);

/* The ELF virtual address of `offset`. */
bool symbols_address(const struct symbols *s, uint64_t offset, uint64_t *address);

/* A variable in static storage. Addresses are the file's own (ELF virtual addresses). */
struct symbol_data {
	const char *name; /* lives as long as the symbols */
	uint64_t start, end;
};

/*
 * All variables with a known size, by address, one per address; the caller frees them. Thread-local
 * ones have no address and are left out.
 */
int symbols_data(struct symbols *s, struct symbol_data **out, size_t *n, struct tare_error *err);

enum { SYMBOL_PARTS_MAX = 32 };

/* The part of a variable that a byte belongs to, by the variable's type. */
struct symbol_field {
	/*
	 * its name in the source, without scope: "hits"; NULL: not known; lives as long as the
	 * symbols
	 */
	const char *variable;
	char name[256]; /* ".hits", "[3].lock" */
	bool hole;      /* padding, within the last part */
	unsigned parts;
	struct symbol_part {
		uint16_t end; /* in `name` */
		/*
		 * a member declared in the program's own files (not below /usr) that can be given
		 * an alignment: not a bit field
		 */
		bool mine;
	} part[SYMBOL_PARTS_MAX]; /* of several, the first */
};

/*
 * The part of the variable at `address` (the file's own) that is `at` bytes from its start; of
 * several bit fields in a byte, the first or the last. False if types are not known, or the
 * variable has no parts; `variable` is set then, too. Within a union only the union's name is
 * given, and nothing within a virtual base class, because its offset is stored in the object. The
 * first call reads all units.
 */
bool symbols_field(struct symbols *s, uint64_t address, uint64_t at, bool last,
		   struct symbol_field *out);

/* A function that the compiler inlined into another one, and the line of the call. */
struct symbol_inlined {
	const char *name;
	const char *call_file; /* or NULL */
	unsigned call_line;
};

enum { SYMBOL_INLINED_MAX = 64 };

/*
 * The functions inlined at the instruction at `offset`, innermost first; the function from
 * symbols_find() encloses them. Returns their number. The first call for a compilation unit reads
 * it whole.
 */
unsigned symbols_inlined(struct symbols *s, uint64_t offset,
			 struct symbol_inlined out[SYMBOL_INLINED_MAX]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Symbols from lines of text: a JIT compiler's /tmp/perf-PID.map, and the kernel's /proc/kallsyms.
 * Addresses are memory addresses.
 */
#ifndef SYMBOLS_TEXT_SYMBOLS_H
#define SYMBOLS_TEXT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct text_symbol {
	uint64_t start, end;
	uint32_t order;     /* line number: of two overlapping ones, the later line is newer */
	const char *name;   /* in the text */
	const char *module; /* kernel module, "" for the core kernel */
};

struct text_symbols {
	struct text_symbol *entry; /* by start */
	size_t n;
	size_t bad;       /* invalid lines */
	uint64_t longest; /* entry */
	char *text;
};

/*
 * Both take ownership of the text (malloc'ed and NUL-terminated) and modify it. -EINVAL if no line
 * is valid.
 *
 * perf map:  START SIZE NAME              hexadecimal, the name to the end of the line
 * kallsyms:  ADDRESS TYPE NAME [MODULE]   functions only; each extends to the next one. -EACCES if
 *            all addresses are 0: the kernel hides them from this user.
 */
int text_symbols_perf_map(struct text_symbols *out, char *text, struct tare_error *err);
int text_symbols_kallsyms(struct text_symbols *out, char *text, struct tare_error *err);
const struct text_symbol *text_symbols_find(const struct text_symbols *l, uint64_t address);
void text_symbols_free(struct text_symbols *l);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Symbols that come as lines of text: what a JIT compiler writes to /tmp/perf-PID.map, and the
 * kernel's /proc/kallsyms. Addresses are those in memory.
 */
#ifndef SYMBOLS_SYMLIST_H
#define SYMBOLS_SYMLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct symlist_entry {
	uint64_t start, end;
	uint32_t order;	    /* of its line: where two overlap, the later one was there last */
	const char *name;   /* in the text */
	const char *module; /* of the kernel, "" for its core */
};

struct symlist {
	struct symlist_entry *entry; /* by start */
	size_t n;
	size_t bad;	    /* lines that are none */
	uint64_t longest;   /* entry */
	char *text;
};

/*
 * Both take the text over (it was malloc'ed and is terminated) and cut it up. -EINVAL when no line
 * is right.
 *
 * perf map:  START SIZE NAME        hexadecimal, the name to the end of the line
 * kallsyms:  ADDRESS TYPE NAME [MODULE]   functions only; sizes reach to the next one. -EACCES when
 *            all addresses are 0: the kernel keeps them from this user.
 */
int symlist_perf_map(struct symlist *out, char *text, struct tare_error *err);
int symlist_kallsyms(struct symlist *out, char *text, struct tare_error *err);
const struct symlist_entry *symlist_find(const struct symlist *l, uint64_t address);
void symlist_free(struct symlist *l);

#endif

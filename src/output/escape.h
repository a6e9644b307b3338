/* SPDX-License-Identifier: MIT */
/* Makes names from files safe for a terminal. */
#ifndef OUTPUT_ESCAPE_H
#define OUTPUT_ESCAPE_H

#include <stddef.h>
#include "base/text.h"

/*
 * Length of the character at s, of n available bytes; 0: not printable: invalid UTF-8, a control
 * character, or a direction mark.
 */
size_t escape_length(const char *s, size_t n);

/*
 * Add n bytes of s. Control characters, invalid UTF-8 and direction marks become \xNN byte by byte;
 * backslash and double quote are escaped by a backslash.
 */
void escape(struct text *out, const char *s, size_t n);
/*
 * The same for a NUL-terminated string in a table cell: only backslashes that look like the start
 * of \xNN are doubled.
 */
void escape_cell(struct text *out, const char *s);
/*
 * Like escape(); if s has more than `most` bytes (at least 3), "..." replaces the middle, between
 * whole characters.
 */
void escape_middle(struct text *out, const char *s, size_t n, size_t most);
/* Like escape(), in double quotes, for a NUL-terminated string. */
void escape_quoted(struct text *out, const char *s);

/*
 * A name in a folded stack. ';' separates frames, so it becomes ':' here; bytes that escape()
 * writes as \\xNN become '?'.
 */
void escape_frame(struct text *out, const char *s);

/*
 * A line of source text: tabs, quotes and backslashes are unchanged; other bytes that escape()
 * writes as \\xNN are escaped here, too.
 */
void escape_source(struct text *out, const char *s);

/* A word in shell syntax, quoted if necessary; bytes that escape() writes as \\xNN become '?'. */
void escape_shell(struct text *out, const char *word);
/* A command, its words separated by blanks. n words, or up to a NULL. */
void escape_command(struct text *out, const char *const *words, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* Names out of files, made safe to show on a terminal. */
#ifndef OUTPUT_ESCAPE_H
#define OUTPUT_ESCAPE_H

#include <stddef.h>
#include "base/text.h"

/* Bytes of the character at s, of n that are there; 0: no UTF-8, a control character, or a mark of direction: not to be shown. */
size_t escape_length(const char *s, size_t n);

/*
 * Adds n bytes of s. Control characters, what is no UTF-8, and the characters that turn the
 * direction of writing become \xNN byte by byte; backslash and double quote get a backslash.
 */
void escape(struct text *out, const char *s, size_t n);
/* The same of a terminated string that stands alone, in a cell of a table: only backslashes are doubled that could be taken for one
 * of \xNN. */
void escape_cell(struct text *out, const char *s);
/* As escape(); of more than `most` bytes of s (3 at least) the middle is left out, "..." in its place, between whole characters. */
void escape_middle(struct text *out, const char *s, size_t n, size_t most);
/* As escape() in double quotes, of a terminated string. */
void escape_quoted(struct text *out, const char *s);

/* A name in a folded stack. ';' separates frames, so it becomes ':' here; bytes that escape() writes as \\xNN become '?'. */
void escape_frame(struct text *out, const char *s);

/* A line of source text as it is: tabs, quotes and backslashes stay; what escape() makes \\xNN of otherwise, becomes that here too. */
void escape_source(struct text *out, const char *s);

/* A word as a shell takes it, quoted where it has to be; what escape() makes \\xNN of is a '?'. */
void escape_shell(struct text *out, const char *word);
/* A command, its words apart by blanks. n words, or up to a NULL. */
void escape_command(struct text *out, const char *const *words, size_t n);

#endif

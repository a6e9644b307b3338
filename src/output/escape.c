/* SPDX-License-Identifier: MIT */
/*
 * Names from files may contain any bytes: they must neither control the terminal nor look like
 * another name.
 */
#include <stdint.h>
#include <string.h>
#include "output/escape.h"

/* The length of the UTF-8 character at s if it is valid and printable, or 0. */
static size_t shown(const unsigned char *s, size_t n)
{
	static const struct {
		unsigned char mask, lead;
		size_t len;
		uint32_t least; /* a shorter encoding exists: invalid */
	} rows[] = { { 0x80, 0x00, 1, 0 },
		     { 0xe0, 0xc0, 2, 0x80 },
		     { 0xf0, 0xe0, 3, 0x800 },
		     { 0xf8, 0xf0, 4, 0x10000 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t c = s[0] & (unsigned char)~rows[i].mask;

		if ((s[0] & rows[i].mask) != rows[i].lead || n < rows[i].len)
			continue;
		for (size_t k = 1; k < rows[i].len; k++) {
			if ((s[k] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (s[k] & 0x3f);
		}
		if (c < rows[i].least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			return 0;
		if (c < 0x20 || (c >= 0x7f && c < 0xa0)) /* C0, DEL, C1 */
			return 0;
		/* Direction marks, line separators, and the byte order mark. */
		if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		    (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || c == 0x61c)
			return 0;
		return rows[i].len;
	}
	return 0;
}

size_t escape_length(const char *s, size_t n)
{
	return shown((const unsigned char *)s, n);
}

/*
 * Add one character of s: printable ones as they are, others as escaped bytes. Returns its length.
 */
static size_t escape_one(struct text *out, const char *s, size_t n)
{
	size_t len = shown((const unsigned char *)s, n);

	if (len)
		text_put(out, s, len);
	else
		text_add(out, "\\x%02x", (unsigned char)*s);
	return len ? len : 1;
}

void escape(struct text *out, const char *s, size_t n)
{
	for (size_t len; n; s += len, n -= len) {
		if (*s == '\\' || *s == '"')
			text_put(out, "\\", 1);
		len = escape_one(out, s, n);
	}
}

void escape_cell(struct text *out, const char *s)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		if (*s == '\\') {
			size_t run = strspn(s, "\\");

			if (s[run] == 'x' ||
			    (s[run] && !shown((const unsigned char *)s + run, n - run)))
				text_put(out, "\\", 1);
		}
		len = escape_one(out, s, n);
	}
}

void escape_middle(struct text *out, const char *s, size_t n, size_t most)
{
	static const char left_out[] = "...";
	size_t keep = most - strlen(left_out), head = keep / 2, tail = n - (keep - keep / 2);

	if (n <= most) {
		escape(out, s, n);
		return;
	}
	while (head && (s[head] & 0xc0) == 0x80)
		head--;
	while (tail < n && (s[tail] & 0xc0) == 0x80)
		tail++;
	escape(out, s, head);
	text_add(out, left_out);
	escape(out, s + tail, n - tail);
}

void escape_quoted(struct text *out, const char *s)
{
	text_put(out, "\"", 1);
	escape(out, s, strlen(s));
	text_put(out, "\"", 1);
}

void escape_frame(struct text *out, const char *s)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		len = shown((const unsigned char *)s, n);
		if (*s == ';')
			text_put(out, ":", 1);
		else
			text_put(out, len ? s : "?", len ? len : 1);
		len = len ? len : 1;
	}
}

void escape_source(struct text *out, const char *s)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		len = 1;
		if (*s == '\t')
			text_put(out, s, 1);
		else
			len = escape_one(out, s, n);
	}
}

void escape_shell(struct text *out, const char *word)
{
	bool plain = *word && !strpbrk(word, " \t\n'\"\\$`;&|<>()*?[]{}#~!");

	text_add(out, "%s", plain ? "" : "'");
	for (size_t n = strlen(word), len; n; word += len, n -= len) {
		len = shown((const unsigned char *)word, n);
		if (*word == '\'')
			text_add(out, "'\\''");
		else if (len)
			text_put(out, word, len);
		else
			text_add(out, "?");
		len = len ? len : 1;
	}
	text_add(out, "%s", plain ? "" : "'");
}

void escape_command(struct text *out, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n && words[i]; i++) {
		text_add(out, "%s", i ? " " : "");
		escape_shell(out, words[i]);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * The description that measureme stores in a recording:
 *
 *	{ "start_time": 1795184245508276447, "process_id": 23261, "cmd": "rustc x.rs ",
 *	  "counter": { "name": "wall-time", "units": [["ns", 1], ["us", 1000], ...] } }
 *
 * start_time is in ns since 1970. The text is not always JSON: "cmd" is escaped like a Rust string,
 * with \' and \u{e9}, and measureme's own tools refuse such files. So this parser accepts members
 * in any order, with strings in both ways of escaping.
 *
 * Source: measureme 12.0.3, profiler.rs and counters.rs.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "regions/timeline/measureme_meta.h"

enum { DEPTH_MAX = 32 };

struct scan {
	const char *at, *end;
};

static void blanks(struct scan *s)
{
	while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
		s->at++;
}

static bool take_character(struct scan *s, char c)
{
	blanks(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static void put_utf8(struct text *out, uint32_t c)
{
	char b[4];
	size_t n;

	if (c < 0x80) {
		b[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		n = 2;
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		n = 3;
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		n = 4;
	}
	for (size_t i = 1; i < n; i++)
		b[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
	if (c)
		text_put(out, b, n);
}

static uint32_t hex(struct scan *s, unsigned most)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < most && s->at < s->end; i++, s->at++) {
		const char *digits = "0123456789abcdef",
			   *d = *s->at ? strchr(digits, *s->at | 0x20) : NULL;

		if (!d)
			break;
		v = v << 4 | (uint32_t)(d - digits);
	}
	return v;
}

/* The character after the backslash: JSON's \u00e9, Rust's \u{e9}, and the common ones. */
static void escaped(struct scan *s, struct text *out)
{
	static const char from[] = "nrt0bf", to[] = "\n\r\t\0\b\f";
	char c;
	const char *known;

	if (s->at == s->end)
		return;
	c = *s->at++;
	known = c ? strchr(from, c) : NULL;
	if (c == 'u') {
		bool braces = s->at < s->end && *s->at == '{';
		uint32_t v;

		s->at += braces;
		v = hex(s, braces ? 6 : 4);
		if (braces && s->at < s->end && *s->at == '}')
			s->at++;
		put_utf8(out, v <= 0x10ffff && !(v >= 0xd800 && v < 0xe000) ? v : 0xfffd);
	} else if (c == 'x') {
		put_utf8(out, hex(s, 2));
	} else if (known) {
		put_utf8(out, (uint32_t)to[known - from]);
	} else {
		text_put(out, &c, 1);
	}
}

static bool string(struct scan *s, struct text *out)
{
	if (!take_character(s, '"'))
		return false;
	while (s->at < s->end && *s->at != '"') {
		if (*s->at == '\\') {
			s->at++;
			escaped(s, out);
		} else {
			text_put(out, s->at++, 1);
		}
	}
	if (s->at < s->end)
		s->at++;
	return true;
}

static uint64_t read_number(struct scan *s)
{
	uint64_t v = 0;

	blanks(s);
	for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
		v = v * 10 + (uint64_t)(*s->at - '0');
	return v;
}

/* Skips any value. */
static void skip(struct scan *s, unsigned depth)
{
	struct text ignored = { 0 };

	blanks(s);
	if (s->at == s->end || depth > DEPTH_MAX) {
		s->at = s->end;
	} else if (*s->at == '"') {
		string(s, &ignored);
		text_free(&ignored);
	} else if (*s->at == '[' || *s->at == '{') {
		s->at++;
		for (blanks(s); s->at < s->end && *s->at != ']' && *s->at != '}'; blanks(s)) {
			if (*s->at == ',' || *s->at == ':')
				s->at++;
			else
				skip(s, depth + 1);
		}
		if (s->at < s->end)
			s->at++;
	} else {
		s->at++;
		while (s->at < s->end && !strchr(",:]}\" \t\r\n", *s->at))
			s->at++;
	}
}

/* The name in [["ns", 1], ["us", 1000]] with factor 1. */
static void first_unit(struct scan *s, struct mm_meta *m)
{
	struct scan inner = *s;

	if (take_character(&inner, '[') && take_character(&inner, '[') && !m->unit.len)
		string(&inner, &m->unit);
	skip(s, 0);
}

static void members(struct scan *s, struct mm_meta *m, unsigned depth)
{
	if (!take_character(s, '{'))
		return;
	while (s->at < s->end && !take_character(s, '}')) {
		struct text key = { 0 };
		const char *k;

		if (!string(s, &key) || !take_character(s, ':')) {
			text_free(&key);
			return;
		}
		k = key.s ? key.s : "";
		if (depth == 0 && !strcmp(k, "start_time"))
			m->start_ns = read_number(s);
		else if (depth == 0 && !strcmp(k, "process_id"))
			m->pid = read_number(s);
		else if (depth == 0 && !strcmp(k, "cmd") && !m->command.len)
			string(s, &m->command);
		else if (depth == 0 && !strcmp(k, "counter"))
			members(s, m, 1);
		else if (depth == 1 && !strcmp(k, "name") && !m->counter.len)
			string(s, &m->counter);
		else if (depth == 1 && !strcmp(k, "units"))
			first_unit(s, m);
		else
			skip(s, 0);
		text_free(&key);
		take_character(s, ',');
	}
}

void mm_meta_read(struct mm_meta *m, const char *json, size_t n)
{
	struct scan s = { json, json + n };

	*m = (struct mm_meta){ 0 };
	members(&s, m, 0);
	/* measureme appends one to each word */
	while (m->command.len && m->command.s[m->command.len - 1] == ' ')
		m->command.s[--m->command.len] = '\0';
}

void mm_meta_free(struct mm_meta *m)
{
	text_free(&m->command);
	text_free(&m->counter);
	text_free(&m->unit);
}

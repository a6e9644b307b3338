/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON (RFC 8259) from values; the caller supplies the order, this adds commas and escapes.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "output/escape.h"
#include "output/json.h"
#include "output/out.h"
#include "output/csv.h"

/* Doubles represent every whole number up to here. */
#define WHOLE_MAX (UINT64_C(1) << 53)

enum { PASS_FROM = 1 << 14 };

static void newline(struct json *j)
{
	text_add(&j->out, "\n%*s", (int)(2 * j->depth), "");
}

/* Length of the UTF-8 character at s; 0 if invalid (RFC 3629, section 4). */
static size_t utf8_length(const unsigned char *s)
{
	static const struct {
		unsigned char first, last, second_min, second_max, length;
	} rows[] = {
		{ 0x01, 0x7f, 0x00, 0x00, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (s[0] < rows[i].first || s[0] > rows[i].last)
			continue;
		if (rows[i].length > 1 && (s[1] < rows[i].second_min || s[1] > rows[i].second_max))
			return 0;
		for (size_t b = 2; b < rows[i].length; b++)
			if ((s[b] & 0xc0) != 0x80)
				return 0;
		return rows[i].length;
	}
	return 0;
}

void json_quote(struct text *t, const char *value)
{
	text_put(t, "\"", 1);
	for (const unsigned char *s = (const unsigned char *)value; *s;) {
		size_t n = utf8_length(s);

		if (*s == '"' || *s == '\\')
			text_add(t, "\\%c", *s);
		else if (*s == '\n')
			text_put(t, "\\n", 2);
		else if (*s == '\t')
			text_put(t, "\\t", 2);
		else if (n == 0)
			text_put(t, "\xef\xbf\xbd", 3);
		/* C1, and direction marks: all below 0x10000 */
		else if (n == 2 && !escape_length((const char *)s, n))
			text_add(t, "\\u%04x", (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu));
		else if (n == 3 && !escape_length((const char *)s, n))
			text_add(t, "\\u%04x",
				 (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu));
		else if (*s < 0x20 || *s == 0x7f)
			text_add(t, "\\u%04x", *s);
		else
			text_put(t, (const char *)s, n);
		s += n ? n : 1;
	}
	text_put(t, "\"", 1);
}

void text_utf8(struct text *out, const char *value)
{
	for (const unsigned char *s = (const unsigned char *)value; *s;) {
		size_t n = utf8_length(s);

		text_put(out, n ? (const char *)s : "\xef\xbf\xbd", n ? n : 3);
		s += n ? n : 1;
	}
}

/* Comma, newline and key before a value. */
static void before(struct json *j, const char *key)
{
	json_pass(j);
	assert(j->depth == 0 || (key != NULL) == (j->closing[j->depth - 1] == '}'));
	if (j->started)
		text_put(&j->out, ",", 1);
	if (j->depth)
		newline(j);
	j->started = true;
	if (key) {
		json_quote(&j->out, key);
		text_put(&j->out, ": ", 2);
	}
}

static void open_with(struct json *j, const char *key, char opening, char closing)
{
	assert(j->depth < JSON_DEPTH_MAX);
	if (j->table) {
		j->closing[j->depth] = closing;
		table_open(j, key, closing);
		return;
	}
	before(j, key);
	text_put(&j->out, &opening, 1);
	j->closing[j->depth++] = closing;
	j->started = false;
}

void json_object(struct json *j, const char *key)
{
	open_with(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_with(j, key, '[', ']');
}

void json_end(struct json *j)
{
	assert(j->depth > 0);
	if (j->table) {
		table_end(j);
		json_pass(j);
		return;
	}
	j->depth--;
	if (j->started)
		newline(j);
	text_put(&j->out, &j->closing[j->depth], 1);
	j->started = true;
	if (j->depth == 0)
		text_put(&j->out, "\n", 1);
}

void json_into(struct text *out, struct json *j)
{
	text_put(out, j->out.s ? j->out.s : "", j->out.len);
	out->failed |= j->out.failed;
	text_free(&j->out);
	table_free(j);
}

static void pass_all(struct json *j)
{
	out_put(j->to, j->out.s, j->out.len);
	j->out.len = 0;
	if (j->out.failed && !j->to->error)
		j->to->error = -ENOMEM;
}

void json_pass(struct json *j)
{
	if (j->to && j->out.len >= PASS_FROM)
		pass_all(j);
}

void json_finish(struct json *j)
{
	pass_all(j);
	text_free(&j->out);
	table_free(j);
}

void json_string(struct json *j, const char *key, const char *value)
{
	if (j->table) {
		table_value(j, key, value, false);
		return;
	}
	if (!value) {
		json_null(j, key);
		return;
	}
	before(j, key);
	json_quote(&j->out, value);
}

void json_notes(struct json *j, const char *key, struct text *lines)
{
	struct text note = { 0 };

	json_array(j, key);
	for (char *at = lines->s, *end; at && (end = strchr(at, '\n')); at = end + 1) {
		size_t indent = strspn(at, " ");

		*end = '\0';
		if (note.len && indent < 3) {
			json_string(j, NULL, note.s);
			text_free(&note);
		}
		if (at + indent < end)
			text_add(&note, "%s%s", note.len ? " " : "", at + indent);
	}
	if (note.len)
		json_string(j, NULL, note.s);
	json_end(j);
	j->out.failed |= lines->failed || note.failed;
	text_free(&note);
	text_free(lines);
}

/* A number, true or false. */
static void put_word(struct json *j, const char *key, const char *word)
{
	if (j->table) {
		table_value(j, key, word, true);
		return;
	}
	before(j, key);
	text_add(&j->out, "%s", word);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char word[32];

	snprintf(word, sizeof(word), size > WHOLE_MAX && !j->table ? "\"%" PRId64 "\"" : "%" PRId64,
		 value);
	put_word(j, key, word);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	if (j->table) {
		table_uint(j, key, value);
		return;
	}
	before(j, key);
	text_add(&j->out, value > WHOLE_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, value);
}

void json_real(struct json *j, const char *key, double value)
{
	char digits[40];

	if (j->table) {
		table_number(j, key, value);
		return;
	}
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	for (int precision = 6; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	put_word(j, key, digits);
}

void json_bool(struct json *j, const char *key, bool value)
{
	put_word(j, key, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	if (j->table) {
		table_value(j, key, NULL, false);
		return;
	}
	before(j, key);
	text_put(&j->out, "null", 4);
}

void json_int_if(struct json *j, const char *key, bool known, int64_t value)
{
	if (known)
		json_int(j, key, value);
	else
		json_null(j, key);
}

void json_uint_if(struct json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		json_uint(j, key, value);
	else
		json_null(j, key);
}

void json_real_if(struct json *j, const char *key, bool known, double value)
{
	json_real(j, key, known ? value : NAN);
}

void json_bool_if(struct json *j, const char *key, bool known, bool value)
{
	if (known)
		json_bool(j, key, value);
	else
		json_null(j, key);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	char word[24];

	snprintf(word, sizeof(word), "0x%" PRIx64, value);
	json_string(j, key, word);
}

void json_strings(struct json *j, const char *key, const char *const *s)
{
	json_array(j, key);
	for (; s && *s; s++)
		json_string(j, NULL, *s);
	json_end(j);
}

void json_amount(struct json *j, const char *key, double amount)
{
	if (amount == floor(amount) && fabs(amount) < 9e18)
		json_int(j, key, (int64_t)amount);
	else
		json_real(j, key, amount);
}

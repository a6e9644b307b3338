/* SPDX-License-Identifier: MIT */
/*
 * See rust_name.h. One pass that reads and writes; it gives up at anything unknown, because the
 * mangled symbol is more useful than a wrong guess.
 *
 * Source: the rustc book, "v0 Symbol Format" (RFC 2603); the functions here are named after its
 * grammar rules. It does not describe constants other than numbers, or pattern types: see the
 * compiler's compiler/rustc_symbol_mangling/src/v0.rs. The output follows the crate rustc-demangle,
 * which debuggers and Rust backtraces use.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "symbols/rust_name.h"
#include "base/error.h"
#include "base/text.h"

enum {
	OUT_MAX = 1 << 16,
	/*
	 * limit of steps: back references are read again, so a short name could take exponential
	 * time
	 */
	READ_MAX = 1 << 20,
	DEPTH_MAX = 500,
	WIDE_MAX = 128, /* non-ASCII characters of an identifier */
};

struct reader {
	const char *s; /* after _R */
	size_t len, at;
	size_t read; /* bytes read, including repeated ones */
	unsigned depth;
	bool mute;      /* parse without output */
	bool bad;       /* error: give up */
	uint64_t bound; /* lifetimes bound by the enclosing binders */
	struct text out;
};

struct identifier {
	const char *ascii, *wide; /* wide: the Punycode part */
	size_t n_ascii, n_wide;
};

static void path(struct reader *r, bool in_value);
static void type(struct reader *r);
static void constant(struct reader *r, bool in_value);

/* ---- writing ---- */

static void put_bytes(struct reader *r, const char *s, size_t n)
{
	if (r->mute || r->bad)
		return;
	if (n <= OUT_MAX - r->out.len)
		text_put(&r->out, s, n);
	else
		r->bad = true;
	r->bad |= r->out.failed;
}

static void put_string(struct reader *r, const char *s)
{
	put_bytes(r, s, strlen(s));
}

static void put_number(struct reader *r, uint64_t n)
{
	char s[24];

	snprintf(s, sizeof(s), "%" PRIu64, n);
	put_string(r, s);
}

static void put_character(struct reader *r, uint32_t c)
{
	char s[4];

	if (c < 0x80)
		put_bytes(r, (char[]){ (char)c }, 1);
	else if (c < 0x800)
		put_bytes(r, (char[]){ (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)) }, 2);
	else if (c < 0x10000)
		put_bytes(r,
			  (char[]){ (char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3f)),
				    (char)(0x80 | (c & 0x3f)) },
			  3);
	else {
		s[0] = (char)(0xf0 | c >> 18);
		for (int i = 1; i < 4; i++)
			s[i] = (char)(0x80 | (c >> (18 - 6 * i) & 0x3f));
		put_bytes(r, s, 4);
	}
}

/* Characters that move the cursor, are invisible, or affect how others are displayed. */
static bool is_unseen(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} rows[] = {
		{ 0, 0x1f },        { 0x7f, 0xa0 },          { 0xad, 0xad },     { 0x61c, 0x61c },
		{ 0x180e, 0x180e }, { 0x200b, 0x200f },      { 0x2028, 0x202f }, { 0x2060, 0x206f },
		{ 0xd800, 0xf8ff }, { 0xfe00, 0xfe0f },      { 0xfeff, 0xfeff }, { 0xfff0, 0xfffb },
		{ 0xfffe, 0xffff }, { 0x40000, UINT32_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (c >= rows[i].first && c <= rows[i].last)
			return true;
	return false;
}

/* In quotes, as Rust's char::escape_debug() writes it. */
static void put_quoted(struct reader *r, uint32_t c, char quote)
{
	static const struct {
		char c;
		const char *as;
	} rows[] = {
		{ '\0', "\\0" }, { '\t', "\\t" },  { '\n', "\\n" },
		{ '\r', "\\r" }, { '\\', "\\\\" },
	};
	char s[16];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (c == (unsigned char)rows[i].c) {
			put_string(r, rows[i].as);
			return;
		}
	if (c == (unsigned char)quote) {
		put_string(r, "\\");
	} else if (is_unseen(c)) {
		snprintf(s, sizeof(s), "\\u{%" PRIx32 "}", c);
		put_string(r, s);
		return;
	}
	put_character(r, c);
}

/* ---- reading ---- */

static char peek(const struct reader *r)
{
	return r->bad || r->at == r->len ? '\0' : r->s[r->at];
}

/* The next byte; at the end '\0', which is an error. */
static char next(struct reader *r)
{
	char c = peek(r);

	if (!c || ++r->read > READ_MAX) {
		r->bad = true;
		return '\0';
	}
	r->at++;
	return c;
}

static bool eat(struct reader *r, char c)
{
	return peek(r) == c && next(r) == c;
}

static bool deeper(struct reader *r)
{
	if (++r->depth > DEPTH_MAX)
		r->bad = true;
	return !r->bad;
}

static uint64_t base_62_number(struct reader *r)
{
	uint64_t n = 0;

	if (eat(r, '_'))
		return 0;
	while (!r->bad && !eat(r, '_')) {
		char c = next(r);
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
			: c >= 'a' && c <= 'z'        ? (unsigned)(c - 'a') + 10
			: c >= 'A' && c <= 'Z'        ? (unsigned)(c - 'A') + 36
						      : 62;

		r->bad |= digit == 62 || __builtin_mul_overflow(n, 62, &n) ||
			__builtin_add_overflow(n, digit, &n);
	}
	r->bad |= n == UINT64_MAX;
	return n + 1;
}

/* A number after its letter; 0 without one. */
static uint64_t number_behind(struct reader *r, char letter)
{
	uint64_t n;

	if (!eat(r, letter))
		return 0;
	n = base_62_number(r);
	r->bad |= n == UINT64_MAX;
	return n + 1;
}

static uint64_t disambiguator(struct reader *r)
{
	return number_behind(r, 's');
}

static struct identifier identifier(struct reader *r)
{
	bool punycode = eat(r, 'u');
	char c = next(r);
	size_t n = (size_t)(c - '0');
	struct identifier id = { 0 };

	r->bad |= c < '0' || c > '9';
	while (c != '0' && peek(r) >= '0' && peek(r) <= '9' && n <= r->len)
		n = 10 * n + (size_t)(next(r) - '0');
	eat(r, '_');
	if (r->bad || n > r->len - r->at) {
		r->bad = true;
		return id;
	}
	id.ascii = &r->s[r->at];
	for (size_t i = 0; i < n; i++) {
		c = next(r);
		r->bad |= c <= ' ' || c > '~';
		if (punycode && c == '_')
			id.n_ascii = i, id.wide = &id.ascii[i + 1];
	}
	if (!punycode) {
		id.n_ascii = n;
		return id;
	}
	if (!id.wide)
		id.wide = id.ascii;
	id.n_wide = (size_t)(&id.ascii[n] - id.wide);
	r->bad |= !id.n_wide;
	return id;
}

/*
 * Source: RFC 3492, "Bootstring parameters", "Decoding procedure". 0: invalid, too long, or not
 * printable.
 */
static size_t decode_punycode(const struct identifier *id, uint32_t out[WIDE_MAX])
{
	enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38 };
	uint64_t i = 0, point = 0x80, bias = 72, damp = 700;
	size_t n = id->n_ascii;

	if (n >= WIDE_MAX)
		return 0;
	for (size_t k = 0; k < n; k++)
		out[k] = (unsigned char)id->ascii[k];
	for (size_t at = 0; at < id->n_wide;) {
		uint64_t delta = 0, weight = 1, k = BASE;

		for (;; k += BASE) {
			uint64_t t = k <= bias + T_MIN ? T_MIN
				: k - bias > T_MAX     ? T_MAX
						       : k - bias;
			char c = at < id->n_wide ? id->wide[at++] : '\0';
			uint64_t digit = c >= 'a' && c <= 'z' ? (uint64_t)(c - 'a')
				: c >= '0' && c <= '9'        ? (uint64_t)(c - '0') + 26
							      : BASE;

			if (digit == BASE || weight > UINT32_MAX)
				return 0;
			delta += digit * weight;
			if (digit < t)
				break;
			weight *= BASE - t;
		}
		if (n == WIDE_MAX)
			return 0;
		i += delta;
		point += i / ++n;
		i %= n;
		if (is_unseen(point < UINT32_MAX ? (uint32_t)point : UINT32_MAX))
			return 0;
		memmove(&out[i + 1], &out[i], (n - 1 - i) * sizeof(*out));
		out[i++] = (uint32_t)point;
		delta /= damp;
		damp = 2;
		delta += delta / n;
		for (k = 0; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
			delta /= BASE - T_MIN;
		bias = k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
	}
	return n;
}

static void put_identifier(struct reader *r, const struct identifier *id)
{
	uint32_t wide[WIDE_MAX];
	size_t n = r->mute || r->bad || !id->n_wide ? 0 : decode_punycode(id, wide);

	for (size_t i = 0; i < n; i++)
		put_character(r, wide[i]);
	if (n)
		return;
	put_string(r, id->n_wide ? "punycode{" : "");
	put_bytes(r, id->ascii, id->n_ascii);
	put_string(r, id->n_wide && id->n_ascii ? "-" : "");
	put_bytes(r, id->wide, id->n_wide);
	put_string(r, id->n_wide ? "}" : "");
}

/*
 * Continues at the target of a back reference; its B has been read. Does nothing when output is
 * off.
 */
static bool backref_begin(struct reader *r, size_t *back)
{
	size_t from = r->at - 1;
	uint64_t to = base_62_number(r);

	*back = r->at;
	r->bad |= to >= from;
	if (r->bad || r->mute || !deeper(r))
		return false;
	r->at = (size_t)to;
	return true;
}

static void backref_end(struct reader *r, size_t back)
{
	r->depth--;
	r->at = back;
}

/* Items up to an E; returns their number. */
static size_t list(struct reader *r, void (*item)(struct reader *), const char *between)
{
	size_t n = 0;

	for (; !r->bad && !eat(r, 'E'); n++) {
		put_string(r, n ? between : "");
		item(r);
	}
	return n;
}

/* ---- lifetimes ---- */

static void put_lifetime(struct reader *r, uint64_t index)
{
	uint64_t level = r->bound - index;

	if (r->mute)
		return;
	r->bad |= index > r->bound;
	put_string(r, "'");
	if (index && level < 26) {
		put_character(r, 'a' + (uint32_t)level);
		return;
	}
	put_string(r, "_");
	if (index)
		put_number(r, level);
}

/* for<'a, 'b>; returns their number, which the caller subtracts from `bound` again. */
static uint64_t binder(struct reader *r)
{
	uint64_t n = number_behind(r, 'G'), i;

	if (r->bad || r->mute || !n)
		return 0;
	put_string(r, "for<");
	for (i = 0; i < n && !r->bad; i++) {
		put_string(r, i ? ", " : "");
		r->bound++;
		put_lifetime(r, 1);
	}
	put_string(r, "> ");
	return i;
}

/* ---- paths ---- */

static void nested_path(struct reader *r, bool in_value)
{
	char space = next(r);
	bool special = space >= 'A' && space <= 'Z';
	uint64_t which;
	struct identifier id;

	r->bad |= !special && (space < 'a' || space > 'z');
	path(r, in_value);
	which = disambiguator(r);
	id = identifier(r);
	if (!special) {
		put_string(r, id.n_ascii || id.n_wide ? "::" : "");
		put_identifier(r, &id);
		return;
	}
	put_string(r, "::{");
	if (space == 'C' || space == 'S')
		put_string(r, space == 'C' ? "closure" : "shim");
	else
		put_bytes(r, &space, 1);
	put_string(r, id.n_ascii || id.n_wide ? ":" : "");
	put_identifier(r, &id);
	put_string(r, "#");
	put_number(r, which);
	put_string(r, "}");
}

static void impl_path(struct reader *r)
{
	bool mute = r->mute;

	r->mute = true;
	disambiguator(r);
	path(r, false);
	r->mute = mute;
}

static void generic_arg(struct reader *r)
{
	if (eat(r, 'L'))
		put_lifetime(r, base_62_number(r));
	else if (eat(r, 'K'))
		constant(r, false);
	else
		type(r);
}

static void path(struct reader *r, bool in_value)
{
	char tag = next(r);
	struct identifier id;
	size_t back;

	if (!deeper(r))
		return;
	switch (tag) {
	case 'C':
		disambiguator(r);
		id = identifier(r);
		put_identifier(r, &id);
		break;
	case 'N':
		nested_path(r, in_value);
		break;
	case 'M':
	case 'X':
		impl_path(r);
		/* fall through */
	case 'Y':
		put_string(r, "<");
		type(r);
		if (tag != 'M') {
			put_string(r, " as ");
			path(r, false);
		}
		put_string(r, ">");
		break;
	case 'I':
		path(r, in_value);
		put_string(r, in_value ? "::<" : "<");
		list(r, generic_arg, ", ");
		put_string(r, ">");
		break;
	case 'B':
		if (backref_begin(r, &back)) {
			path(r, in_value);
			backref_end(r, back);
		}
		break;
	default:
		r->bad = true;
	}
	r->depth--;
}

/* ---- types ---- */

static const char *basic_type(char tag)
{
	static const char *const names[] = {
		['a' - 'a'] = "i8",   ['b' - 'a'] = "bool",  ['c' - 'a'] = "char",
		['d' - 'a'] = "f64",  ['e' - 'a'] = "str",   ['f' - 'a'] = "f32",
		['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize",
		['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",   ['n' - 'a'] = "i128",
		['o' - 'a'] = "u128", ['p' - 'a'] = "_",     ['s' - 'a'] = "i16",
		['t' - 'a'] = "u16",  ['u' - 'a'] = "()",    ['v' - 'a'] = "...",
		['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",   ['z' - 'a'] = "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void fn_type(struct reader *r)
{
	uint64_t bound = binder(r);

	put_string(r, eat(r, 'U') ? "unsafe " : "");
	if (eat(r, 'K')) {
		struct identifier abi = { "C", NULL, 1, 0 };

		if (!eat(r, 'C'))
			abi = identifier(r);
		r->bad |= !abi.n_ascii || abi.n_wide;
		put_string(r, "extern \"");
		/* with its dashes written as underscores */
		for (size_t i = 0; i < abi.n_ascii; i++)
			put_bytes(r, abi.ascii[i] == '_' ? "-" : &abi.ascii[i], 1);
		put_string(r, "\" ");
	}
	put_string(r, "fn(");
	list(r, type, ", ");
	put_string(r, ")");
	if (!eat(r, 'u')) {
		put_string(r, " -> ");
		type(r);
	}
	r->bound -= bound;
}

/*
 * A path with its generic arguments left open so that more can follow; returns whether it has any.
 */
static bool open_path(struct reader *r)
{
	bool open;
	size_t back;

	if (eat(r, 'B')) {
		open = backref_begin(r, &back);
		if (open) {
			open = open_path(r);
			backref_end(r, back);
		}
		return open;
	}
	open = eat(r, 'I');
	path(r, false);
	if (open) {
		put_string(r, "<");
		list(r, generic_arg, ", ");
	}
	return open;
}

static void dyn_trait(struct reader *r)
{
	bool open = open_path(r);

	for (; eat(r, 'p'); open = true) {
		struct identifier id = identifier(r);

		put_string(r, open ? ", " : "<");
		put_identifier(r, &id);
		put_string(r, " = ");
		type(r);
	}
	put_string(r, open ? ">" : "");
}

static void dyn_type(struct reader *r)
{
	uint64_t bound, lifetime;

	put_string(r, "dyn ");
	bound = binder(r);
	list(r, dyn_trait, " + ");
	r->bound -= bound;
	r->bad |= !eat(r, 'L');
	lifetime = base_62_number(r);
	if (lifetime) {
		put_string(r, " + ");
		put_lifetime(r, lifetime);
	}
}

/* The allowed values of a pattern type: a range, several ranges, or all pointers but null. */
static void pattern(struct reader *r)
{
	char tag = next(r);

	if (!deeper(r))
		return;
	if (tag == 'R') {
		constant(r, false);
		put_string(r, "..=");
		constant(r, false);
	} else if (tag == 'O') {
		r->bad |= !list(r, pattern, " | ");
	} else if (tag == 'N') {
		put_string(r, "!null");
	} else {
		r->bad = true;
	}
	r->depth--;
}

static void reference_type(struct reader *r, bool mutable)
{
	uint64_t lifetime = eat(r, 'L') ? base_62_number(r) : 0;

	put_string(r, "&");
	if (lifetime) {
		put_lifetime(r, lifetime);
		put_string(r, " ");
	}
	put_string(r, mutable ? "mut " : "");
	type(r);
}

static void type(struct reader *r)
{
	const char *basic = basic_type(peek(r));
	char tag = next(r);
	size_t back;

	if (basic) {
		put_string(r, basic);
		return;
	}
	if (!deeper(r))
		return;
	switch (tag) {
	case 'R':
	case 'Q':
		reference_type(r, tag == 'Q');
		break;
	case 'P':
	case 'O':
		put_string(r, tag == 'P' ? "*const " : "*mut ");
		type(r);
		break;
	case 'A':
	case 'S':
		put_string(r, "[");
		type(r);
		if (tag == 'A') {
			put_string(r, "; ");
			constant(r, true);
		}
		put_string(r, "]");
		break;
	case 'T':
		put_string(r, "(");
		put_string(r, list(r, type, ", ") == 1 ? ",)" : ")");
		break;
	case 'F':
		fn_type(r);
		break;
	case 'D':
		dyn_type(r);
		break;
	case 'W':
		type(r);
		put_string(r, " is ");
		pattern(r);
		break;
	case 'B':
		if (backref_begin(r, &back)) {
			type(r);
			backref_end(r, back);
		}
		break;
	default:
		r->at -= !r->bad;
		path(r, false);
	}
	r->depth--;
}

/* ---- constants ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Hexadecimal digits up to a _. */
static const char *hex(struct reader *r, size_t *n)
{
	const char *s = &r->s[r->at];

	*n = 0;
	for (char c; (c = next(r)) != '_' && !r->bad; ++*n)
		r->bad |= hex_digit(c) < 0;
	return s;
}

/* False when it does not fit in 64 bits. */
static bool hex_number(const char *s, size_t n, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		if (*out >> 60)
			return false;
		*out = *out << 4 | (uint64_t)hex_digit(s[i]);
	}
	return true;
}

static void integer(struct reader *r)
{
	uint64_t value;
	size_t n;
	const char *s = hex(r, &n);

	if (r->bad)
		return;
	if (hex_number(s, n, &value)) {
		put_number(r, value);
	} else {
		put_string(r, "0x");
		put_bytes(r, s, n);
	}
}

static uint64_t small_number(struct reader *r, uint64_t most)
{
	uint64_t value = 0;
	size_t n;
	const char *s = hex(r, &n);

	r->bad |= r->bad || !hex_number(s, n, &value) || value > most;
	return value;
}

static void character(struct reader *r)
{
	uint64_t c = small_number(r, 0x10ffff);

	r->bad |= c >= 0xd800 && c <= 0xdfff;
	put_string(r, "'");
	put_quoted(r, (uint32_t)c, '\'');
	put_string(r, "'");
}

/* UTF-8, two digits per byte. Source: RFC 3629, "UTF-8 definition". */
static void string(struct reader *r)
{
	size_t n, i = 0;
	const char *s = hex(r, &n);

	if (n % 2)
		r->bad = true;
	put_string(r, "\"");
	while (!r->bad && i < n) {
		uint32_t c = (uint32_t)(hex_digit(s[i]) << 4 | hex_digit(s[i + 1]));
		unsigned more = c < 0x80 ? 0
			: c >> 5 == 6    ? 1
			: c >> 4 == 14   ? 2
			: c >> 3 == 30   ? 3
					 : 4;
		static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };

		i += 2;
		if (more > 3 || n - i < (size_t)2 * more) {
			r->bad = true;
			return;
		}
		c &= more ? 0x3fu >> more : 0x7f;
		for (unsigned k = 0; k < more; k++, i += 2) {
			uint32_t byte = (uint32_t)(hex_digit(s[i]) << 4 | hex_digit(s[i + 1]));

			r->bad |= byte >> 6 != 2;
			c = c << 6 | (byte & 0x3f);
		}
		r->bad |= c < least[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff);
		put_quoted(r, c, '"');
	}
	put_string(r, "\"");
}

static void inner_constant(struct reader *r)
{
	constant(r, true);
}

static void field(struct reader *r)
{
	struct identifier id;

	disambiguator(r);
	id = identifier(r);
	put_identifier(r, &id);
	put_string(r, ": ");
	constant(r, true);
}

/* Needs braces when it is an argument of its own. */
static void compound(struct reader *r, char tag)
{
	switch (tag) {
	case 'e':
		put_string(r, "*");
		string(r);
		break;
	case 'R':
	case 'Q':
		put_string(r, tag == 'R' ? "&" : "&mut ");
		constant(r, true);
		break;
	case 'A':
		put_string(r, "[");
		list(r, inner_constant, ", ");
		put_string(r, "]");
		break;
	case 'T':
		put_string(r, "(");
		put_string(r, list(r, inner_constant, ", ") == 1 ? ",)" : ")");
		break;
	case 'V':
		path(r, true);
		if (eat(r, 'T')) {
			put_string(r, "(");
			list(r, inner_constant, ", ");
			put_string(r, ")");
		} else if (eat(r, 'S')) {
			put_string(r, " { ");
			list(r, field, ", ");
			put_string(r, " }");
		} else {
			r->bad |= !eat(r, 'U');
		}
		break;
	default:
		r->bad = true;
	}
}

static void constant(struct reader *r, bool in_value)
{
	char tag = next(r);
	size_t back;

	if (!deeper(r))
		return;
	if (tag == 'p') {
		put_string(r, "_");
	} else if (strchr("htmyoj", tag)) {
		integer(r);
	} else if (strchr("aslxni", tag)) {
		put_string(r, eat(r, 'n') ? "-" : "");
		integer(r);
	} else if (tag == 'b') {
		put_string(r, small_number(r, 1) ? "true" : "false");
	} else if (tag == 'c') {
		character(r);
	} else if (tag == 'R' && eat(r, 'e')) {
		string(r); /* and not &*"..." */
	} else if (tag == 'B') {
		if (backref_begin(r, &back)) {
			constant(r, in_value);
			backref_end(r, back);
		}
	} else {
		put_string(r, in_value ? "" : "{");
		compound(r, tag);
		put_string(r, in_value ? "" : "}");
	}
	r->depth--;
}

/* ---- the whole ---- */

/*
 * The suffix of link-time optimisation is dropped: `.llvm.` and digits, perhaps with an @ among
 * them.
 */
static size_t without_llvm(const char *s, size_t len)
{
	const char *at = strstr(s, ".llvm.");

	return at && !at[6 + strspn(at + 6, "0123456789ABCDEF@")] ? (size_t)(at - s) : len;
}

/*
 * ---- names before v0 ----
 *
 * _ZN, each part of the path with its length, E: the mangling of C++, with a last part of h and 16
 * digits, and escapes such as `$LT$` for characters that it cannot express. The output follows
 * libiberty's rust_demangle(), which perf uses.
 */
enum { HASH = 17, HASH_DIGITS_LEAST = 5 };

static const struct {
	const char *escape, *stands_for;
} escapes[] = { { "$SP$", "@" }, { "$BP$", "*" }, { "$RF$", "&" }, { "$LT$", "<" },
		{ "$GT$", ">" }, { "$LP$", "(" }, { "$RP$", ")" }, { "$C$", "," } };

/* A C++ namespace may look like this, too: a real hash has many different digits. */
static bool is_hash(const char *s, size_t n)
{
	unsigned seen = 0;

	if (n != HASH || *s != 'h')
		return false;
	for (size_t i = 1; i < n; i++) {
		int digit = hex_digit(s[i]);

		if (digit < 0)
			return false;
		seen |= 1u << digit;
	}
	return __builtin_popcount(seen) >= HASH_DIGITS_LEAST;
}

/*
 * An escape of another character at s: writes the character, returns the escape's length; 0: not an
 * escape.
 */
static size_t legacy_escape(struct reader *r, const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		size_t len = strlen(escapes[i].escape);

		if (n >= len && !memcmp(s, escapes[i].escape, len)) {
			put_string(r, escapes[i].stands_for);
			return len;
		}
	}
	if (n >= 5 && s[1] == 'u' && hex_digit(s[2]) >= 0 && hex_digit(s[3]) >= 0 && s[4] == '$') {
		char c = (char)(hex_digit(s[2]) << 4 | hex_digit(s[3]));

		if (c >= ' ' && c <= '~') {
			put_bytes(r, &c, 1);
			return 5;
		}
	}
	return 0;
}

static void legacy_part(struct reader *r, const char *s, size_t n)
{
	if (n > 1 && s[0] == '_' && s[1] == '$') { /* so that it begins with a letter */
		s++;
		n--;
	}
	for (size_t len; n; s += len, n -= len) {
		if (*s == '$') {
			len = legacy_escape(r, s, n);
			if (!len)
				put_bytes(r, s, len = n);
		} else if (n > 1 && s[0] == '.' && s[1] == '.') {
			put_string(r, "::");
			len = 2;
		} else {
			put_bytes(r, s, len = 1);
		}
	}
}

/* The next part, or 0 bytes at the end. */
static const char *legacy_next(const char **at, size_t *n)
{
	const char *s = *at, *part;

	for (*n = 0; *s >= '0' && *s <= '9' && *n < OUT_MAX; s++)
		*n = *n * 10 + (size_t)(*s - '0');
	if (s == *at || **at == '0' || strnlen(s, *n) < *n) {
		*n = 0;
		return NULL;
	}
	part = s;
	*at = s + *n;
	return part;
}

static bool legacy_letters(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		      (s[i] >= '0' && s[i] <= '9') || strchr("_$.:", s[i])))
			return false;
	return true;
}

static char *legacy_name(const char *mangled)
{
	struct reader r = { .s = mangled };
	const char *at = mangled + 3, *part, *last = NULL;
	size_t n, parts = 0, last_n = 0;

	while ((part = legacy_next(&at, &n))) {
		if (!legacy_letters(part, n))
			return NULL;
		last = part;
		last_n = n;
		parts++;
	}
	if (parts < 2 || *at != 'E' || (at[1] && at[1] != '.') || !is_hash(last, last_n))
		return NULL;
	at = mangled + 3;
	for (size_t i = 0; i + 1 < parts; i++) {
		part = legacy_next(&at, &n);
		put_string(&r, i ? "::" : "");
		legacy_part(&r, part, n);
	}
	if (!r.bad && r.out.len)
		return text_take(&r.out);
	text_free(&r.out);
	return NULL;
}

char *rust_name(const char *mangled)
{
	struct reader r = { .s = mangled + 2 };

	if (!strncmp(mangled, "_ZN", 3))
		return legacy_name(mangled);
	if (strncmp(mangled, "_R", 2))
		return NULL;
	r.len = without_llvm(r.s, strlen(r.s));
	path(&r, true);
	if (peek(&r) >= 'A' && peek(&r) <= 'Z') {
		r.mute = true; /* the instantiating crate */
		path(&r, false);
		r.mute = false;
	}
	/*
	 * A suffix that the compiler adds for a part of a function, such as .cold, stays in the
	 * name.
	 */
	r.bad |= r.at < r.len && r.s[r.at] != '.';
	for (size_t i = r.at; !r.bad && i < r.len; i++)
		r.bad |= r.s[i] <= ' ' || r.s[i] > '~';
	put_bytes(&r, &r.s[r.at], r.bad ? 0 : r.len - r.at);
	if (!r.bad && r.out.len)
		return text_take(&r.out);
	text_free(&r.out);
	return NULL;
}

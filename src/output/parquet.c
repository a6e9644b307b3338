/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/text.h"
#include "output/parquet.h"
#ifdef HAVE_ZSTD
#include <zstd.h>
#include "base/library.h"

#define FUNCTIONS(F) F(ZSTD_compressBound) F(ZSTD_compress) F(ZSTD_isError)
LIBRARY(zstd, "libzstd.so.1", FUNCTIONS)
#else
static bool zstd_load(void)
{
	return false;
}
#endif

/* Constants from parquet.thrift. */
enum {
	TYPE_BOOLEAN = 0,
	TYPE_INT32 = 1,
	TYPE_INT64 = 2,
	TYPE_DOUBLE = 5,
	TYPE_BYTE_ARRAY = 6,
	CONVERTED_NONE = -1,
	CONVERTED_UTF8 = 0,
	CONVERTED_UINT_32 = 13,
	CONVERTED_UINT_64 = 14,
	ENCODING_PLAIN = 0,
	ENCODING_RLE = 3,
	CODEC_NONE = 0,
	CODEC_ZSTD = 6,
	PAGE_DATA = 0,
	ZSTD_LEVEL = 3,
};

static const struct {
	int physical, converted, bytes; /* bytes per value; 0: a string, or a bit */
} types[] = {
	[PARQUET_U64] = { TYPE_INT64, CONVERTED_UINT_64, 8 },
	[PARQUET_I64] = { TYPE_INT64, CONVERTED_NONE, 8 },
	[PARQUET_U32] = { TYPE_INT32, CONVERTED_UINT_32, 4 },
	[PARQUET_I32] = { TYPE_INT32, CONVERTED_NONE, 4 },
	[PARQUET_DOUBLE] = { TYPE_DOUBLE, CONVERTED_NONE, 8 },
	[PARQUET_STRING] = { TYPE_BYTE_ARRAY, CONVERTED_UTF8, 0 },
	[PARQUET_BOOL] = { TYPE_BOOLEAN, CONVERTED_NONE, 0 },
};

/* ---- Thrift's compact protocol, as far as it is needed ---- */

enum {
	T_TRUE = 1,
	T_FALSE = 2,
	T_I32 = 5,
	T_I64 = 6,
	T_BINARY = 8,
	T_LIST = 9,
	T_STRUCT = 12,
	NEST = 8
};

struct thrift {
	struct text out;
	int last[NEST]; /* the last field id, for each level of nesting */
	int depth;
};

static void byte(struct text *t, unsigned b)
{
	char c = (char)b;

	text_put(t, &c, 1);
}

static void varint(struct text *t, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		byte(t, (unsigned)(v & 0x7f) | 0x80);
	byte(t, (unsigned)v);
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static void field(struct thrift *t, int id, int type)
{
	byte(&t->out, (unsigned)(id - t->last[t->depth]) << 4 | (unsigned)type);
	t->last[t->depth] = id;
}

static void i32(struct thrift *t, int id, int64_t v)
{
	field(t, id, T_I32);
	varint(&t->out, zigzag(v));
}

static void i64(struct thrift *t, int id, uint64_t v)
{
	field(t, id, T_I64);
	varint(&t->out, zigzag((int64_t)v));
}

static void bare_string(struct thrift *t, const char *s)
{
	varint(&t->out, strlen(s));
	text_put(&t->out, s, strlen(s));
}

static void string(struct thrift *t, int id, const char *s)
{
	field(t, id, T_BINARY);
	bare_string(t, s);
}

static void list(struct thrift *t, int id, int type, size_t n)
{
	field(t, id, T_LIST);
	if (n < 15) {
		byte(&t->out, (unsigned)n << 4 | (unsigned)type);
	} else {
		byte(&t->out, 0xf0u | (unsigned)type);
		varint(&t->out, n);
	}
}

static void enter(struct thrift *t)
{
	t->last[++t->depth] = 0;
}

static void leave(struct thrift *t)
{
	byte(&t->out, 0);
	t->depth--;
}

/* ---- the file ---- */

struct chunk { /* a column of a row group, as written to the file */
	uint64_t offset, raw, stored, values;
};

struct column {
	struct text values, levels; /* one byte, 0 or 1, per row */
	bool set;                   /* has a value in the current row */
	uint64_t bits;              /* booleans: number of values */
};

struct note {
	char *key, *value;
};

struct parquet {
	struct out *out;
	const struct parquet_column *is;
	size_t n;
	struct column *column;
	uint64_t rows, group_rows;
	struct chunk *chunk; /* n per group */
	uint64_t *rows_of;   /* of each group */
	size_t groups, room;
	struct note *note;
	size_t notes;
	bool failed; /* out of memory: reported at the row's end */
};

struct parquet *parquet_open(struct out *out, const struct parquet_column *column, size_t n,
			     struct tare_error *err)
{
	struct parquet *p = calloc(1, sizeof(*p));

	if (p) {
		p->column = calloc(n, sizeof(*p->column));
		p->out = out;
		p->is = column;
		p->n = n;
	}
	if (!p || !p->column) {
		parquet_free(p);
		tare_fail_nomem(err);
		return NULL;
	}
	out_put(out, "PAR1", 4);
	return p;
}

void parquet_free(struct parquet *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->column && i < p->n; i++) {
		text_free(&p->column[i].values);
		text_free(&p->column[i].levels);
	}
	for (size_t i = 0; i < p->notes; i++) {
		free(p->note[i].key);
		free(p->note[i].value);
	}
	free(p->note);
	free(p->column);
	free(p->chunk);
	free(p->rows_of);
	free(p);
}

int parquet_note(struct parquet *p, const char *key, const char *value, struct tare_error *err)
{
	if (!array_one_more(&p->note, p->notes, sizeof(*p->note)))
		return tare_fail_nomem(err);
	p->note[p->notes] = (struct note){ strdup(key), strdup(value) };
	p->notes++;
	return p->note[p->notes - 1].key && p->note[p->notes - 1].value ? 0 : tare_fail_nomem(err);
}

/* ---- values ---- */

static void little(struct text *t, uint64_t v, int bytes)
{
	char b[8];

	for (int i = 0; i < bytes; i++)
		b[i] = (char)(v >> 8 * i);
	text_put(t, b, (size_t)bytes);
}

static void bit(struct column *c, bool v)
{
	if (c->bits % 8 == 0)
		byte(&c->values, 0);
	if (v && !c->values.failed)
		c->values.s[c->values.len - 1] |= (char)(1 << c->bits % 8);
	c->bits++;
}

void parquet_number(struct parquet *p, size_t i, uint64_t v)
{
	struct column *c = &p->column[i];

	if (p->is[i].type == PARQUET_BOOL)
		bit(c, v);
	else
		little(&c->values, v, types[p->is[i].type].bytes);
	c->set = true;
}

void parquet_double(struct parquet *p, size_t i, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	little(&p->column[i].values, bits, 8);
	p->column[i].set = true;
}

void parquet_string(struct parquet *p, size_t i, const char *s)
{
	little(&p->column[i].values, strlen(s), 4);
	text_put(&p->column[i].values, s, strlen(s));
	p->column[i].set = true;
}

/* A column that must have a value has none. */
static void nothing(struct parquet *p, size_t i)
{
	if (p->is[i].type == PARQUET_STRING)
		parquet_string(p, i, "");
	else if (p->is[i].type == PARQUET_DOUBLE)
		parquet_double(p, i, 0);
	else
		parquet_number(p, i, 0);
}

/* ---- a row group ---- */

/* Which rows have a value: one run if all are equal, otherwise one bit each. */
static void levels(struct text *page, const struct text *level)
{
	size_t n = level->len, ones = 0;
	struct text run = { 0 };

	for (size_t i = 0; i < n; i++)
		ones += level->s[i] != 0;
	if (ones == n || ones == 0) {
		varint(&run, (uint64_t)n << 1);
		byte(&run, ones != 0);
	} else {
		varint(&run, (uint64_t)((n + 7) / 8) << 1 | 1);
		for (size_t i = 0; i < n; i += 8) {
			unsigned b = 0;

			for (size_t j = i; j < n && j < i + 8; j++)
				b |= (unsigned)(level->s[j] != 0) << (j - i);
			byte(&run, b);
		}
	}
	little(page, run.len, 4);
	text_put(page, run.s, run.len);
	page->failed |= run.failed;
	text_free(&run);
}

/* The bytes as written to the file; `squeezed` owns them if they were compressed. */
static bool squeeze(struct text *page, char **squeezed, size_t *n)
{
#ifdef HAVE_ZSTD
	if (zstd_load()) {
		size_t room = zstd.ZSTD_compressBound(page->len);

		*squeezed = malloc(room);
		if (!*squeezed)
			return false;
		*n = zstd.ZSTD_compress(*squeezed, room, page->s, page->len, ZSTD_LEVEL);
		return !zstd.ZSTD_isError(*n);
	}
#endif
	*n = page->len;
	*squeezed = text_take(page);
	return *squeezed != NULL;
}

static int write_column(struct parquet *p, size_t i, struct chunk *chunk, struct tare_error *err)
{
	struct column *c = &p->column[i];
	struct thrift head = { 0 };
	struct text page = { 0 };
	char *squeezed = NULL;
	size_t raw, n = 0;
	int ret = 0;

	if (p->is[i].optional)
		levels(&page, &c->levels);
	text_put(&page, c->values.s ? c->values.s : "", c->values.len);
	raw = page.len;
	if (page.failed || c->values.failed || c->levels.failed || !squeeze(&page, &squeezed, &n))
		ret = tare_fail_nomem(err);
	i32(&head, 1, PAGE_DATA);
	i32(&head, 2, (int64_t)raw);
	i32(&head, 3, (int64_t)n);
	field(&head, 5, T_STRUCT);
	enter(&head);
	i32(&head, 1, (int64_t)p->group_rows);
	i32(&head, 2, ENCODING_PLAIN);
	i32(&head, 3, ENCODING_RLE);
	i32(&head, 4, ENCODING_RLE);
	leave(&head);
	byte(&head.out, 0);
	if (ret == 0 && head.out.failed)
		ret = tare_fail_nomem(err);
	*chunk = (struct chunk){ p->out->total, raw + head.out.len, n + head.out.len,
				 p->group_rows };
	if (ret == 0) {
		out_put(p->out, head.out.s, head.out.len);
		out_put(p->out, squeezed, n);
	}
	free(squeezed);
	text_free(&page);
	text_free(&head.out);
	c->values.len = c->levels.len = 0;
	c->bits = 0;
	return ret;
}

static int write_group(struct parquet *p, struct tare_error *err)
{
	int ret = 0;

	if (!array_one_more(&p->chunk, p->groups, p->n * sizeof(*p->chunk)) ||
	    !array_one_more(&p->rows_of, p->groups, sizeof(*p->rows_of)))
		return tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < p->n; i++)
		ret = write_column(p, i, &p->chunk[p->groups * p->n + i], err);
	p->rows_of[p->groups++] = p->group_rows;
	p->group_rows = 0;
	return ret;
}

int parquet_end_row(struct parquet *p, struct tare_error *err)
{
	for (size_t i = 0; i < p->n; i++) {
		struct column *c = &p->column[i];

		if (p->is[i].optional)
			byte(&c->levels, c->set);
		else if (!c->set)
			nothing(p, i);
		c->set = false;
	}
	p->rows++;
	return ++p->group_rows == PARQUET_GROUP_ROWS ? write_group(p, err) : 0;
}

/* ---- the footer ---- */

static void schema(struct thrift *t, const struct parquet *p)
{
	list(t, 2, T_STRUCT, p->n + 1);
	enter(t);
	string(t, 4, "tare");
	i32(t, 5, (int64_t)p->n);
	leave(t);
	for (size_t i = 0; i < p->n; i++) {
		enter(t);
		i32(t, 1, types[p->is[i].type].physical);
		i32(t, 3, p->is[i].optional);
		string(t, 4, p->is[i].name);
		if (types[p->is[i].type].converted != CONVERTED_NONE)
			i32(t, 6, types[p->is[i].type].converted);
		leave(t);
	}
}

static void chunk_data(struct thrift *t, const struct parquet *p, size_t i, const struct chunk *c)
{
	enter(t);
	i64(t, 2, c->offset);
	field(t, 3, T_STRUCT);
	enter(t);
	i32(t, 1, types[p->is[i].type].physical);
	list(t, 2, T_I32, 2);
	varint(&t->out, zigzag(ENCODING_PLAIN));
	varint(&t->out, zigzag(ENCODING_RLE));
	list(t, 3, T_BINARY, 1);
	bare_string(t, p->is[i].name);
	i32(t, 4, zstd_load() ? CODEC_ZSTD : CODEC_NONE);
	i64(t, 5, c->values);
	i64(t, 6, c->raw);
	i64(t, 7, c->stored);
	i64(t, 9, c->offset);
	leave(t);
	leave(t);
}

static void groups(struct thrift *t, const struct parquet *p)
{
	list(t, 4, T_STRUCT, p->groups);
	for (size_t g = 0; g < p->groups; g++) {
		const struct chunk *c = &p->chunk[g * p->n];
		uint64_t raw = 0;

		for (size_t i = 0; i < p->n; i++)
			raw += c[i].raw;
		enter(t);
		list(t, 1, T_STRUCT, p->n);
		for (size_t i = 0; i < p->n; i++)
			chunk_data(t, p, i, &c[i]);
		i64(t, 2, raw);
		i64(t, 3, p->rows_of[g]);
		leave(t);
	}
}

static int footer(struct parquet *p, struct tare_error *err)
{
	struct thrift t = { 0 };
	int ret;

	i32(&t, 1, 1);
	schema(&t, p);
	i64(&t, 3, p->rows);
	groups(&t, p);
	if (p->notes) {
		list(&t, 5, T_STRUCT, p->notes);
		for (size_t i = 0; i < p->notes; i++) {
			enter(&t);
			string(&t, 1, p->note[i].key);
			string(&t, 2, p->note[i].value);
			leave(&t);
		}
	}
	string(&t, 6, "tare version " TARE_VERSION);
	byte(&t.out, 0);
	little(&t.out, t.out.len, 4);
	text_put(&t.out, "PAR1", 4);
	ret = t.out.failed ? tare_fail_nomem(err) : 0;
	if (ret == 0)
		out_put(p->out, t.out.s, t.out.len);
	text_free(&t.out);
	return ret;
}

int parquet_close(struct parquet *p, struct tare_error *err)
{
	int ret = p->group_rows ? write_group(p, err) : 0;

	if (ret == 0)
		ret = footer(p, err);
	parquet_free(p);
	return ret;
}

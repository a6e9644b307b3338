/* SPDX-License-Identifier: MIT */
/*
 * Reads Parquet files with a reader of its own: the footer's Thrift compact protocol, pages,
 * levels, values. tests/cli/precise_test.py reads them with other programs.
 */
#include "base/text.h"
#include "output/parquet.h"
#include "tap.h"
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* ---- Thrift, read ---- */

enum { I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 };

struct in {
	const uint8_t *p, *end;
};

static uint64_t varint(struct in *in)
{
	uint64_t v = 0;

	for (unsigned shift = 0; in->p < in->end; shift += 7) {
		v |= (uint64_t)(*in->p & 0x7f) << shift;
		if (!(*in->p++ & 0x80))
			return v;
	}
	CHECK(false, "the bytes end in a number");
	return v;
}

static void skip(struct in *in, int type);

static int field(struct in *in, int *last)
{
	uint8_t b = in->p < in->end ? *in->p++ : 0;

	if (!b)
		return 0;
	*last += b >> 4;
	return b & 15;
}

static void skip(struct in *in, int type)
{
	uint64_t n;
	int last = 0, t;

	switch (type) {
	case 1:
	case 2:
		break;
	case I32:
	case I64:
		varint(in);
		break;
	case BINARY:
		n = varint(in);
		in->p += n;
		break;
	case LIST:
		n = *in->p >> 4;
		t = *in->p++ & 15;
		if (n == 15)
			n = varint(in);
		while (n--)
			skip(in, t);
		break;
	case STRUCT:
		while ((t = field(in, &last)))
			skip(in, t);
		break;
	default:
		CHECK(false, "type %d", type);
	}
	CHECK(in->p <= in->end);
}

/* Go to a field of the structure at *in. Returns its type, 0 if it is absent. */
static int to_field(struct in *in, int wanted)
{
	int last = 0, type;

	while ((type = field(in, &last))) {
		if (last == wanted)
			return type;
		skip(in, type);
	}
	return 0;
}

static int64_t field_number(struct in at, int id)
{
	uint64_t v;

	CHECK(to_field(&at, id) != 0, "field %d", id);
	v = varint(&at);
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* The k-th structure in a list. */
static struct in element(struct in at, int id, size_t k, size_t *n)
{
	CHECK_EQ(to_field(&at, id), LIST, "field %d", id);
	*n = *at.p++ >> 4;
	if (*n == 15)
		*n = varint(&at);
	while (k--)
		skip(&at, STRUCT);
	return at;
}

struct file {
	uint8_t *bytes;
	size_t n;
	struct in meta;
};

static struct file made;

static int keep(void *with, const void *bytes, size_t n)
{
	(void)with;
	made.bytes = realloc(made.bytes, made.n + n);
	memcpy(made.bytes + made.n, bytes, n);
	made.n += n;
	return 0;
}

static struct file read_back(struct out *out)
{
	struct file r;
	uint32_t length;

	CHECK_EQ(out_close(out), 0);
	r = made;
	CHECK(!memcmp(r.bytes, "PAR1", 4) && !memcmp(r.bytes + r.n - 4, "PAR1", 4));
	memcpy(&length, r.bytes + r.n - 8, 4);
	r.meta = (struct in){ r.bytes + r.n - 8 - length, r.bytes + r.n - 8 };
	return r;
}

/* The data of a column's page in a group, without its header; *n: its size. */
static uint8_t *page(const struct file *f, size_t group, size_t column, size_t *n, int64_t *values)
{
	size_t groups, columns;
	struct in g = element(f->meta, 4, group, &groups), c = element(g, 1, column, &columns),
		  head;
	size_t stored;
	uint8_t *out;

	CHECK_EQ(to_field(&c, 3), STRUCT);
	head = (struct in){ f->bytes + field_number(c, 9), f->bytes + f->n };
	*values = field_number(c, 5);
	*n = (size_t)field_number(head, 2);
	stored = (size_t)field_number(head, 3);
	CHECK_EQ(field_number(head, 1), 0, "a data page");
	struct in end = head;
	skip(&end, STRUCT);
	CHECK_EQ(field_number(c, 7), (int64_t)(stored + (end.p - head.p)),
		 "compressed size counts the head");
	CHECK_EQ(field_number(c, 6), (int64_t)(*n + (end.p - head.p)), "so does the other");
	out = malloc(*n + 1);
#ifdef HAVE_ZSTD
	CHECK_EQ(field_number(c, 4), 6);
	CHECK_EQ(ZSTD_decompress(out, *n, end.p, stored), *n);
#else
	CHECK_EQ(field_number(c, 4), 0);
	memcpy(out, end.p, *n);
#endif
	return out;
}

static const struct parquet_column columns[] = {
	{ "a", PARQUET_U64, false },    { "b", PARQUET_U32, true },  { "c", PARQUET_STRING, true },
	{ "d", PARQUET_DOUBLE, false }, { "e", PARQUET_BOOL, true }, { "f", PARQUET_I64, true },
};

TEST(values_and_nulls)
{
	struct out out;
	struct parquet *p = (out_open(&out, keep, NULL),
			     parquet_open(&out, columns, ARRAY_SIZE(columns), NULL));
	struct file f;
	uint8_t *b;
	size_t n, k;
	int64_t values;

	CHECK_EQ(parquet_note(p, "schema", "tare/test/1", NULL), 0);
	for (int i = 0; i < 11; i++) {
		parquet_number(p, 0, UINT64_MAX - i);
		if (i % 2)
			parquet_number(p, 1, i);
		if (i != 3)
			parquet_string(p, 2, i ? "x" : "");
		if (i == 5)
			parquet_double(p, 3, 1.5);
		parquet_number(p, 4, i % 3 == 0);
		CHECK_EQ(parquet_end_row(p, NULL), 0);
	}
	CHECK_EQ(parquet_close(p, NULL), 0);
	f = read_back(&out);
	CHECK_EQ(field_number(f.meta, 3), 11);
	element(f.meta, 2, 0, &k);
	CHECK_EQ(k, ARRAY_SIZE(columns) + 1, "columns and the root");

	b = page(&f, 0, 0, &n, &values);
	CHECK_EQ(n, 88);
	CHECK_EQ(values, 11);
	CHECK_EQ(((uint64_t *)b)[10], UINT64_MAX - 10);

	/*
	 * levels: 4 bytes of length, a bit-packed run of 2 groups, 2 bytes; then the present values
	 */
	b = page(&f, 0, 1, &n, &values);
	CHECK_EQ(values, 11, "nulls count");
	CHECK_EQ(n, 4 + 3 + 5 * 4);
	CHECK(!memcmp(b, "\3\0\0\0\5\xaa\2", 7), "%02x %02x %02x", b[4], b[5], b[6]);
	CHECK(!memcmp(b + 7, (uint32_t[]){ 1, 3, 5, 7, 9 }, 20));

	b = page(&f, 0, 2, &n, &values);
	CHECK(!memcmp(b, "\3\0\0\0\5\xf7\7\0\0\0\0\1\0\0\0x", 16));

	b = page(&f, 0, 3, &n, &values);
	CHECK_EQ(n, 88);
	CHECK(((double *)b)[5] == 1.5 && ((double *)b)[4] == 0,
	      "no value where there must be one is 0");

	/* all present: one run */
	b = page(&f, 0, 4, &n, &values);
	CHECK(!memcmp(b, "\2\0\0\0\x16\1\x49\2", 8), "%02x %02x", b[6], b[7]);

	/* none present */
	b = page(&f, 0, 5, &n, &values);
	CHECK_EQ(n, 6);
	CHECK(!memcmp(b, "\2\0\0\0\x16\0", 6));
}

TEST(more_than_a_group)
{
	struct out out;
	static const struct parquet_column one[] = { { "n", PARQUET_U32, false } };
	struct parquet *p = (out_open(&out, keep, NULL), parquet_open(&out, one, 1, NULL));
	enum { ROWS = 2 * PARQUET_GROUP_ROWS + 7 };
	uint64_t next = 0;
	struct file f;
	size_t groups;

	for (uint32_t i = 0; i < ROWS; i++) {
		parquet_number(p, 0, i);
		CHECK_EQ(parquet_end_row(p, NULL), 0);
	}
	CHECK_EQ(parquet_close(p, NULL), 0);
	f = read_back(&out);
	CHECK_EQ(field_number(f.meta, 3), ROWS);
	element(f.meta, 4, 0, &groups);
	CHECK_EQ(groups, 3);
	for (size_t g = 0; g < groups; g++) {
		int64_t values;
		size_t n;
		uint32_t *v = (uint32_t *)page(&f, g, 0, &n, &values);

		CHECK_EQ(values, g < 2 ? PARQUET_GROUP_ROWS : 7);
		for (int64_t i = 0; i < values; i++, next++)
			if (v[i] != next) {
				CHECK_EQ(v[i], next);
				return;
			}
	}
}

TEST(no_rows)
{
	struct out out;
	struct parquet *p = (out_open(&out, keep, NULL),
			     parquet_open(&out, columns, ARRAY_SIZE(columns), NULL));
	struct file f;

	CHECK_EQ(parquet_close(p, NULL), 0);
	f = read_back(&out);
	CHECK_EQ(field_number(f.meta, 3), 0);
}

TEST_MAIN()

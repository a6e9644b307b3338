/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "output/csv.h"
#include "output/escape.h"

/* ---- fields ---- */

static bool is_number(const char *s)
{
	char *end;

	strtod(s, &end);
	return end != s && !*end;
}

void csv_safe(struct text *out, const char *s)
{
	if (*s && strchr("=+-@", *s) && !is_number(s))
		text_put(out, "'", 1);
	escape_cell(out, s);
}

void csv_cell(struct text *out, const char *name, const char *separator)
{
	struct text safe = { 0 };
	const char *s;

	csv_safe(&safe, name ? name : "");
	out->failed |= safe.failed;
	s = safe.s ? safe.s : "";
	/* spreadsheets may split at a semicolon, too: the next part could be a formula */
	if (!strpbrk(s, "\"\r\n;") && !(*separator && strstr(s, separator))) {
		text_put(out, s, strlen(s));
	} else {
		text_put(out, "\"", 1);
		for (; *s; s++)
			text_put(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
		text_put(out, "\"", 1);
	}
	text_free(&safe);
}

void csv_field(struct text *out, const char *s, char after)
{
	csv_cell(out, s, ",");
	text_put(out, &after, 1);
}

/* ---- tables ---- */

enum { PATHS_MOST = 32, KEYS_MOST = 6, ROW = 0, NOWHERE = -1 };

struct key {
	const char *s;
	size_t n;
};

struct path {
	struct key key[KEYS_MOST];
	unsigned keys;
};

struct column {
	struct key key, none;
	char *words; /* owned; NULL if the strings are those of the layout */
	int path;    /* of the object with the value; NOWHERE: the row's own key */
	bool hexadecimal;
	int digits;        /* of real numbers */
	struct text value; /* of the current row */
	bool number;
	unsigned depth; /* the value is dropped at the end of this object; 0: no value */
};

/* An open object or array: which paths begin with its own. */
struct level {
	uint32_t begun; /* bit i: path[i] */
	unsigned keys;  /* in its own path */
	const char *key;
	struct column *list; /* an array: the column of its elements */
	bool rows;           /* it contained a row */
	bool no_row;
};

struct table {
	const struct table_layout *as;
	struct text head;
	struct column *column;
	size_t n, room, next;
	struct path path[PATHS_MOST];
	int paths, outer;
	struct level level[JSON_DEPTH_MAX + 1];
	int at; /* the path of the innermost object or array; NOWHERE: it has no columns */
};

static bool same_key(const struct key *a, const struct key *b)
{
	return a->n == b->n && !memcmp(a->s, b->s, a->n);
}

static bool is(const struct key *key, const char *s)
{
	return same_key(key, &(struct key){ s, strlen(s) });
}

/* The number of the path that starts at `from`. */
static int path_of(struct table *t, struct path p, struct key words)
{
	for (size_t at = 0, n; at < words.n; at += n + 1) {
		struct key key = { words.s + at, 0 };

		for (n = 0; at + n < words.n && key.s[n] != '/'; n++)
			;
		key.n = n;
		assert(is(&key, "..") ? p.keys > 0 : p.keys < KEYS_MOST);
		if (is(&key, ".."))
			p.keys--;
		else
			p.key[p.keys++] = key;
	}
	for (int i = 0; i < t->paths; i++) {
		bool same = t->path[i].keys == p.keys;

		for (unsigned k = 0; same && k < p.keys; k++)
			same = same_key(&t->path[i].key[k], &p.key[k]);
		if (same)
			return i;
	}
	assert(t->paths < PATHS_MOST);
	t->path[t->paths] = p;
	return t->paths++;
}

/* `shown`: "x" or the number of digits. */
static void add_column(struct json *j, char *own, struct key name, struct key path, struct key key,
		       struct key none, struct key shown)
{
	struct table *t = j->table;
	struct text words = { 0 };

	if (!array_reserve(&t->column, &t->room, t->n + 1, sizeof(*t->column))) {
		j->out.failed = true;
		free(own);
		return;
	}
	t->column[t->n++] = (struct column){
		.key = key,
		.none = none,
		.words = own,
		.path = is(&key, ".") ? NOWHERE : path_of(t, t->path[ROW], path),
		.hexadecimal = is(&shown, "x"),
		.digits = shown.n && *shown.s != 'x' ? atoi(shown.s) : (int)t->as->digits,
	};
	text_add(&words, "%.*s", (int)name.n, name.s);
	csv_field(&t->head, words.s, ',');
	t->head.failed |= words.failed;
	text_free(&words);
}

void table_column(struct json *j, const char *name, const char *path, const char *key,
		  const char *none)
{
	const size_t n = strlen(path), m = strlen(key);
	char *own = j->table ? malloc(n + m + 1) : NULL;

	j->out.failed |= j->table && !own;
	if (!own)
		return;
	memcpy(own, path, n);
	memcpy(own + n, key, m + 1);
	add_column(j, own, (struct key){ name, strlen(name) }, (struct key){ own, n },
		   (struct key){ own + n, m }, (struct key){ none, none ? strlen(none) : 0 },
		   (struct key){ 0 });
}

/* The part of a column's text from `mark` to the next mark. */
static struct key part(const char *spec, size_t n, char mark)
{
	const char *from = memchr(spec, mark, n);

	if (!from)
		return (struct key){ spec, 0 };
	n -= (size_t)(++from - spec);
	for (size_t i = 0; i < n; i++)
		if (strchr("%?", from[i]))
			n = i;
	return (struct key){ from, n };
}

static void parse_column(struct json *j, const char *spec, size_t n)
{
	struct key name = { spec, 0 }, path = part(spec, n, '='), key;

	while (name.n < n && !strchr("=%?", spec[name.n]))
		name.n++;
	key = path.n ? path : name;
	path = (struct key){ key.s, 0 };
	for (size_t i = 0; i < key.n; i++)
		if (key.s[i] == '/')
			path.n = i;
	if (path.n)
		key = (struct key){ key.s + path.n + 1, key.n - path.n - 1 };
	add_column(j, NULL, name, path, key, part(spec, n, '?'), part(spec, n, '%'));
}

struct json document_as(enum output_format format, const struct table_layout *as)
{
	struct table *t = format == FORMAT_CSV ? calloc(1, sizeof(*t)) : NULL;
	struct json of = { .table = t, .out.failed = format == FORMAT_CSV && !t }, *j = &of;

	if (!t)
		return of;
	t->as = as;
	t->outer = NOWHERE;
	path_of(t, (struct path){ 0 }, (struct key){ as->rows, strlen(as->rows) });
	if (as->outer)
		t->outer = path_of(t, (struct path){ 0 },
				   (struct key){ as->outer, strlen(as->outer) });
	for (const char *at = as->columns; *at;) {
		size_t n = strcspn(at, ",");

		parse_column(j, at, n);
		at += n + (at[n] == ',');
	}
	t->level[0].begun = UINT32_MAX;
	return of;
}

static void end_line(struct json *j, size_t fields)
{
	j->out.len -= fields && !j->out.failed; /* the comma after the last field */
	text_add(&j->out, "%s", j->table->as->line_end ? j->table->as->line_end : "\n");
}

static void write_row(struct json *j)
{
	struct table *t = j->table;

	for (size_t i = 0; i < t->n; i++) {
		struct column *c = &t->column[i];

		if (!c->depth || !c->value.s || c->number)
			text_add(&j->out, "%.*s,",
				 c->depth && c->value.s ? (int)c->value.len : (int)c->none.n,
				 c->depth && c->value.s ? c->value.s : c->none.s);
		else
			csv_field(&j->out, c->value.s, ',');
	}
	end_line(j, t->n);
	for (unsigned d = 0; d <= j->depth; d++)
		t->level[d].rows = true;
}

static void clear(struct column *c)
{
	text_free(&c->value);
	c->depth = 0;
}

/* The path of the innermost object. */
static int current(const struct table *t, const struct level *l)
{
	for (int i = 0; i < t->paths; i++)
		if (l->begun >> i & 1 && t->path[i].keys == l->keys)
			return i;
	return NOWHERE;
}

static struct column *column_of(struct table *t, const char *key)
{
	for (size_t i = 0; t->at != NOWHERE && i < t->n; i++) {
		size_t k = (t->next + i) % t->n;

		if (t->column[k].path == t->at && is(&t->column[k].key, key)) {
			t->next = k + 1;
			return &t->column[k];
		}
	}
	return NULL;
}

/* The innermost object that has both the value and the row. */
static unsigned depth_of(const struct json *j, const struct column *c)
{
	const struct table *t = j->table;
	const struct path *of = &t->path[c->path], *row = &t->path[ROW];
	unsigned common = 0, depth = j->depth;

	while (common < of->keys && common < row->keys &&
	       same_key(&of->key[common], &row->key[common]))
		common++;
	while (depth && t->level[depth].keys > common)
		depth--;
	return depth;
}

/* Write the names of the columns, before the outermost object. */
static void write_head(struct json *j)
{
	text_put(&j->out, j->table->head.s, j->table->head.len);
	j->out.failed |= j->table->head.failed;
	end_line(j, j->table->n);
}

void table_open(struct json *j, const char *key, char closing)
{
	struct table *t = j->table;
	const struct level *up = &t->level[j->depth];
	struct level *l = &t->level[j->depth + 1];

	if (j->depth == 0)
		write_head(j);
	*l = (struct level){ .begun = up->begun, .keys = up->keys };
	if (key && closing == ']')
		l->list = column_of(t, key);
	if (l->list) {
		clear(l->list);
		l->list->depth = depth_of(j, l->list);
		l->list->number = false;
	}
	for (int i = 0; key && i < t->paths; i++) {
		const struct path *p = &t->path[i];
		bool begun = l->keys < p->keys &&
			(is(&p->key[l->keys], key) || is(&p->key[l->keys], "*"));

		if (!begun)
			l->begun &= ~(UINT32_C(1) << i);
	}
	l->keys += key != NULL;
	j->depth++;
	t->at = current(t, l);
	for (size_t i = 0; key && closing == '}' && t->at == ROW && i < t->n; i++)
		if (t->column[i].path == NOWHERE) {
			clear(&t->column[i]);
			text_add(&t->column[i].value, "%s", key);
			t->column[i].number = false;
			t->column[i].depth = j->depth;
		}
}

static struct column *value_column(struct json *j, const char *key)
{
	return key ? column_of(j->table, key) : j->table->level[j->depth].list;
}

static void set_value(struct json *j, struct column *c, const char *key, const char *value,
		      bool number)
{
	if (!c)
		return;
	if (key)
		clear(c);
	if (!value)
		return;
	text_add(&c->value, "%s%s", c->value.len ? "\x1e" : "", value);
	j->out.failed |= c->value.failed;
	c->number = number;
	if (key)
		c->depth = depth_of(j, c);
}

void table_value(struct json *j, const char *key, const char *value, bool number)
{
	set_value(j, value_column(j, key), key, value, number);
}

void table_uint(struct json *j, const char *key, uint64_t value)
{
	struct column *c = j->table ? value_column(j, key) : NULL;
	char digits[32];

	snprintf(digits, sizeof(digits), c && c->hexadecimal ? "0x%" PRIx64 : "%" PRIu64, value);
	set_value(j, c, key, digits, true);
}

void table_number(struct json *j, const char *key, double value)
{
	struct column *c = value_column(j, key);
	char digits[40];

	snprintf(digits, sizeof(digits), "%.*g", c ? c->digits : 0, value);
	set_value(j, c, key, isfinite(value) ? digits : NULL, true);
}

void table_no_row(struct json *j)
{
	if (j->table)
		j->table->level[j->depth].no_row = true;
}

void table_end(struct json *j)
{
	struct table *t = j->table;
	const struct level *l = &t->level[j->depth];

	if (j->closing[j->depth - 1] == '}' && !l->no_row &&
	    (t->at == ROW || (t->at == t->outer && t->outer != NOWHERE && !l->rows)))
		write_row(j);
	for (size_t i = 0; i < t->n; i++)
		if (t->column[i].depth >= j->depth)
			clear(&t->column[i]);
	j->depth--;
	t->at = current(t, &t->level[j->depth]);
}

void table_free(struct json *j)
{
	for (size_t i = 0; j->table && i < j->table->n; i++)
		text_free(&j->table->column[i].value), free(j->table->column[i].words);
	if (j->table) {
		text_free(&j->table->head);
		free(j->table->column);
	}
	free(j->table);
	j->table = NULL;
}

void table_string(struct json *j, const char *key, const char *value)
{
	if (j->table)
		table_value(j, key, value, false);
}

void table_real(struct json *j, const char *key, double value)
{
	if (j->table)
		table_number(j, key, value);
}

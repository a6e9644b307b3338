/* SPDX-License-Identifier: MIT */
/*
 * See profile.h. Code comes in blocks: straight-line instructions at an offset in a file. A block
 * within one function (or line) is added to it whole; for others the file's bytes are disassembled
 * to find the instructions of each.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "profile/inlined_parts.h"
#include "profile/profile.h"
#include "symbols/symbols.h"
#include "symbols/vdso.h"

enum { BLOCK_BYTES_MAX = 4096 };

/* A file, kept for all runs. */
struct image {
	char *path;
	enum exact_module_kind kind;
	bool elsewhere;
	int64_t size, mtime_s, mtime_ns;
	int fd; /* -1: cannot be read */
	struct symbols *symbols;
	char why[384], remedy[320]; /* of code without a symbol */
};

struct profile {
	struct profile_table table;
	size_t room;
	uint32_t *slot; /* row by its key; number + 1 */
	unsigned bits;
	struct image **image;
	size_t images;
	int64_t *total, *unsplit; /* per run */
};

struct profile *profile_new(enum profile_by by, struct tare_error *err)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p) {
		tare_fail_nomem(err);
		return NULL;
	}
	p->table.by = by;
	return p;
}

/* ---- images ---- */

static void note_why(struct image *m, const char *why, const char *remedy)
{
	snprintf(m->why, sizeof(m->why), "%s", why);
	snprintf(m->remedy, sizeof(m->remedy), "%s", remedy);
}

static bool is_as_it_ran(const struct image *m)
{
	struct stat st;

	return m->kind != EXACT_FILE ||
		(fstat(m->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == m->size &&
		 st.st_mtim.tv_sec == m->mtime_s && st.st_mtim.tv_nsec == m->mtime_ns);
}

static void open_image(struct image *m)
{
	struct tare_error err = TARE_ERROR_INIT;

	m->fd = -1;
	if (m->kind == EXACT_MEMORY) {
		note_why(m, "code generated at run time, as by a JIT compiler: it has no symbols",
			 "");
		return;
	}
	if (m->kind == EXACT_UNKNOWN) {
		note_why(m, "the origin of this code is unknown", "");
		return;
	}
	if (m->elsewhere) {
		note_why(m, "deleted, or in another root or mount namespace", "");
		return;
	}
	m->fd = m->kind == EXACT_VDSO ? vdso_open() : file_open_regular(m->path, INT64_MAX);
	if (m->fd < 0) {
		snprintf(m->why, sizeof(m->why), "cannot be read: %s",
			 m->kind == EXACT_VDSO ? strerror(errno) : file_open_why(-m->fd));
		return;
	}
	if (!is_as_it_ran(m)) {
		note_why(m, "the file was changed after it ran", "");
		close(m->fd);
		m->fd = -1;
		return;
	}
	if (symbols_open(&m->symbols, m->path, m->fd, &err) < 0)
		note_why(m, err.what, err.hint);
	else if (!symbols_complete(m->symbols))
		note_why(
			m, "stripped: only functions that it exports have symbols",
			"install its debugging symbols (Debian: the package's -dbgsym or -dbg), or --debuginfod");
	else
		note_why(m, "no symbol covers this code", "");
}

static bool is_image(const struct image *m, const struct exact_module *of)
{
	return m->kind == of->kind && m->elsewhere == of->elsewhere && m->size == of->size &&
		m->mtime_s == of->mtime_s && m->mtime_ns == of->mtime_ns &&
		!strcmp(m->path, of->path);
}

/* The number of the image, or -ENOMEM. */
static int image_of(struct profile *p, const struct exact_module *of, struct tare_error *err)
{
	struct image *m;

	for (size_t i = 0; i < p->images; i++)
		if (is_image(p->image[i], of))
			return (int)i;
	if (!array_one_more(&p->image, p->images, sizeof(*p->image)))
		return tare_fail_nomem(err);
	m = calloc(1, sizeof(*m));
	if (!m)
		return tare_fail_nomem(err);
	*m = (struct image){ .path = strdup(of->path),
			     .kind = of->kind,
			     .elsewhere = of->elsewhere,
			     .size = of->size,
			     .mtime_s = of->mtime_s,
			     .mtime_ns = of->mtime_ns,
			     .fd = -1 };
	if (!m->path) {
		free(m);
		return tare_fail_nomem(err);
	}
	open_image(m);
	p->image[p->images] = m;
	return (int)p->images++;
}

/* ---- rows ---- */

static const uint64_t NO_START = UINT64_MAX;

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* A file's name is the same pointer for all lines of a compilation unit, but not across units. */
static uint64_t hash_of(const struct profile_row *r)
{
	uint64_t h = mix(mix(0, r->start), r->line);

	for (const char *s = r->module; *s; s++)
		h = mix(h, (unsigned char)*s);
	for (const char *s = r->file; s && *s; s++)
		h = mix(h, (unsigned char)*s);
	return h;
}

static bool same_row(const struct profile_row *a, const struct profile_row *b)
{
	return a->start == b->start && a->line == b->line && !strcmp(a->module, b->module) &&
		!a->file == !b->file && (!a->file || !strcmp(a->file, b->file));
}

static int rehash(struct profile *p, struct tare_error *err)
{
	unsigned bits = 10;
	uint32_t *slot, mask;

	while (p->table.n * 3 > (size_t)1 << bits)
		bits++;
	mask = (1u << bits) - 1;
	slot = calloc((size_t)1 << bits, sizeof(*slot));
	if (!slot)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < p->table.n; i++) {
		uint32_t h = (uint32_t)(hash_of(&p->table.row[i]) >> 16) & mask;

		while (slot[h])
			h = (h + 1) & mask;
		slot[h] = (uint32_t)i + 1;
	}
	free(p->slot);
	p->slot = slot;
	p->bits = bits;
	return 0;
}

static int new_row(struct profile *p, const struct profile_row *like, struct tare_error *err)
{
	struct profile_table *t = &p->table;
	int64_t *runs = calloc(t->runs, sizeof(*runs));

	if (!array_reserve(&t->row, &p->room, t->n + 1, sizeof(*t->row))) {
		free(runs);
		return tare_fail_nomem(err);
	}
	if (!runs)
		return tare_fail_nomem(err);
	t->row[t->n] = *like;
	t->row[t->n++].run = runs;
	return 0;
}

static int add_to_row(struct profile *p, const struct profile_row *like, int64_t n,
		      struct tare_error *err)
{
	uint32_t h, mask;
	int ret = 0;

	if (!p->bits || p->table.n * 2 > (size_t)1 << p->bits)
		ret = rehash(p, err);
	if (ret < 0)
		return ret;
	mask = (1u << p->bits) - 1;
	for (h = (uint32_t)(hash_of(like) >> 16) & mask; p->slot[h]; h = (h + 1) & mask)
		if (same_row(&p->table.row[p->slot[h] - 1], like))
			break;
	if (!p->slot[h]) {
		ret = new_row(p, like, err);
		if (ret < 0)
			return ret;
		p->slot[h] = (uint32_t)p->table.n;
	}
	p->table.row[p->slot[h] - 1].run[p->table.runs - 1] += n;
	return 0;
}

/* ---- from code to rows ---- */

/* The row of the instruction at `offset`, and the offset at which the next row begins. */
static uint64_t row_at(const struct profile *p, const struct image *m, uint64_t offset,
		       struct profile_row *out)
{
	struct symbol s;

	*out = (struct profile_row){
		.module = m->path, .start = NO_START, .why = m->why, .remedy = m->remedy
	};
	if (!m->symbols)
		return UINT64_MAX;

	if (symbols_find(m->symbols, offset, &s)) {
		out->function = s.name;
		out->start = s.start;
		if (!s.nameless)
			out->why = out->remedy = NULL;
	}
	if (p->table.by != PROFILE_LINE)
		return s.end;
	if (!symbols_line(m->symbols, offset, &out->file, &out->line))
		out->file = NULL, out->line = 0;
	return offset + 1;
}

static int add_code(struct profile *p, const struct image *m, const struct exact_code *c,
		    struct tare_error *err)
{
	uint8_t bytes[BLOCK_BYTES_MAX], length[256];
	struct profile_row row;
	uint64_t end = row_at(p, m, c->offset, &row), at = c->offset;
	int64_t all = c->executions * c->instructions;
	int ret = 0;

	if (c->offset + c->size <= end || c->instructions == 1)
		return add_to_row(p, &row, all, err);
	if (m->fd < 0 || c->size > sizeof(bytes) ||
	    pread(m->fd, bytes, c->size, (off_t)c->offset) != c->size ||
	    exact_lengths(bytes, c->size, length, sizeof(length)) != c->instructions) {
		p->unsplit[p->table.runs - 1] += all;
		return add_to_row(p, &row, all, err);
	}
	for (unsigned i = 0; ret == 0 && i < c->instructions; at += length[i++]) {
		if (at >= end)
			end = row_at(p, m, at, &row);
		ret = add_to_row(p, &row, c->executions, err);
	}
	return ret;
}

/* ---- functions that were inlined into large ones ---- */

/* The instructions of a block that begins in [row->start, end). */
static void add_parts(struct inlined_parts *parts, const struct image *m,
		      const struct exact_code *c, uint64_t end)
{
	uint8_t bytes[BLOCK_BYTES_MAX], length[256];
	uint64_t at = c->offset;

	if (c->size > sizeof(bytes) || pread(m->fd, bytes, c->size, (off_t)c->offset) != c->size ||
	    exact_lengths(bytes, c->size, length, sizeof(length)) != c->instructions) {
		inlined_parts_add(parts, m->symbols, at,
				  (uint64_t)(c->executions * c->instructions));
		return;
	}
	for (unsigned i = 0; i < c->instructions && at < end; at += length[i++])
		inlined_parts_add(parts, m->symbols, at, (uint64_t)c->executions);
}

static void find_inlined(struct profile *p, struct profile_row *row, const struct exact_profile *of,
			 const int *image)
{
	struct inlined_parts parts = { 0 };
	struct symbol s;

	for (size_t i = 0; i < of->n_code; i++) {
		const struct exact_code *c = &of->code[i];
		const struct image *m = p->image[image[c->module]];

		if (m->path == row->module && m->symbols && c->executions > 0 &&
		    c->offset >= row->start && symbols_find(m->symbols, row->start, &s) &&
		    c->offset < s.end)
			add_parts(&parts, m, c, s.end);
	}
	row->inlined = inlined_parts_most(&parts, (uint64_t)p->total[0]);
	inlined_parts_free(&parts);
}

/* Makes room for one more run in every array with one element per run. */
static int begin_run(struct profile *p, struct tare_error *err)
{
	struct profile_table *t = &p->table;

	if (t->runs == PROFILE_RUNS_MAX)
		return tare_fail(err, E2BIG, "more than %d runs in a profile", PROFILE_RUNS_MAX);
	if (!array_one_more(&p->total, t->runs, sizeof(*p->total)) ||
	    !array_one_more(&p->unsplit, t->runs, sizeof(*p->unsplit)))
		return tare_fail_nomem(err);
	for (size_t i = 0; i < t->n; i++) {
		size_t room = t->runs;

		if (!array_reserve(&t->row[i].run, &room, t->runs + 1u, sizeof(*t->row[i].run)))
			return tare_fail_nomem(err);
		t->row[i].run[t->runs] = 0;
	}
	p->total[t->runs] = p->unsplit[t->runs] = 0;
	t->runs++;
	return 0;
}

int profile_add(struct profile *p, const struct exact_profile *of, struct tare_error *err)
{
	int *image = calloc(of->n_modules + 1, sizeof(*image));
	int ret = image ? begin_run(p, err) : tare_fail_nomem(err);

	for (size_t i = 0; ret == 0 && i < of->n_modules; i++) {
		image[i] = image_of(p, &of->module[i], err);
		ret = image[i] < 0 ? image[i] : 0;
	}
	for (size_t i = 0; ret == 0 && i < of->n_code; i++) {
		const struct exact_code *c = &of->code[i];

		if (c->module >= of->n_modules) {
			ret = tare_fail(err, EINVAL,
					"code of module %u, but there are only %zu modules",
					c->module, of->n_modules);
			break;
		}
		if (!c->instructions)
			continue;
		ret = add_code(p, p->image[image[c->module]], c, err);
		p->total[p->table.runs - 1] += c->executions * c->instructions;
	}
	if (ret == 0 && of->unplaced) {
		const struct profile_row row = { .module = "[no room]",
						 .start = NO_START,
						 .why = "the profile has no room for more code",
						 .remedy = "" };

		ret = add_to_row(p, &row, of->unplaced, err);
		p->total[p->table.runs - 1] += of->unplaced;
	}
	for (size_t i = 0;
	     ret == 0 && p->table.by == PROFILE_FUNCTION && p->table.runs == 1 && i < p->table.n;
	     i++)
		if (p->table.row[i].start != NO_START &&
		    p->table.row[i].run[0] >= p->total[0] / INLINED_SHARE)
			find_inlined(p, &p->table.row[i], of, image);
	free(image);
	return ret;
}

/* ---- the table ---- */

static int by_total(const void *a, const void *b)
{
	const int64_t *x = *(const int64_t *const *)a, *y = *(const int64_t *const *)b;

	return *x != *y ? (*x < *y ? -1 : 1) : (x < y ? -1 : x > y);
}

static int choose_run(struct profile *p, struct tare_error *err)
{
	const int64_t **order = calloc(p->table.runs, sizeof(*order));

	if (!order)
		return tare_fail_nomem(err);
	for (unsigned i = 0; i < p->table.runs; i++)
		order[i] = &p->total[i];
	qsort(order, p->table.runs, sizeof(*order), by_total);
	p->table.shown = (unsigned)(order[(p->table.runs - 1) / 2] - p->total);
	/* The first of equal ones. */
	for (unsigned i = p->table.runs; i-- > 0;)
		if (p->total[i] == p->total[p->table.shown])
			p->table.shown = i;
	free(order);
	return 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct profile_row *x = a, *y = b;
	int d;

	if (x->instructions != y->instructions)
		return x->instructions > y->instructions ? -1 : 1;
	if (x->max != y->max)
		return x->max > y->max ? -1 : 1;
	d = strcmp(x->module, y->module);
	if (d)
		return d;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	d = strcmp(x->file ? x->file : "", y->file ? y->file : "");
	return d ? d : (x->line > y->line) - (x->line < y->line);
}

const struct profile_table *profile_table(struct profile *p, struct tare_error *err)
{
	struct profile_table *t = &p->table;

	if (!t->runs) {
		tare_fail(err, ENODATA, "no run was profiled");
		return NULL;
	}
	if (choose_run(p, err) < 0)
		return NULL;
	t->total = p->total[t->shown];
	t->unsplit = p->unsplit[t->shown];
	t->varied = 0;
	for (size_t i = 0; i < t->n; i++) {
		struct profile_row *r = &t->row[i];

		r->instructions = r->run[t->shown];
		r->min = r->max = r->run[0];
		for (unsigned k = 1; k < t->runs; k++) {
			r->min = r->run[k] < r->min ? r->run[k] : r->min;
			r->max = r->run[k] > r->max ? r->run[k] : r->max;
		}
		t->varied += r->min != r->max;
	}
	qsort(t->row, t->n, sizeof(*t->row), by_weight);
	/* Corrections may have reduced a row to nothing. */
	while (t->n && t->row[t->n - 1].max == 0 && t->row[t->n - 1].min == 0)
		free(t->row[--t->n].run);
	return rehash(p, err) < 0 ? NULL : t; /* the rows have been reallocated */
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->table.n; i++)
		free(p->table.row[i].run);
	for (size_t i = 0; i < p->images; i++) {
		symbols_close(p->image[i]->symbols);
		if (p->image[i]->fd >= 0)
			close(p->image[i]->fd);
		free(p->image[i]->path);
		free(p->image[i]);
	}
	free(p->image);
	free(p->table.row);
	free(p->slot);
	free(p->total);
	free(p->unsplit);
	free(p);
}

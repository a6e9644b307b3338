/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/set.h"
#include "exact/exact_places.h"

enum { BLOCK_MOST = 4096, MODULES_MOST = 4096, INSTRUCTION_MOST = 15 };

struct instruction {
	uint64_t offset; /* sort key of its set */
	int64_t executions, not_taken;
	uint8_t adds[EXACT_CLASSES], size;
};

/* A module of the profile and its decoded code. */
struct image {
	const struct exact_module *is;
	int fd;              /* -1: none */
	const uint8_t *vdso; /* or NULL */
	size_t vdso_size;
	bool whole; /* every block of it could be split */
	struct set instructions;
};

/* ---- the bytes ---- */

static bool is_as_it_ran(const struct exact_module *of, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == of->size &&
		st.st_mtim.tv_sec == of->mtime_s && st.st_mtim.tv_nsec == of->mtime_ns;
}

static void open_image(struct image *m)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	m->fd = -1;
	if (m->is->kind == EXACT_VDSO && e) {
		m->vdso = (const uint8_t *)e;
		m->vdso_size = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
		m->whole = true;
	}
	if (m->is->kind != EXACT_FILE || m->is->elsewhere)
		return;
	m->fd = open(m->is->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	m->whole = m->fd >= 0 && is_as_it_ran(m->is, m->fd);
}

static bool bytes_at(const struct image *m, uint64_t offset, uint8_t *to, size_t n)
{
	if (m->fd >= 0)
		return pread(m->fd, to, n, (off_t)offset) == (ssize_t)n;
	if (!m->vdso || offset > m->vdso_size || n > m->vdso_size - offset)
		return false;
	memcpy(to, m->vdso + offset, n);
	return true;
}

/* ---- blocks to instructions ---- */

/* False when out of memory. */
static bool add_instruction(struct image *m, const struct instruction *like)
{
	bool fresh;
	uint32_t at = set_add(&m->instructions, like, sizeof(*like), sizeof(like->offset), &fresh);
	struct instruction *is = (struct instruction *)m->instructions.item + at;

	if (at == SET_NONE)
		return false;
	if (!fresh) {
		is->executions += like->executions;
		m->whole &= is->size == like->size &&
			!memcmp(is->adds, like->adds, sizeof(is->adds));
	}
	return true;
}

/*
 * Compare what the bytes add with the engine's numbers, to verify that they are the executed ones.
 * False when out of memory.
 */
static bool split(struct image *m, const struct exact_code *c)
{
	uint8_t bytes[BLOCK_MOST], sum[EXACT_CLASSES] = { 0 };
	bool there = true;

	if (c->size > sizeof(bytes) || !bytes_at(m, c->offset, bytes, c->size)) {
		m->whole = false;
		return true;
	}
	for (size_t at = 0; at < c->size && m->whole && there;) {
		struct instruction in = { .offset = c->offset + at, .executions = c->executions };

		in.size = (uint8_t)exact_adds(bytes + at, c->size - at, in.adds);
		m->whole &= in.size > 0;
		for (int k = 0; k < EXACT_CLASSES; k++)
			sum[k] = (uint8_t)(sum[k] + in.adds[k]);
		at += in.size;
		there = !m->whole || add_instruction(m, &in);
	}
	m->whole &= !memcmp(sum, c->adds, sizeof(sum));
	return there;
}

/* The conditional branch that ends at `end`. */
static struct instruction *ends_at(const struct image *m, uint64_t end)
{
	struct instruction *found = NULL;

	for (uint64_t size = 1; size <= INSTRUCTION_MOST && size <= end; size++) {
		const struct instruction key = { .offset = end - size };
		uint32_t at = set_find(&m->instructions, &key, sizeof(key), sizeof(key.offset));
		struct instruction *in = (struct instruction *)m->instructions.item + at;

		if (at == SET_NONE || in->size != size || !in->adds[EXACT_CONDITIONAL])
			continue;
		if (found)
			return NULL; /* they overlap */
		found = in;
	}
	return found;
}

static void take_not_taken(struct image *m, const struct exact_code *c)
{
	struct instruction *in = ends_at(m, c->offset);

	if (in)
		in->not_taken += c->executions;
	else
		m->whole = false;
}

static int take_code(struct image *image, const struct exact_profile *p)
{
	/* first instructions, then branches that were not taken */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < p->n_code; i++) {
			const struct exact_code *c = &p->code[i];
			struct image *m = &image[c->module];

			if (!m->whole || (c->instructions == 0) != (pass == 1))
				continue;
			if (pass == 1)
				take_not_taken(m, c);
			else if (!split(m, c))
				return -ENOMEM;
		}
	return 0;
}

/* ---- sums ---- */

static int64_t value_of(const uint8_t *adds, int64_t executions, int64_t not_taken,
			enum exact_class class)
{
	return executions * (int64_t)adds[class] - (class == EXACT_TAKEN ? not_taken : 0);
}

static int by_offset(const void *a, const void *b)
{
	const struct instruction *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* A negative count of code that was never counted: the image is not reliable. */
static void check_image(struct image *m)
{
	const struct instruction *in = m->instructions.item;

	for (size_t i = 0; m->whole && i < m->instructions.n; i++)
		m->whole = in[i].executions >= 0 && in[i].not_taken >= 0 &&
			in[i].not_taken <= in[i].executions;
}

/* Exclude modules that share a path, as readers identify a file by its path alone. */
static void leave_out_namesakes(struct image *image, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; image[i].is->kind == EXACT_FILE && k < n; k++)
			if (image[k].is->kind == EXACT_FILE &&
			    !strcmp(image[i].is->path, image[k].is->path))
				image[i].whole = image[k].whole = false;
}

static int put_image(struct exact_places *out, struct image *m, const enum exact_class *class)
{
	struct exact_places_module *to = &out->module[out->modules];
	struct instruction *in = m->instructions.item;

	if (!m->instructions.n)
		return 0;
	qsort(in, m->instructions.n, sizeof(*in), by_offset);
	*to = (struct exact_places_module){ .path = strdup(m->is->path), .first = out->n };
	if (!to->path)
		return -ENOMEM;
	out->modules++;
	for (size_t i = 0; i < m->instructions.n; i++) {
		uint64_t *value = out->value + out->n * out->events, any = 0;

		for (size_t e = 0; e < out->events; e++)
			any |= value[e] = (uint64_t)value_of(in[i].adds, in[i].executions,
							     in[i].not_taken, class[e]);
		out->offset[out->n] = in[i].offset;
		out->n += any != 0;
	}
	to->n = out->n - to->first;
	return 0;
}

/* Do the counts with a place and the counts that the engine could not place add up to the total? */
static bool adds_up(const struct exact_places *p, const uint64_t *total)
{
	for (size_t e = 0; e < p->events; e++) {
		uint64_t sum = p->no_place[e];

		for (size_t i = 0; i < p->n; i++)
			sum += p->value[i * p->events + e];
		if (p->no_place[e] > INT64_MAX || sum != total[e])
			return false;
	}
	return true;
}

static int put_all(struct exact_places *out, struct image *image, const struct exact_profile *p,
		   const enum exact_class *class, size_t n)
{
	size_t instructions = 0;
	int ret = 0;

	for (size_t i = 0; i < p->n_modules; i++)
		instructions += image[i].whole ? image[i].instructions.n : 0;
	out->events = n;
	out->no_place = calloc(n + 1, sizeof(*out->no_place));
	out->module = calloc(p->n_modules + 1, sizeof(*out->module));
	out->offset = calloc(instructions + 1, sizeof(*out->offset));
	out->value = calloc((instructions + 1) * n, sizeof(*out->value));
	if (!out->no_place || !out->module || !out->offset || !out->value)
		return -ENOMEM;
	for (size_t i = 0; ret == 0 && i < p->n_modules; i++)
		if (image[i].whole)
			ret = put_image(out, &image[i], class);
	for (size_t i = 0; i < p->n_code; i++) {
		const struct exact_code *c = &p->code[i];

		for (size_t e = 0; e < n && !image[c->module].whole; e++)
			out->no_place[e] += (uint64_t)value_of(c->adds, c->executions,
							       c->instructions ? 0 : c->executions,
							       class[e]);
	}
	return ret;
}

/* Does every instruction belong to a module, and every block to a module in the list? */
static bool is_complete(const struct exact_profile *p)
{
	if (p->unplaced || !p->n_modules || p->n_modules > MODULES_MOST)
		return false;
	for (size_t i = 0; i < p->n_code; i++)
		if (p->code[i].module >= p->n_modules ||
		    (p->module[p->code[i].module].kind == EXACT_UNKNOWN && p->code[i].executions))
			return false;
	return true;
}

int exact_places(struct exact_places *out, const struct exact_profile *p,
		 const enum exact_class *class, const uint64_t *total, size_t n,
		 struct tare_error *err)
{
	struct image *image;
	int ret;

	*out = (struct exact_places){ 0 };
	if (!n || !is_complete(p))
		return 0;
	image = calloc(p->n_modules, sizeof(*image));
	if (!image)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < p->n_modules; i++) {
		image[i].is = &p->module[i];
		open_image(&image[i]);
	}
	leave_out_namesakes(image, p->n_modules);
	ret = take_code(image, p);
	for (size_t i = 0; i < p->n_modules; i++)
		check_image(&image[i]);
	if (ret == 0)
		ret = put_all(out, image, p, class, n);
	if (ret < 0 || !adds_up(out, total))
		exact_places_free(out);
	for (size_t i = 0; i < p->n_modules; i++) {
		if (image[i].fd >= 0)
			close(image[i].fd);
		set_free(&image[i].instructions);
	}
	free(image);
	return ret < 0 ? tare_fail_nomem(err) : 0;
}

void exact_places_free(struct exact_places *p)
{
	for (size_t i = 0; i < p->modules; i++)
		free((char *)p->module[i].path);
	free(p->no_place);
	free(p->module);
	free(p->offset);
	free(p->value);
	*p = (struct exact_places){ 0 };
}

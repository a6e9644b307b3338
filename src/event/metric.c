/* SPDX-License-Identifier: MIT */
/* Compiles a formula to steps for a small stack: no recursion at evaluation, and a known depth. */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "event/metric.h"

enum { TEXT_MAX = 4096, STEPS_MAX = 1024, NAMES_MAX = 64, DEPTH_MAX = 64, NAME_ROOM = 160 };

enum op { OP_NUMBER, OP_NAME, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_NEG, OP_MIN, OP_MAX, OP_RATIO };

struct step {
	enum op op;
	double number;
	size_t name;
};

/*
 * Only the used part of the arrays is written: `tare stat` parses every metric's formula at its
 * end, and touching pages costs more than parsing.
 */
struct formula {
	size_t steps, names;
	struct step step[STEPS_MAX];
	char name[NAMES_MAX][NAME_ROOM];
};

struct parser {
	const char *text, *p;
	struct formula *f;
	struct tare_error *err;
	unsigned depth;
};

static int sum(struct parser *ps);

static int fail(struct parser *ps, const char *why)
{
	return tare_fail_at(ps->err, (int)(ps->p - ps->text), EINVAL, "%s", why);
}

static void blanks(struct parser *ps)
{
	while (isspace((unsigned char)*ps->p))
		ps->p++;
}

static int step(struct parser *ps, enum op op, double number, size_t name)
{
	if (ps->f->steps == STEPS_MAX)
		return fail(ps, "the formula is too long");
	ps->f->step[ps->f->steps++] = (struct step){ op, number, name };
	return 0;
}

static bool in_name(const char *p)
{
	return isalnum((unsigned char)*p) || *p == '_' || *p == '.' || *p == ':' || *p == '@' ||
		*p == '#';
}

/*
 * The length of "/conditional-branches/" at `p`, if `word` is the exact engine: a name as in its
 * columns.
 */
static size_t slashes_of_exact(const char *word, size_t n, const char *p)
{
	size_t len = strspn(p + 1, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n == 5 && !strncmp(word, "exact", n) && *p == '/' && len && p[1 + len] == '/'
		? len + 2
		: 0;
}

/*
 * cpu@event\=0x3c@u: perf writes @ for the slashes, and a backslash before characters that would
 * end a name.
 */
static int name(struct parser *ps)
{
	struct formula *f = ps->f;
	char word[NAME_ROOM];
	bool term = false; /* between two @ */
	size_t n = 0;

	for (; *ps->p; ps->p++) {
		char c = *ps->p;
		size_t exact = term ? 0 : slashes_of_exact(word, n, ps->p);

		if (exact) {
			if (n + exact >= NAME_ROOM)
				return fail(ps, "the name is too long");
			memcpy(word + n, ps->p, exact);
			n += exact;
			ps->p += exact - 1;
			continue;
		}
		if (c == '\\' && ps->p[1])
			c = *++ps->p;
		else if (c == '@') {
			term = !term;
			c = '/';
		} else if (!in_name(ps->p) && !(term && (c == '=' || c == ',' || c == '-')) &&
			   !(c == '-' && n && in_name(ps->p + 1)))
			break;
		if (n + 1 == NAME_ROOM)
			return fail(ps, "the name is too long");
		word[n++] = c;
	}
	word[n] = '\0';
	if (term)
		return fail(ps, "the @ of this name is not closed");
	for (size_t i = 0; i < f->names; i++)
		if (!strcmp(f->name[i], word))
			return step(ps, OP_NAME, 0, i);
	if (f->names == NAMES_MAX)
		return fail(ps, "the formula has too many names");
	memcpy(f->name[f->names], word, n + 1);
	return step(ps, OP_NAME, 0, f->names++);
}

static int call(struct parser *ps, enum op op)
{
	int ret = sum(ps);

	if (ret < 0)
		return ret; /* and not one byte further: it may be the last */
	if (*ps->p != ',')
		return fail(ps, "a comma and a second value are expected here");
	ps->p++;
	ret = sum(ps);
	if (ret < 0)
		return ret;
	if (*ps->p != ')')
		return fail(ps, "')' is expected here");
	ps->p++;
	return step(ps, op, 0, 0);
}

static int value(struct parser *ps)
{
	static const struct {
		const char *open;
		enum op op;
	} calls[] = { { "min(", OP_MIN }, { "max(", OP_MAX }, { "d_ratio(", OP_RATIO } };
	int ret;

	blanks(ps);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strncmp(ps->p, calls[i].open, strlen(calls[i].open))) {
			ps->p += strlen(calls[i].open);
			return call(ps, calls[i].op);
		}
	if (*ps->p == '(') {
		ps->p++;
		ret = sum(ps);
		if (ret < 0)
			return ret;
		if (*ps->p != ')')
			return fail(ps, "')' is expected here");
		ps->p++;
		return 0;
	}
	if (*ps->p == '-') {
		ps->p++;
		if (++ps->depth > DEPTH_MAX)
			return fail(ps, "the formula is nested too deeply");
		ret = value(ps);
		ps->depth--;
		return ret < 0 ? ret : step(ps, OP_NEG, 0, 0);
	}
	if (isdigit((unsigned char)*ps->p) || *ps->p == '.') {
		char *end;
		double number = strtod(ps->p, &end); /* the program runs in the C locale */

		if (end == ps->p || in_name(end))
			return fail(ps, "this is not a number");
		ps->p = end;
		return step(ps, OP_NUMBER, number, 0);
	}
	if (isalpha((unsigned char)*ps->p) || *ps->p == '_' || *ps->p == '#')
		return name(ps);
	return fail(ps,
		    *ps->p ? "a number, a name or '(' is expected here"
			   : "the formula ends too early");
}

static int product(struct parser *ps)
{
	int ret = value(ps);

	for (;;) {
		blanks(ps);

		char c = *ps->p;

		if (ret < 0 || (c != '*' && c != '/'))
			return ret;
		ps->p++;
		ret = value(ps);
		if (ret == 0)
			ret = step(ps, c == '*' ? OP_MUL : OP_DIV, 0, 0);
	}
}

static int sum(struct parser *ps)
{
	int ret;

	if (++ps->depth > DEPTH_MAX)
		return fail(ps, "the formula is nested too deeply");
	ret = product(ps);
	for (;;) {
		char c = *ps->p;

		if (ret < 0 || (c != '+' && c != '-'))
			break;
		ps->p++;
		ret = product(ps);
		if (ret == 0)
			ret = step(ps, c == '+' ? OP_ADD : OP_SUB, 0, 0);
	}
	ps->depth--;
	return ret;
}

int formula_parse(const char *text, struct formula **out, struct tare_error *err)
{
	struct formula *f = malloc(sizeof(*f));
	struct parser ps = { .text = text, .p = text, .f = f, .err = err };
	int ret;

	*out = NULL;
	if (!f)
		return tare_fail_nomem(err);
	f->steps = f->names = 0;
	if (strlen(text) > TEXT_MAX) {
		free(f);
		return tare_fail(err, E2BIG, "a formula of more than %d bytes", TEXT_MAX);
	}
	ret = sum(&ps);
	if (ret == 0 && *ps.p)
		ret = fail(&ps, "an operator is expected here");
	if (ret < 0)
		free(f);
	else
		*out = f;
	return ret;
}

void formula_free(struct formula *f)
{
	free(f);
}

size_t formula_names(const struct formula *f)
{
	return f->names;
}

const char *formula_name(const struct formula *f, size_t i)
{
	return f->name[i];
}

static double apply(enum op op, double a, double b)
{
	switch (op) {
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_DIV:
		return b == 0 ? NAN : a / b;
	case OP_MIN:
		return a < b ? a : b;
	case OP_MAX:
		return a > b ? a : b;
	default:
		return b == 0 ? 0 : a / b; /* OP_RATIO */
	}
}

int formula_eval(const struct formula *f, const double *value, double *out)
{
	double stack[STEPS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < f->steps; i++) {
		const struct step *s = &f->step[i];

		if (s->op == OP_NUMBER) {
			stack[n++] = s->number;
		} else if (s->op == OP_NAME) {
			stack[n++] = value[s->name];
		} else if (s->op == OP_NEG) {
			stack[n - 1] = -stack[n - 1];
		} else {
			stack[n - 2] = apply(s->op, stack[n - 2], stack[n - 1]);
			n--;
		}
	}
	if (!isfinite(stack[0]))
		return -EDOM;
	*out = stack[0];
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "symbols/text_symbols.h"

enum { LINES_MAX = 1 << 24, LOOK_BACK = 4096 };

static int by_start(const void *a, const void *b)
{
	const struct text_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Parses hexadecimal digits and the blanks after them; false if it is not a 64-bit number. */
static bool hex(char **p, uint64_t *out)
{
	uint64_t v = 0;
	char *s = *p;
	int digits = 0;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	for (; isxdigit((unsigned char)*s); s++, digits++) {
		int c = tolower((unsigned char)*s);

		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (!digits || (*s != ' ' && *s != '\t'))
		return false;
	while (*s == ' ' || *s == '\t')
		s++;
	*p = s;
	*out = v;
	return true;
}

static bool perf_map_line(char *s, struct text_symbol *e)
{
	uint64_t size;

	if (!hex(&s, &e->start) || !hex(&s, &size) || !*s || !size ||
	    __builtin_add_overflow(e->start, size, &e->end))
		return false;
	e->name = s;
	e->module = "";
	return true;
}

/* A function's line sets e; true with end 0 for a line of another kind. */
static bool kallsyms_line(char *s, struct text_symbol *e)
{
	char *end;
	char type;

	e->end = 0;
	if (!hex(&s, &e->start) || !s[0] || s[1] != ' ')
		return false;
	/* A symbol at the last address of all would have no representable end. */
	if (e->start == UINT64_MAX)
		return false;
	type = s[0];
	s += 2;
	end = s + strcspn(s, " \t");
	e->name = s;
	e->module = "";
	if (*end) {
		*end++ = '\0';
		end += strspn(end, " \t");
		if (*end == '[') {
			e->module = end + 1;
			end[strcspn(end, "]")] = '\0';
		}
	}
	if (!*s)
		return false;
	e->end = strchr("tTwW", type) ? UINT64_MAX : 0;
	return true;
}

static size_t lines_in(const char *text)
{
	size_t n = 1;

	while ((text = strchr(text, '\n'))) {
		n++;
		text++;
	}
	return n;
}

static int read_lines(struct text_symbols *l, char *text,
		      bool (*line)(char *, struct text_symbol *), struct tare_error *err)
{
	size_t lines = lines_in(text);

	*l = (struct text_symbols){ .text = text };
	if (lines > LINES_MAX)
		return tare_fail(err, EFBIG, "more than %d lines", LINES_MAX);
	l->entry = calloc(lines, sizeof(*l->entry));
	if (!l->entry)
		return tare_fail_nomem(err);
	for (char *s = text, *next; s; s = next) {
		struct text_symbol e = { .order = (uint32_t)l->n };

		next = strchr(s, '\n');
		if (next)
			*next++ = '\0';
		s[strcspn(s, "\r")] = '\0';
		if (!*s)
			continue;
		if (!line(s, &e))
			l->bad++;
		else if (e.end)
			l->entry[l->n++] = e;
	}
	if (!l->n && l->bad)
		return tare_fail(err, EINVAL, "no line is a symbol");
	if (l->n)
		qsort(l->entry, l->n, sizeof(*l->entry), by_start);
	return 0;
}

int text_symbols_perf_map(struct text_symbols *out, char *text, struct tare_error *err)
{
	int ret = read_lines(out, text, perf_map_line, err);

	for (size_t i = 0; ret == 0 && i < out->n; i++)
		if (out->entry[i].end - out->entry[i].start > out->longest)
			out->longest = out->entry[i].end - out->entry[i].start;
	if (ret < 0)
		text_symbols_free(out);
	return ret;
}

int text_symbols_kallsyms(struct text_symbols *out, char *text, struct tare_error *err)
{
	int ret = read_lines(out, text, kallsyms_line, err);
	size_t kept = 0;

	if (ret == 0 && (!out->n || out->entry[out->n - 1].start == 0)) {
		ret = tare_fail(err, EACCES, "it hides addresses from this user");
		tare_hint(
			err,
			"run as root, or with kernel.kptr_restrict=0 (or 1 and perf_event_paranoid <= 1)");
	}
	/* Keeps one name per address, the first; each extends to the next. */
	for (size_t i = 0; ret == 0 && i < out->n; i++) {
		if (kept && out->entry[kept - 1].start == out->entry[i].start)
			continue;
		if (kept)
			out->entry[kept - 1].end = out->entry[i].start;
		out->entry[kept++] = out->entry[i];
	}
	if (ret < 0) {
		text_symbols_free(out);
		return ret;
	}
	out->n = kept;
	out->longest = UINT64_MAX;
	/* The size of the last one is not known. */
	if (__builtin_add_overflow(out->entry[kept - 1].start, 4096, &out->entry[kept - 1].end))
		out->entry[kept - 1].end = UINT64_MAX;
	return 0;
}

const struct text_symbol *text_symbols_find(const struct text_symbols *l, uint64_t address)
{
	const struct text_symbol *best = NULL;
	size_t low = ARRAY_UPTO(l->entry, l->n, start, address);

	/* Entries of a JIT's map may overlap; `longest` limits the search. */
	for (size_t i = low;
	     i > 0 && i + LOOK_BACK > low && address - l->entry[i - 1].start < l->longest; i--) {
		const struct text_symbol *e = &l->entry[i - 1];

		if (address < e->end && (!best || e->order > best->order))
			best = e;
		if (l->longest == UINT64_MAX)
			break;
	}
	return best;
}

void text_symbols_free(struct text_symbols *l)
{
	free(l->entry);
	free(l->text);
	*l = (struct text_symbols){ 0 };
}

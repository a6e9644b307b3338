/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/path.h"
#include "compare/compare_lines.h"

enum { TABLE_MAX = 4 << 20 }; /* scores; larger functions are matched by line number */

struct matching {
	struct compare_lines *out;
	const struct compare_counted_line *of[COMPARE_SIDES];
	size_t n[COMPARE_SIDES];
	size_t at[COMPARE_SIDES]; /* where the lines after the last match begin */
	int64_t shift;            /* of the line numbers, at the last match */
};

static bool same_file(const struct compare_counted_line *a, const struct compare_counted_line *b)
{
	return !strcmp(path_base(a->file), path_base(b->file));
}

/* How well two lines correspond. */
enum score { NOT_SIMILAR, SIMILAR = 2, EQUAL = 3 };

/* An indentation may change, so the white space at both ends does not count. */
static size_t strip(const char **text)
{
	static const char blank[] = " \t";
	size_t n;

	*text += strspn(*text, blank);
	for (n = strlen(*text); n && strchr(blank, (*text)[n - 1]); n--)
		;
	return n;
}

/* Similar: half of the longer one is equal, at both ends together. */
static enum score score_text(const char *a, const char *b)
{
	size_t n = strip(&a), k = strip(&b), most = n > k ? n : k, least = n > k ? k : n,
	       prefix = 0, suffix = 0;

	while (prefix < least && a[prefix] == b[prefix])
		prefix++;
	while (suffix < least - prefix && a[n - 1 - suffix] == b[k - 1 - suffix])
		suffix++;
	if (prefix == most)
		return EQUAL;
	return 2 * (prefix + suffix) >= most ? SIMILAR : NOT_SIMILAR;
}

static enum score score(const struct compare_counted_line *a, const struct compare_counted_line *b)
{
	if (!same_file(a, b))
		return NOT_SIMILAR;
	if (a->text && b->text)
		return score_text(a->text, b->text);
	return a->amount == b->amount ? EQUAL : NOT_SIMILAR;
}

/* NULL: there is no such line. */
static void add_pair(struct matching *m, const struct compare_counted_line *before,
		     const struct compare_counted_line *after)
{
	const struct compare_counted_line *of[COMPARE_SIDES] = { before, after };
	struct compare_line *l = &m->out->line[m->out->n++];

	*l = (struct compare_line){ .change = 0 };
	for (int side = 0; side < COMPARE_SIDES; side++) {
		if (!of[side])
			continue;
		l->file[side] = of[side]->file;
		l->line[side] = of[side]->line;
		l->text = of[side]->text;
		l->amount[side] = of[side]->amount;
		m->out->total[side] += of[side]->amount;
	}
	l->change = (int64_t)(l->amount[COMPARE_AFTER] - l->amount[COMPARE_BEFORE]);
	m->out->changed += l->change != 0;
}

/*
 * The lines from the last match to these. Without texts, they correspond in their order if there
 * are equally many; else those at the same distance from the match do.
 */
static void match_between(struct matching *m, size_t before, size_t after)
{
	const struct compare_counted_line *a = m->of[COMPARE_BEFORE], *b = m->of[COMPARE_AFTER];
	size_t i = m->at[COMPARE_BEFORE], k = m->at[COMPARE_AFTER];
	bool in_order = before - i == after - k;

	while (i < before || k < after) {
		int64_t distance;

		if (i == before) {
			add_pair(m, NULL, &b[k++]);
			continue;
		}
		if (k == after) {
			add_pair(m, &a[i++], NULL);
			continue;
		}
		distance = (int64_t)a[i].line + m->shift - (int64_t)b[k].line;
		if (same_file(&a[i], &b[k]) && !(a[i].text && b[k].text) &&
		    (in_order || distance == 0))
			add_pair(m, &a[i++], &b[k++]);
		else if (same_file(&a[i], &b[k]) ? distance <= 0 : strcmp(a[i].file, b[k].file) < 0)
			add_pair(m, &a[i++], NULL);
		else
			add_pair(m, NULL, &b[k++]);
	}
}

static void match_pair(struct matching *m, size_t before, size_t after)
{
	const struct compare_counted_line *a = &m->of[COMPARE_BEFORE][before],
					  *b = &m->of[COMPARE_AFTER][after];

	match_between(m, before, after);
	add_pair(m, a, b);
	m->shift = (int64_t)b->line - (int64_t)a->line;
	m->at[COMPARE_BEFORE] = before + 1;
	m->at[COMPARE_AFTER] = after + 1;
}

/* The alignment with the largest sum of scores. */
static int match_lines(struct matching *m)
{
	const struct compare_counted_line *a = m->of[COMPARE_BEFORE], *b = m->of[COMPARE_AFTER];
	size_t n = m->n[COMPARE_BEFORE], k = m->n[COMPARE_AFTER], width = k + 1;
	uint32_t *best; /* sum for a[i...] and b[j...] */

	if (n >= TABLE_MAX / width)
		return 0;
	best = calloc((n + 1) * width, sizeof(*best));
	if (!best)
		return -ENOMEM;
	for (size_t i = n; i-- > 0;)
		for (size_t j = k; j-- > 0;) {
			uint32_t *here = &best[i * width + j], similar = score(&a[i], &b[j]);

			*here = here[width] > here[1] ? here[width] : here[1];
			if (similar && here[width + 1] + similar > *here)
				*here = here[width + 1] + similar;
		}
	for (size_t i = 0, j = 0; i < n && j < k;) {
		const uint32_t *here = &best[i * width + j];
		uint32_t similar = score(&a[i], &b[j]);

		if (similar && *here == here[width + 1] + similar)
			match_pair(m, i++, j++);
		else if (*here == here[width])
			i++;
		else
			j++;
	}
	free(best);
	return 0;
}

static int largest_first(const void *a, const void *b)
{
	const struct compare_line *x = a, *y = b;
	uint64_t m = (uint64_t)llabs(x->change), n = (uint64_t)llabs(y->change);

	for (int side = COMPARE_SIDES - 1; m == n && side >= 0; side--)
		if (x->line[side] != y->line[side])
			return x->line[side] < y->line[side] ? -1 : 1;
	return m == n ? 0 : m > n ? -1 : 1;
}

int compare_lines_match(struct compare_lines *out, const struct compare_counted_line *before,
			size_t n_before, const struct compare_counted_line *after, size_t n_after,
			struct tare_error *err)
{
	struct matching m = { .out = out, .of = { before, after }, .n = { n_before, n_after } };

	*out = (struct compare_lines){ .line = calloc(n_before + n_after + 1, sizeof(*out->line)) };
	if (!out->line || match_lines(&m) < 0)
		return tare_fail_nomem(err);
	match_between(&m, n_before, n_after);
	qsort(out->line, out->n, sizeof(*out->line), largest_first);
	return 0;
}

void compare_lines_free(struct compare_lines *l)
{
	free(l->line);
	*l = (struct compare_lines){ 0 };
}

/* SPDX-License-Identifier: MIT */
/* A growing string, and the nearest of many names to a mistyped one. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/text.h"

static bool reserve(struct text *t, size_t more)
{
	size_t need;

	t->failed |= __builtin_add_overflow(t->len + 1, more, &need) ||
		!array_reserve(&t->s, &t->room, need < 64 ? 64 : need, 1);
	return !t->failed;
}

void text_put(struct text *t, const char *bytes, size_t n)
{
	if (!reserve(t, n))
		return;
	if (n)
		memcpy(t->s + t->len, bytes, n);
	t->len += n;
	t->s[t->len] = '\0';
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	size_t room = t->failed ? 0 : t->room - t->len;
	int n = vsnprintf(room ? t->s + t->len : NULL, room, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < room) { /* the common case: it was written in place */
		t->len += (size_t)n;
	} else if (n >= 0 && reserve(t, (size_t)n)) {
		vsnprintf(t->s + t->len, (size_t)n + 1, fmt, again);
		t->len += (size_t)n;
	}
	va_end(again);
}

char *text_take(struct text *t)
{
	if (!t->failed && !t->s)
		text_put(t, "", 0);

	char *s = t->failed ? NULL : t->s;

	if (t->failed)
		free(t->s);
	*t = (struct text){ 0 };
	return s;
}

void text_free(struct text *t)
{
	free(t->s);
	*t = (struct text){ 0 };
}

/* Levenshtein distance, ignoring case; words over 63 bytes are compared by their first 63. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t la = strnlen(a, 63), lb = strnlen(b, 63);

	for (size_t j = 0; j <= lb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned up = row[j];
			unsigned change = corner +
				(tolower((unsigned char)a[i - 1]) !=
				 tolower((unsigned char)b[j - 1]));
			unsigned best = (up < row[j - 1] ? up : row[j - 1]) + 1;

			row[j] = change < best ? change : best;
			corner = up;
		}
	}
	return row[lb];
}

void text_nearest(struct text *out, const char *word, const char *const *names, size_t n_names,
		  size_t n)
{
	size_t letters = strlen(word), written = 0;
	unsigned far = (unsigned)letters / 3 + 1, *away = calloc(n_names + 1, sizeof(*away));

	/* At least as many edits as the difference of the lengths. */
	for (size_t i = 0; away && i < n_names; i++) {
		size_t n = strlen(names[i]), more = n > letters ? n - letters : letters - n;

		away[i] = more > far && n < 63 ? far + 1 : distance(word, names[i]);
	}
	for (unsigned d = 0; away && d <= far && written < n; d++)
		for (size_t i = 0; i < n_names && written < n; i++)
			if (away[i] == d)
				text_add(out, "%s%s", written++ ? ", " : "", names[i]);
	free(away);
}

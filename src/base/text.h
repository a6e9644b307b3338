/* SPDX-License-Identifier: MIT */
/* A growing string. Zero-initialise; `text_free` when done. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *s; /* always NUL-terminated once anything was added; NULL before */
	size_t len, room;
	bool failed; /* out of memory: later additions do nothing, so check once at the end */
};

void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_put(struct text *t, const char *bytes, size_t n);
/* The string, "" when empty; owned by the caller, who frees it. NULL when out of memory. */
char *text_take(struct text *t);
void text_free(struct text *t);

/* The n closest of `names` to `word` by edit distance, as "a, b or c"; "" if none is close. */
void text_nearest(struct text *out, const char *word, const char *const *names, size_t n_names,
		  size_t n);

#endif

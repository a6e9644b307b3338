/* SPDX-License-Identifier: MIT */
/*
 * The file has a line per fact: a key, a blank, and a value, in which bytes that are not printable
 * are written as %XX:
 *
 *	tare-bisect 1 VERSION
 *	folder /tmp/tare-bisect-a1B2c3
 *	good HASH
 *	bad HASH
 *	event instructions
 *	...
 *	word ./prog             one line per word of the command
 *	end
 *	count HASH 4129000      a commit that was counted
 *	skip HASH REASON
 *	pairs HASH 51034112 52120034 ...   times of the good commit and of this one; none: good
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/num.h"
#include "bisect/bisect_state.h"

#define HEAD "tare-bisect 1 " TARE_VERSION
#define DROP "tare bisect --reset drops it"

/* ---- writing ---- */

static void put_entry(struct text *out, const char *key, const char *value)
{
	text_add(out, "%s ", key);
	for (const char *s = value; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= ' ' || c >= 0x7f || c == '%')
			text_add(out, "%%%02X", c);
		else
			text_put(out, s, 1);
	}
	text_add(out, "\n");
}

static void put_question(struct text *out, const struct bisect_state *s)
{
	put_entry(out, "good", s->end[BISECT_GOOD]);
	put_entry(out, "bad", s->end[BISECT_BAD]);
	put_entry(out, "event", s->event);
	put_entry(out, "prefix", s->prefix);
	if (s->build)
		put_entry(out, "build", s->build);
	text_add(out, "first-parent %d\nthreshold %.17g\ntimeout %" PRIu64 "\nconfidence %.17g\n",
		 s->first_parent, s->threshold, s->timeout_ns, s->confidence);
	for (char **word = s->argv; *word; word++)
		put_entry(out, "word", *word);
	text_add(out, "end\n");
}

bool bisect_state_same(const struct bisect_state *a, const struct bisect_state *b)
{
	struct text x = { 0 }, y = { 0 };
	bool same;

	put_question(&x, a);
	put_question(&y, b);
	same = !x.failed && !y.failed && !strcmp(x.s, y.s);
	text_free(&x);
	text_free(&y);
	return same;
}

void bisect_state_write(struct text *out, const struct bisect_state *s)
{
	text_add(out, HEAD "\n");
	put_entry(out, "folder", s->folder);
	put_question(out, s);
	for (size_t i = 0; i < s->tries.n; i++) {
		const struct bisect_try *t = &s->tries.t[i];
		char key[BISECT_COMMIT_BYTES + 8];

		if (!t->skipped && bisect_is_time(s->event)) {
			text_add(out, "pairs %s", t->commit);
			for (size_t k = 0; k < t->pairs; k++)
				text_add(out, " %" PRIu64 " %" PRIu64, t->pair[k].good,
					 t->pair[k].this);
			text_add(out, "\n");
			continue;
		}
		if (!t->skipped) {
			text_add(out, "count %s %" PRIu64 "\n", t->commit, t->count);
			continue;
		}
		snprintf(key, sizeof(key), "skip %s", t->commit);
		put_entry(out, key, t->why);
	}
}

/* ---- reading ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place. */
static bool decode(char *s)
{
	char *to = s;

	for (; *s; s++, to++) {
		*to = *s;
		if (*s != '%')
			continue;
		if (hex_digit(s[1]) < 0 || hex_digit(s[2]) < 0)
			return false;
		*to = (char)(hex_digit(s[1]) << 4 | hex_digit(s[2]));
		s += 2;
	}
	*to = '\0';
	return true;
}

/* A commit's hash; nothing that git could take for an option. */
static bool is_hash(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return n >= 40 && n < BISECT_COMMIT_BYTES && !s[n];
}

static bool take_commit(char out[BISECT_COMMIT_BYTES], const char *value)
{
	if (!is_hash(value))
		return false;
	strcpy(out, value);
	return true;
}

static bool take_try(struct bisect_state *s, bool skipped, char *value)
{
	char *rest = strchr(value, ' ');
	struct bisect_try *t;

	if (!rest)
		return false;
	*rest++ = '\0';
	if (!is_hash(value) || !decode(rest))
		return false;
	t = bisect_add(&s->tries);
	if (!t)
		return false;
	strcpy(t->commit, value);
	t->skipped = skipped;
	if (!skipped)
		return num_parse(rest, &t->count, NULL) == 0;
	snprintf(t->why, sizeof(t->why), "%s", rest);
	return true;
}

static bool take_pairs(struct bisect_state *s, char *value)
{
	char *at, *hash = strtok_r(value, " ", &at), *word[2];
	struct bisect_try *t;

	if (!hash || !is_hash(hash))
		return false;
	t = bisect_add(&s->tries);
	if (!t)
		return false;
	strcpy(t->commit, hash);
	while ((word[0] = strtok_r(NULL, " ", &at))) {
		uint64_t ns[2] = { 0 };

		word[1] = strtok_r(NULL, " ", &at);
		for (int i = 0; i < 2; i++)
			if (!word[i] || num_parse(word[i], &ns[i], NULL) < 0 || !ns[i])
				return false;
		if (t->pairs == BISECT_PAIRS_MOST || !bisect_add_pair(t, ns[0], ns[1]))
			return false;
	}
	return true;
}

static bool take_word(struct bisect_state *s, size_t *n, size_t *room, char *value)
{
	if (!array_reserve_zeroed(&s->argv, room, *n + 2, sizeof(*s->argv)))
		return false;
	s->argv[(*n)++] = value;
	return true;
}

static bool take_number(uint64_t *to, const char *value)
{
	return num_parse(value, to, NULL) == 0;
}

struct words {
	size_t n, room;
	bool ended;
};

static bool take_entry(struct bisect_state *s, struct words *w, const char *key, char *value)
{
	uint64_t flag = 0;
	char *end;
	bool ok = true;

	if (!strcmp(key, "count") || !strcmp(key, "skip"))
		return w->ended && take_try(s, *key == 's', value);
	if (!strcmp(key, "pairs"))
		return w->ended && take_pairs(s, value);
	if (w->ended || !decode(value))
		return false;
	if (!strcmp(key, "end")) {
		w->ended = true;
	} else if (!strcmp(key, "folder")) {
		ok = strlen(value) < sizeof(s->folder);
		if (ok)
			strcpy(s->folder, value);
	} else if (!strcmp(key, "good")) {
		ok = take_commit(s->end[BISECT_GOOD], value);
	} else if (!strcmp(key, "bad")) {
		ok = take_commit(s->end[BISECT_BAD], value);
	} else if (!strcmp(key, "event")) {
		s->event = value;
	} else if (!strcmp(key, "prefix")) {
		s->prefix = value;
	} else if (!strcmp(key, "build")) {
		s->build = value;
	} else if (!strcmp(key, "first-parent")) {
		ok = take_number(&flag, value);
		s->first_parent = flag;
	} else if (!strcmp(key, "threshold")) {
		s->threshold = strtod(value, &end);
		ok = *value && !*end && s->threshold >= 0;
	} else if (!strcmp(key, "confidence")) {
		s->confidence = strtod(value, &end);
		ok = *value && !*end && s->confidence >= 0 && s->confidence < 100;
	} else if (!strcmp(key, "timeout")) {
		ok = take_number(&s->timeout_ns, value);
	} else if (!strcmp(key, "word")) {
		ok = take_word(s, &w->n, &w->room, value);
	} else {
		ok = false;
	}
	return ok;
}

static int by_commit(const void *a, const void *b)
{
	const struct bisect_try *const *x = a, *const *y = b;

	return strcmp((*x)->commit, (*y)->commit);
}

/* Each commit has one result. By sorting, as a hostile file may have many entries. */
static int check_once(const struct bisect_tries *tries, const char *name, struct tare_error *err)
{
	const struct bisect_try **t = malloc((tries->n + 1) * sizeof(struct bisect_try *));
	int ret = 0;

	if (!t)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < tries->n; i++)
		t[i] = &tries->t[i];
	qsort(t, tries->n, sizeof(struct bisect_try *), by_commit);
	for (size_t i = 1; ret == 0 && i < tries->n; i++)
		if (!strcmp(t[i - 1]->commit, t[i]->commit))
			ret = tare_fail(err, EINVAL, "%.200s: commit %.12s has two results", name,
					t[i]->commit);
	free(t);
	if (ret < 0)
		tare_hint(err, DROP);
	return ret;
}

int bisect_state_parse(struct bisect_state *out, const char *text, size_t n, const char *name,
		       struct tare_error *err)
{
	struct words w = { 0 };
	bool ok = true, ours = true;
	size_t line = 0;
	char *next;

	*out = (struct bisect_state){ .text = strndup(text, n) };
	if (!out->text)
		return tare_fail_nomem(err);
	for (char *at = out->text; ok && *at; at = next) {
		size_t len = strcspn(at, "\n");
		char *blank;

		next = at + len + (at[len] == '\n');
		ok = at[len] == '\n';
		at[len] = '\0';
		line++;
		if (line == 1) {
			ours = !strcmp(at, HEAD);
			ok &= !strncmp(at, "tare-bisect 1 ", 14);
			continue;
		}
		blank = strchr(at, ' ');
		if (blank)
			*blank = '\0';
		ok = ok && take_entry(out, &w, at, blank ? blank + 1 : at + len);
	}
	if (ok && ours && w.ended && out->argv && out->event && out->prefix &&
	    out->end[BISECT_GOOD][0] && out->end[BISECT_BAD][0])
		return check_once(&out->tries, name, err);
	if (ok && !ours)
		tare_fail(err, EINVAL, "%.200s is of another version of tare", name);
	else
		tare_fail(err, EINVAL, "%.200s: line %zu: not a bisection of tare", name, line);
	tare_hint(err, DROP);
	return -EINVAL;
}

void bisect_state_free(struct bisect_state *s)
{
	if (s->text)
		free(s->argv);
	free(s->text);
	bisect_free(&s->tries);
	*s = (struct bisect_state){ 0 };
}

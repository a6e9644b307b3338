/* SPDX-License-Identifier: MIT */
/* Options by rows: getopt_long does the parsing, the rows say what each one means. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "output/command.h"
#include "output/escape.h"

enum { ROWS_MAX = 96, LONG_BASE = 256 };

static size_t rows_of(const struct command *self)
{
	size_t n = 0;

	while (self->options && (self->options[n].letter || self->options[n].name))
		n++;
	return n < ROWS_MAX ? n : ROWS_MAX;
}

static void help(const struct command *self)
{
	printf("%s\n\nusage: tare %s [OPTION]... %s\n%s.\n\n", self->example, self->name, self->args,
	       self->about);
	for (size_t i = 0; i < rows_of(self); i++) {
		const struct option_row *r = &self->options[i];
		char left[80];

		if (!r->about)
			continue;
		snprintf(left, sizeof(left), "%s%.*s%s%s%s%s%s", r->letter ? "-" : "    ",
			 r->letter ? 1 : 0, &r->letter, r->letter && r->name ? ", " : "",
			 r->name ? "--" : "", r->name ? r->name : "", r->arg ? " " : "",
			 r->arg ? r->arg : "");
		printf("  %-30s %s\n", left, r->about);
	}
	/* A kind of a command ("verify launch") is explained with it. */
	printf("\nAll options: man tare-%.*s\n", (int)strcspn(self->name, " "), self->name);
}

static int set(const struct command *self, const struct option_row *r, const char *arg, void *into)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (r->set(into, arg, &err) >= 0)
		return 0;
	if (err.at < 0) {
		if (r->name)
			tare_prefix(&err, "--%s: ", r->name);
		else
			tare_prefix(&err, "-%c: ", r->letter);
	}
	complain(self, &err, arg);
	return -1;
}

static void unknown(const struct command *self, const char *word)
{
	struct tare_error err = TARE_ERROR_INIT;
	const char *names[ROWS_MAX + 1];
	struct text near = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < rows_of(self); i++)
		if (self->options[i].name)
			names[n++] = self->options[i].name;
	names[n++] = "help";
	tare_fail(&err, EINVAL, "there is no option %.64s", word);
	if (!strncmp(word, "--", 2))
		text_nearest(&near, word + 2, names, n, 1);
	if (near.len)
		tare_hint(&err, "did you mean --%s? (tare %s --help lists them)", near.s, self->name);
	else
		tare_hint(&err, "tare %s --help lists them", self->name);
	text_free(&near);
	complain(self, &err, NULL);
}

static void say_value_wanted(const struct command *self, const char *word)
{
	struct tare_error err = TARE_ERROR_INIT;

	tare_fail(&err, EINVAL, "%.64s needs a value", word);
	tare_hint(&err, "tare %s --help shows its form", self->name);
	complain(self, &err, NULL);
}

/* What getopt_long wants to know: letters and names, a name being LONG_BASE + its row. */
static void describe(const struct command *self, char *shorts, struct option *longs)
{
	*shorts++ = self->words == WORDS_END_OPTIONS ? '+' : '-'; /* stop at a word; hand words over in their place */
	*shorts++ = ':';
	*shorts++ = 'h';
	for (size_t i = 0; i < rows_of(self); i++) {
		const struct option_row *r = &self->options[i];
		int has = !r->arg ? no_argument : r->arg[0] == '[' ? optional_argument : required_argument;

		if (r->name)
			*longs++ = (struct option){ r->name, has, NULL, (int)(LONG_BASE + i) };
		if (r->letter) {
			*shorts++ = r->letter;
			for (int c = 0; c < has; c++)
				*shorts++ = ':';
		}
	}
	*longs = (struct option){ "help", no_argument, NULL, 'h' };
	*shorts = '\0';
}

/* The option that getopt_long returned; a mistake is said and is -1. */
static int take(const struct command *self, int c, char **argv, void *into, int *status)
{
	const struct option_row *r = NULL;
	char word[] = { '-', (char)optopt, '\0' };

	*status = EXIT_CANNOT_MEASURE;
	switch (c) {
	case 'h':
		help(self);
		*status = fflush(stdout) ? EXIT_CANNOT_MEASURE : 0;
		return -1;
	case ':':
		say_value_wanted(self, argv[optind - 1]);
		return -1;
	case '?':
		unknown(self, optopt && optopt < LONG_BASE ? word : argv[optind - 1]);
		return -1;
	}
	if (c >= LONG_BASE)
		r = &self->options[c - LONG_BASE];
	for (size_t i = 0; !r && i < rows_of(self); i++)
		if (self->options[i].letter == c)
			r = &self->options[i];
	return r ? set(self, r, optarg, into) : 0;
}

int options_parse(const struct command *self, int argc, char **argv, void *into, int *status)
{
	struct option longs[ROWS_MAX + 2] = { 0 };
	char shorts[3 * ROWS_MAX + 4];
	int n = 0, last = 0;

	describe(self, shorts, longs);
	optind = 0; /* glibc: start afresh */
	for (int c; (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
		/* Each is moved to the front, over options that were taken: it stands behind as many. */
		if (c == 1)
			argv[n++] = optarg;
		else if (take(self, c, argv, into, status) < 0)
			return -1;
		last = optind;
	}
	*status = 0;
	if (n && optind > last && self->words == WORDS_PARTED)
		argv[n++] = argv[optind - 1];
	memmove(argv + optind - n, argv, (size_t)n * sizeof(*argv));
	return optind - n;
}

/* Words of the user, of files and of the kernel go to a terminal: no control byte of theirs does. */
static void put_line(const char *before, const char *words)
{
	char line[sizeof(((struct tare_error *)0)->what) + 4];
	size_t n = 0;

	for (size_t left = strlen(words), len; left && n + 4 < sizeof(line); words += len, left -= len) {
		len = escape_length(words, left);
		memcpy(line + n, len ? words : "?", len ? len : 1);
		len = len ? len : 1;
		n += len;
	}
	line[n] = '\0';
	fprintf(stderr, "%s%s\n", before, line);
}

void complain(const struct command *self, const struct tare_error *err, const char *text)
{
	fprintf(stderr, "tare%s%s", self ? " " : "", self ? self->name : "");
	put_line(": ", err->what);
	if (text && err->at >= 0 && (size_t)err->at <= strlen(text) && strlen(text) <= 200) {
		put_line("  ", text);
		fprintf(stderr, "  %*s\n", err->at + 1, "^");
	}
	if (err->hint[0])
		put_line("  ", err->hint);
}

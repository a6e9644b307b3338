/* SPDX-License-Identifier: MIT */
/* Options by rows: getopt_long splits the words, the rows say what each one means. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "base/text.h"
#include "output/escape.h"
#include "output/input.h"
#include "output/options/option.h"
#include "output/own_stdout.h"
#include "output/style.h"

enum { ROWS_MAX = 96, LONG_BASE = 256 };

/* The rows of a command, those of its blocks in their place. */
struct all_rows {
	const struct option_row *row[ROWS_MAX];
	size_t base[ROWS_MAX]; /* the offset of the struct that the row is about */
	size_t n;
};

static void add_rows(struct all_rows *all, const struct option_row *row, size_t base)
{
	for (; row && (row->letter || row->name || row->rows); row++) {
		if (row->kind == OPTION_BLOCK) {
			add_rows(all, row->rows, base + row->at);
		} else if (all->n < ROWS_MAX) {
			all->row[all->n] = row;
			all->base[all->n++] = base;
		}
	}
}

static struct all_rows rows_of(const struct command *self)
{
	struct all_rows all = { .n = 0 };

	add_rows(&all, self->options, 0);
	return all;
}

enum { SCREEN_LINES = 24, SCREEN_COLUMNS = 80, LEFT_COLUMNS = 30 };

/* "  -e, --event EVENTS   what to count". Returns the number of lines. */
static size_t put_row(struct text *out, const struct option_row *r, size_t width)
{
	/* getopt_long() takes an optional value with =, or directly after the letter */
	bool optional = r->arg && r->arg[0] == '[';
	size_t column = out->len;

	text_add(out, "  %s%.*s%s%s%s%s%s", r->letter ? "-" : "    ", r->letter ? 1 : 0, &r->letter,
		 r->letter && r->name ? ", " : "", r->name ? "--" : "", r->name ? r->name : "",
		 !r->arg             ? ""
			 : !optional ? " "
			 : r->name   ? "[="
				     : "[",
		 !r->arg ? "" : r->arg + optional);
	column = out->len - column;
	text_add(out, "%*s", column < LEFT_COLUMNS ? (int)(LEFT_COLUMNS - column) : 1, "");
	column = column < LEFT_COLUMNS ? LEFT_COLUMNS : column + 1;
	return 1 + put_wrapped(out, r->about, column, LEFT_COLUMNS, width);
}

/* The position of an option in the list of common ones, from 1; 0: it is not in the list. */
static size_t place_of(const struct command *self, const struct option_row *r)
{
	const char *name = self->common_options;

	for (size_t place = 1; *name; place++) {
		size_t n = strcspn(name, " ");

		if (r->name ? strlen(r->name) == n && !memcmp(r->name, name, n)
			    : n == 1 && *name == r->letter)
			return place;
		name += n + strspn(name + n, " ");
	}
	return 0;
}

/* The rows of the first screen, in their order. */
static size_t choose_rows(const struct command *self, const struct all_rows *all,
			  const struct option_row *chosen[ROWS_MAX])
{
	size_t n = 0;

	if (!self->common_options) {
		for (size_t i = 0; i < all->n; i++)
			if (all->row[i]->about)
				chosen[n++] = all->row[i];
		return n;
	}
	memset(chosen, 0, ROWS_MAX * sizeof(*chosen));
	for (size_t i = 0; i < all->n; i++) {
		size_t place = place_of(self, all->row[i]);

		if (place && place <= ROWS_MAX)
			chosen[place - 1] = all->row[i];
	}
	for (size_t i = 0; i < ROWS_MAX; i++)
		if (chosen[i])
			chosen[n++] = chosen[i];
	return n;
}

static size_t count_lines(const struct text *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->len; i++)
		n += t->s[i] == '\n';
	return n;
}

/* One screen; with `every`, all rows. */
static void help(const struct command *self, const struct all_rows *all, bool every)
{
	const struct option_row *row[ROWS_MAX];
	size_t listed = 0, rows, shown = 0, lines;
	struct command list = *self;
	struct text out = { 0 }, usage = { 0 };

	for (size_t i = 0; i < all->n; i++)
		listed += all->row[i]->about != NULL;
	text_add(&usage, "usage: tare %s [OPTION]... %s", self->name, self->args);
	text_add(&out, "%s\n\n", self->example);
	put_wrapped(&out, usage.s ? usage.s : "", 0, sizeof("usage: tare ") - 1, SCREEN_COLUMNS);
	text_add(&out, "%s.\n\n", self->about);
	text_free(&usage);
	lines = count_lines(&out) + 2; /* an empty line and the last line */
	if (every)
		list.common_options = NULL;
	rows = choose_rows(&list, all, row);
	for (; shown < rows; shown++) {
		struct text one = { 0 };

		lines += put_row(&one, row[shown], every ? SIZE_MAX : SCREEN_COLUMNS);
		if (every || lines <= SCREEN_LINES)
			text_put(&out, one.s, one.len);
		text_free(&one);
		if (!every && lines > SCREEN_LINES)
			break;
	}
	fputs(out.s ? out.s : "", stdout);
	text_free(&out);
	/* A kind of a command ("verify launch") is explained with it. */
	if (shown < listed)
		printf("\n%zu more options: tare %s --help=all; all about them: man tare-%.*s\n",
		       listed - shown, self->name, (int)strcspn(self->name, " "), self->name);
	else
		printf("\nAll options: man tare-%.*s\n", (int)strcspn(self->name, " "), self->name);
}

/* --help=all */
static bool help_of_all(const struct command *self, const char *word, struct tare_error *err)
{
	if (!word || !strcmp(word, "all"))
		return word;
	tare_fail(err, EINVAL, "--help takes only =all");
	tare_hint(err, "tare %s --help shows the most common options, --help=all all", self->name);
	return false;
}

/* ---- kinds ---- */

static void put_integer(void *to, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)to = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)to = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)to = (uint32_t)value;
		break;
	default:
		*(uint64_t *)to = value;
	}
}

static int outside(const struct option_row *r, const char *arg, struct tare_error *err)
{
	if (r->refusal)
		tare_fail(err, ERANGE, "%s", r->refusal);
	else if (r->most == UINT64_MAX || r->kind == OPTION_DURATION)
		tare_fail(err, ERANGE, "%.32s is too small", arg);
	else
		tare_fail(err, ERANGE, "%.32s is not between %" PRIu64 " and %" PRIu64, arg,
			  r->least, r->most);
	if (r->hint)
		tare_hint(err, "%s", r->hint);
	return -ERANGE;
}

static int set_number(const struct option_row *r, void *to, const char *arg, struct tare_error *err)
{
	uint64_t n = (uint64_t)r->value;
	int ret = arg ? num_parse(arg, &n, err) : 0;

	if (ret == 0 && (n < r->least || n > r->most))
		return outside(r, arg, err);
	if (ret == 0)
		put_integer(to, r->size, n);
	return ret;
}

static int set_duration(const struct option_row *r, uint64_t *to, const char *arg,
			struct tare_error *err)
{
	uint64_t ns;
	int ret = num_parse_ns(arg, r->unit_ns, &ns, err);

	if (ret == 0 && ns < r->least)
		return outside(r, arg, err);
	if (ret == 0)
		*to = ns;
	return ret;
}

static int set_percent(const struct option_row *r, double *to, const char *arg,
		       struct tare_error *err)
{
	char *end;
	double v;

	if (!arg)
		return 0;
	v = strtod(arg, &end);
	if (end == arg || strcmp(end, *end == '%' ? "%" : "") || !isfinite(v) || v < 0 ||
	    v > (double)r->most)
		return tare_fail(err, EINVAL, "'%.40s' is not a percentage", arg);
	*to = v;
	return 0;
}

/* Which of the row's words. */
static int word_of(const struct option_row *r, const char *arg, struct tare_error *err)
{
	struct text all = { 0 };
	int n = 0;

	for (; r->words[n]; n++)
		if (!strcmp(arg, r->words[n]))
			return n;
	for (int i = 0; i < n; i++)
		text_add(&all, "%s%s",
			 !i                              ? ""
				 : i + 1 == n && r->noun ? " or "
							 : ", ",
			 r->words[i]);
	tare_fail(err, EINVAL,
		  r->noun ? "there is no %s '%.40s': %.200s" : "%s'%.40s' is not one of %.200s",
		  r->noun ? r->noun : "", arg, all.s ? all.s : "");
	text_free(&all);
	return -EINVAL;
}

static int set_word(const struct option_row *r, void *to, const char *arg, struct tare_error *err)
{
	int i = arg ? word_of(r, arg, err) : 0;

	if (i < 0)
		return i;
	put_integer(to, r->size, (uint64_t)(r->value + i));
	return 0;
}

static int set_text(const struct option_row *r, const char **to, const char *arg,
		    struct tare_error *err)
{
	if (arg && r->words && word_of(r, arg, err) < 0)
		return -EINVAL;
	if (arg && !*arg && r->noun)
		return tare_fail(err, EINVAL, "a %s is expected", r->noun);
	if (arg && r->kind == OPTION_INPUT)
		input_note(arg);
	*to = arg ? arg : r->absent;
	return 0;
}

static int add_text(const struct option_row *r, const char **list, size_t *n, const char *arg,
		    struct tare_error *err)
{
	if (*n >= r->most)
		return tare_fail(err, E2BIG, "more than %" PRIu64 " %s", r->most, r->noun);
	if (r->kind == OPTION_INPUTS)
		input_note(arg);
	list[(*n)++] = arg;
	return 0;
}

static int set_cpus(struct cpus *to, const char *arg, struct tare_error *err)
{
	int ret;

	cpus_free(to);
	ret = cpus_parse(arg, to, err);
	if (ret == 0 && !to->n)
		return tare_fail(err, EINVAL, "a list of CPUs such as 0-3,8 is expected");
	return ret;
}

static int refuse(const struct option_row *r, struct tare_error *err)
{
	tare_fail(err, ENOTSUP, "%s", r->refusal);
	tare_hint(err, "%s", r->hint);
	return -ENOTSUP;
}

static int set_kind(const struct option_row *r, char *options, const char *arg,
		    struct tare_error *err)
{
	void *to = options + r->at;

	switch (r->kind) {
	case OPTION_VALUE:
		put_integer(to, r->size, (uint64_t)r->value);
		return 0;
	case OPTION_COUNT:
		++*(unsigned *)to;
		return 0;
	case OPTION_NUMBER:
		return set_number(r, to, arg, err);
	case OPTION_DURATION:
		return set_duration(r, to, arg, err);
	case OPTION_PERCENT:
		return set_percent(r, to, arg, err);
	case OPTION_WORD:
		return set_word(r, to, arg, err);
	case OPTION_TEXT:
	case OPTION_INPUT:
		return set_text(r, to, arg, err);
	case OPTION_TEXTS:
	case OPTION_INPUTS:
		return add_text(r, to, (size_t *)(options + r->number_at), arg, err);
	case OPTION_CPUS:
		return set_cpus(to, arg, err);
	case OPTION_REFUSED:
		return refuse(r, err);
	case OPTION_SPECIAL:
		return r->set(to, arg, err);
	case OPTION_BLOCK:
		break;
	}
	return 0;
}

static int set(const struct command *self, const struct option_row *r, const char *arg,
	       char *options)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (r->given)
		*(bool *)(options + r->given) = true;
	if (set_kind(r, options, arg, &err) >= 0)
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

/* ---- words ---- */

static void unknown(const struct command *self, const struct all_rows *all, const char *word)
{
	struct tare_error err = TARE_ERROR_INIT;
	const char *names[ROWS_MAX + 1];
	struct text near = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->row[i]->name)
			names[n++] = all->row[i]->name;
	names[n++] = "help";
	tare_fail(&err, EINVAL, "there is no option %.64s", word);
	if (!strncmp(word, "--", 2))
		text_nearest(&near, word + 2, names, n, 1);
	if (near.len)
		tare_hint(&err, "did you mean --%s? (tare %s --help lists them)", near.s,
			  self->name);
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
static void describe(const struct command *self, const struct all_rows *all, char *shorts,
		     struct option *longs)
{
	*shorts++ = self->words == WORDS_END_OPTIONS
		? '+'
		: '-'; /* stop at a word; hand words over in their place */
	*shorts++ = ':';
	*shorts++ = 'h';
	for (size_t i = 0; i < all->n; i++) {
		const struct option_row *r = all->row[i];
		int has = !r->arg          ? no_argument
			: r->arg[0] == '[' ? optional_argument
					   : required_argument;

		if (r->name)
			*longs++ = (struct option){ r->name, has, NULL, (int)(LONG_BASE + i) };
		if (r->letter) {
			*shorts++ = r->letter;
			for (int c = 0; c < has; c++)
				*shorts++ = ':';
		}
	}
	*longs = (struct option){ "help", optional_argument, NULL, 'h' };
	*shorts = '\0';
}

/* The option that getopt_long returned; a mistake is reported, and -1 is returned. */
static int take_option(const struct command *self, const struct all_rows *all, int c, char **argv,
		       void *into, int *status)
{
	struct tare_error err = TARE_ERROR_INIT;
	size_t i = 0;
	char word[] = { '-', (char)optopt, '\0' };
	bool every;

	*status = EXIT_CANNOT_MEASURE;
	switch (c) {
	case 'h':
		every = help_of_all(self, optarg, &err);
		if (err.code) {
			complain(self, &err, NULL);
			return -1;
		}
		help(self, all, every);
		*status = own_stdout_printed(self->name) < 0 ? EXIT_CANNOT_MEASURE : 0;
		return -1;
	case ':':
		say_value_wanted(self, argv[optind - 1]);
		return -1;
	case '?':
		unknown(self, all, optopt && optopt < LONG_BASE ? word : argv[optind - 1]);
		return -1;
	}
	if (c >= LONG_BASE)
		i = (size_t)c - LONG_BASE;
	while (c < LONG_BASE && i < all->n && all->row[i]->letter != c)
		i++;
	return i < all->n ? set(self, all->row[i], optarg, (char *)into + all->base[i]) : 0;
}

int options_parse(const struct command *self, int argc, char **argv, void *into, int *status)
{
	const struct all_rows all = rows_of(self);
	struct option longs[ROWS_MAX + 2] = { 0 };
	char shorts[3 * ROWS_MAX + 4];
	int n = 0, last = 0;

	describe(self, &all, shorts, longs);
	optind = 0; /* glibc: start afresh */
	for (int c; (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
		/* Each is moved to the front, in place of options that were already parsed. */
		if (c == 1)
			argv[n++] = optarg;
		else if (take_option(self, &all, c, argv, into, status) < 0)
			return -1;
		last = optind;
	}
	*status = 0;
	if (n && optind > last && self->words == WORDS_PARTED)
		argv[n++] = argv[optind - 1];
	memmove(argv + optind - n, argv, (size_t)n * sizeof(*argv));
	return optind - n;
}

/* Words of the user, of files and of the kernel go to a terminal: no control byte of theirs does.
 */
static void put_line(const char *before, const char *words)
{
	char line[sizeof(((struct tare_error *)0)->what) + 4];
	size_t n = 0;

	for (size_t left = strlen(words), len; left && n + 4 < sizeof(line);
	     words += len, left -= len) {
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
	else if (err->code == EMFILE)
		put_line("  ", "ulimit -n N allows more");
}

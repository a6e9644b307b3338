/* SPDX-License-Identifier: MIT */
/* A command is a row: its name, its options, its function. */
#ifndef OUTPUT_COMMAND_H
#define OUTPUT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"

/*
 * Exit statuses of tare itself; a wrapped command's own status is passed through (128+n by signal).
 */
enum {
	/* --check found something, in every command that has it: a regression, a difference */
	EXIT_CHECK = 2,
	EXIT_CANNOT_MEASURE = 125, /* could not measure as requested; also bad usage */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* The user's question, by which `tare help` groups commands. */
enum topic { TOPIC_HOW_MUCH, TOPIC_WHERE, TOPIC_TRUST, TOPIC_MACHINE };

/* Where options may stand. */
enum words_place {
	WORDS_END_OPTIONS, /* before the first other word: the rest is a command line */
	WORDS_ANYWHERE,    /* also between the words, up to a "--" */
	WORDS_PARTED,      /* the same; a "--" after a word is kept, as it separates the words */
};

struct option_row; /* output/options/option.h */

struct command {
	const char *name;
	const char *about; /* one line */
	const char *args;  /* after the options: "[--] COMMAND [ARG...]" */
	/* one to three lines, each indented by two spaces: --help starts with it */
	const char *example;
	enum topic topic;
	bool common; /* listed by `tare help`; `tare help all` lists all */
	/* names of the options on the first screen of --help, in its order; NULL: all that fit */
	const char *common_options;
	enum words_place words;
	const struct option_row *options; /* ends with a row of zeros */
	/* argv[0] is the command's name */
	int (*run)(const struct command *self, int argc, char **argv);
};

/*
 * Parse argv by self->options into `into`. Returns the index of the first word that is not an
 * option: the others follow it; words between options are moved there. --help and --help=all are
 * printed, and it returns -1 with *status 0; on an error it prints one line (with the nearest
 * option) and returns -1 with *status EXIT_CANNOT_MEASURE.
 */
int options_parse(const struct command *self, int argc, char **argv, void *into, int *status);

/*
 * "tare stat: what" and "  hint" on stderr; a parse error also shows `text` with a caret at
 * err->at.
 */
void complain(const struct command *self, const struct tare_error *err, const char *text);

extern const struct command *const commands[]; /* ends with NULL */

#endif

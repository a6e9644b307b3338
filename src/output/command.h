/* SPDX-License-Identifier: MIT */
/* A command is a row: its words, its options, what it runs. */
#ifndef OUTPUT_COMMAND_H
#define OUTPUT_COMMAND_H

#include <stddef.h>
#include "base/error.h"

/* Exit statuses of tare itself; a wrapped command's own status is passed on (128+n by signal). */
enum {
	EXIT_CHECK = 2,		   /* what --check looks for was found, in every command that has it: a regression, a difference */
	EXIT_CANNOT_MEASURE = 125, /* could not measure what was asked; bad usage too */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* What a user wants to know; `tare help` groups commands by it. */
enum topic { TOPIC_HOW_MUCH, TOPIC_WHERE, TOPIC_TRUST, TOPIC_MACHINE };

/* Where options may stand. */
enum words_place {
	WORDS_END_OPTIONS, /* before the first other word: what follows is a command line */
	WORDS_ANYWHERE,	   /* between the words, too, up to a "--" */
	WORDS_PARTED,	   /* likewise; a "--" behind a word stays, because it parts the words */
};

struct option_row; /* output/options/option.h */

struct command {
	const char *name;
	const char *about;   /* one line */
	const char *args;    /* after the options: "[--] COMMAND [ARG...]" */
	const char *example; /* one to three lines, each indented by two spaces: --help begins with it */
	enum topic topic;
	enum words_place words;
	const struct option_row *options; /* ends with a row of zeros */
	int (*run)(const struct command *self, int argc, char **argv); /* argv[0] is the command's name */
};

/*
 * Parse argv by self->options into `into`. Returns the index of the first word that is no option: the others follow it, those
 * that stood between options were moved there. On --help prints it and returns -1 with *status 0; on a mistake
 * prints one line (nearest option named) and returns -1 with *status EXIT_CANNOT_MEASURE.
 */
int options_parse(const struct command *self, int argc, char **argv, void *into, int *status);

/* "tare stat: what" and "  hint" on stderr; a parse error also shows `text` with a caret at err->at. */
void complain(const struct command *self, const struct tare_error *err, const char *text);

extern const struct command *const commands[]; /* ends with NULL */

#endif

/* SPDX-License-Identifier: MIT */
/* Where results go: stderr, a descriptor or a file; and what a terminal there can show. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "view/style.h"
#include "base/error.h"

struct output {
	int fd;
	bool own, append;
	bool made; /* by us: it was not there */
	bool any;  /* something was written */
	const char *name; /* for messages */
};

/* path NULL: the descriptor `fd`; "-": standard output. */
int output_open(struct output *o, const char *path, bool append, int fd, struct tare_error *err);
/* All of it at once, then empties the text. -EPIPE: the reader is gone. */
int output_put(struct output *o, struct text *t, struct tare_error *err);
int output_close(struct output *o, struct tare_error *err);

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

/* By NO_COLOR, CLICOLOR_FORCE, TERM, COLUMNS and the locale's character set; see tare(1),
 * ENVIRONMENT. */
struct style output_style(const struct output *o, enum when colour);

/* A text of one piece on standard output or in a file. */
struct document {
	struct output to;
	struct style style;
	struct text out; /* add to it */
};

/* path as output_open() takes it. */
int document_open(struct document *d, const char *path, struct tare_error *err);
/* Writes it, closes, frees. -ENOMEM when the text could not be made. */
int document_close(struct document *d, struct tare_error *err);

#endif

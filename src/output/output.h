/* SPDX-License-Identifier: MIT */
/* Where results go: stderr, a descriptor or a file; and what a terminal there can show. */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include <limits.h>
#include "output/style.h"
#include "output/whole_file.h"
#include "base/error.h"

enum output_how {
	OUTPUT_WHOLE,  /* a file is there whole or not at all (output/whole_file.h); what was there stays until output_close() */
	OUTPUT_ROWS,   /* each put is in the file at once; what was there stays until the first, and nothing is put in part */
	OUTPUT_APPEND, /* so, behind what is there */
};

struct output {
	int fd;
	enum output_how how;
	bool own;
	bool regular; /* a file on a disk, that can be full */
	bool any;     /* something was written */
	bool failed;  /* something was not */
	struct whole_file file;
	const char *name; /* for messages */
	const char *made; /* the file that tare created for its rows, or NULL */
	char place[PATH_MAX];
};

/* path NULL: the descriptor `fd`; "-": standard output. */
int output_open(struct output *o, const char *path, enum output_how how, int fd, struct tare_error *err);
/* All of it at once, then empties the text. -EPIPE: the reader is gone. */
int output_put(struct output *o, struct text *t, struct tare_error *err);
/* Where nothing was put, or not all, a whole file stays as it was. After output_abandon() and a second time does nothing. */
int output_close(struct output *o, struct tare_error *err);
/* Not all of it could be made. */
void output_abandon(struct output *o);

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

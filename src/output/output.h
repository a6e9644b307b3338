/* SPDX-License-Identifier: MIT */
/* Output of results: stderr, a descriptor or a file; and the properties of a terminal there. */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include <limits.h>
#include "output/style.h"
#include "output/whole_file.h"
#include "base/error.h"

enum output_how {
	/*
	 * a file appears complete or not at all (output/whole_file.h); the old one stays until
	 * output_close()
	 */
	OUTPUT_WHOLE,
	/*
	 * each put is written at once; the old contents stay until the first one, and no put is
	 * written partially
	 */
	OUTPUT_ROWS,
	OUTPUT_APPEND, /* the same, after the existing contents */
};

struct output {
	int fd;
	enum output_how how;
	bool own;
	bool regular; /* a file on a disk, which may be full */
	bool any;     /* something was written */
	bool failed;  /* something failed */
	struct whole_file file;
	const char *name; /* for messages */
	const char *made; /* the file that tare created for its rows, or NULL */
	char place[PATH_MAX];
};

/* path NULL: the descriptor `fd`; "-": standard output. */
int output_open(struct output *o, const char *path, enum output_how how, int fd,
		struct tare_error *err);
/* Write all of the text, then empty it. -EPIPE: there is no reader. */
int output_put(struct output *o, struct text *t, struct tare_error *err);
/*
 * If nothing was put, or not everything, a whole file is left unchanged. After output_abandon(), or
 * when called again, does nothing.
 */
int output_close(struct output *o, struct tare_error *err);
/* The output is incomplete: discard it. */
void output_abandon(struct output *o);

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

/*
 * From NO_COLOR, CLICOLOR_FORCE, TERM, COLUMNS and the locale's character set; see tare(1),
 * ENVIRONMENT.
 */
struct style output_style(const struct output *o, enum when colour);

/* A complete text on standard output or in a file. */
struct document {
	struct output to;
	struct style style;
	struct text out; /* append to it */
};

/* path as for output_open(). */
int document_open(struct document *d, const char *path, struct tare_error *err);
/* Write it, close, free. -ENOMEM if the text ran out of memory. */
int document_close(struct document *d, struct tare_error *err);

#endif

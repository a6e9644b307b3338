/* SPDX-License-Identifier: MIT */
/* What the commands that look at recordings share: form and place of their output, and how they end. */
#ifndef CLI_REGIONS_FORM_H
#define CLI_REGIONS_FORM_H

#include "output/options/output_options.h"

enum { EXIT_DAMAGED = 1 /* a recording is damaged: what could be read was reported */ };

/* Member `form` of a command's options. */
struct form {
	struct output_options out; /* its page: in addition */
	size_t top;		   /* rows; 0: all */
	bool top_given;
	const char *by, *match; /* of recordings of regions: only this counter, only labels with this text; NULL: all */
};

/* Blocks: how many rows; and which, of the commands that look at recordings of regions. */
extern const struct option_row form_top_rows[], form_region_rows[];

#define FORM_ROWS(schema)                                                                                              \
	BLOCK_ROW(form, form_top_rows),                                                                                \
	OUTPUT_FORMAT_ROWS(form.out, "text (default), json (schema " schema ") or csv", "text", "json", "csv"),        \
	BLOCK_ROW(form.out, output_file_rows), BLOCK_ROW(form.out, output_colour_rows)

/* -EINVAL where two of the paths lead to one file: a run that is added twice is not two. */
int form_each_once(char *const *files, size_t n, struct tare_error *err);
struct command;
/* out[i]: the first of the files with the very content of file i, which is i itself where no file before it has. What has is told on stderr: a
 * copy is no further run. Reads a file as far as one of the same size is the same. The caller frees. */
int form_copies(size_t **out, const struct command *self, char *const *files, size_t n, struct tare_error *err);

/* A recording is damaged, or not (NULL), which is returned; and it is being written (timeline_info.live). Text and json say it in their
 * place; csv has none, and stderr does. */
bool form_damage(const struct command *self, const struct form *form, const char *path, const char *damage, const char *live);

struct labels;
/* -EINVAL where --match was given and none of the labels has that text. */
int form_some_match(const struct form *form, const struct labels *l, struct tare_error *err);

struct opened_output {
	struct output to;
	struct style style;
};

/* Where it goes; opened before the work, so that what cannot be written is said at once. */
int form_open(struct opened_output *o, const struct form *r, struct tare_error *err);
int form_close(struct opened_output *o, struct text *out, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* What the commands that look at recordings share: form and place of their output, and how they end. */
#ifndef CLI_REGIONS_FORM_H
#define CLI_REGIONS_FORM_H

#include "output/options/option.h"
#include "output/output.h"

enum { EXIT_DAMAGED = 1 /* a recording is damaged: what could be read was reported */ };

enum form_kind { FORM_TEXT, FORM_JSON, FORM_CSV };

/* First member of a command's options. */
struct form {
	enum form_kind kind;
	const char *path; /* NULL: standard output */
	enum when colour;
	size_t top;	  /* rows; 0: all */
	bool top_given;
	const char *html; /* a page, too; NULL: none */
	const char *by, *match; /* of recordings of regions: only this counter, only labels with this text; NULL: all */
};

int form_set_format(void *options, const char *arg, struct tare_error *err);
int form_set_output(void *options, const char *arg, struct tare_error *err);
int form_set_colour(void *options, const char *arg, struct tare_error *err);
int form_set_top(void *options, const char *arg, struct tare_error *err);

#define FORM_OPTIONS(schema)                                                                                             \
	{ 0, "top", "N", "show so many rows (text: 30 by default; json and csv: all); 0: all", SPECIAL_ALL(form_set_top) },           \
	{ 0, "format", "FORMAT", "text (default), json (schema " schema ") or csv", SPECIAL_ALL(form_set_format) },                    \
	{ 'o', "output", "FILE", "write there instead of standard output", SPECIAL_ALL(form_set_output) },                            \
	{ 0, "color", "WHEN", NULL, SPECIAL_ALL(form_set_colour) }

int form_set_html(void *options, const char *arg, struct tare_error *err);

/* Of the commands that write a page (cli/regions/region_page.h). */
#define FORM_HTML_OPTION { 0, "html", "FILE", "write a page there, too: opens in a browser, offline", SPECIAL_ALL(form_set_html) }

int form_set_by(void *options, const char *arg, struct tare_error *err);
int form_set_match(void *options, const char *arg, struct tare_error *err);

/* Of the commands that look at recordings of regions. */
#define FORM_REGION_OPTIONS                                                     \
	{ 0, "by", "COUNTER", "only this counter", SPECIAL_ALL(form_set_by) },               \
	{ 0, "match", "TEXT", "only labels that contain TEXT", SPECIAL_ALL(form_set_match) }

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

/* SPDX-License-Identifier: MIT */
/* The options that say in which form a result is written, and where. */
#ifndef OUTPUT_OPTIONS_OUTPUT_OPTIONS_H
#define OUTPUT_OPTIONS_OUTPUT_OPTIONS_H

#include "output/json.h"
#include "output/options/option.h"
#include "output/output.h"

/* A command that has others counts on from FORMAT_OTHER. */
struct output_options {
	int format;       /* enum output_format, or one of the command's own */
	const char *path; /* NULL: standard output */
	const char *html; /* a page; NULL: none */
	enum when colour;
};

/* --format and -j of the member `m`, a struct output_options; words in the order of the enum. */
#define OUTPUT_FORMAT_ROWS(m, about_, ...)                                                         \
	{ 0, "format", "FORMAT", about_, WORD(m.format, "format", __VA_ARGS__) },                  \
	{                                                                                          \
		'j', "json", NULL, "the same as --format json", VALUE(m.format, FORMAT_JSON)       \
	}
#define OUTPUT_HTML_ROW(m, about_)                                                                 \
	{                                                                                          \
		0, "html", "FILE", about_, OUTPUT_FILE(m.html)                                     \
	}

/* Blocks: where it is written; and its colours, of commands that have them. */
extern const struct option_row output_file_rows[], output_colour_rows[];

#endif

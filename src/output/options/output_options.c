/* SPDX-License-Identifier: MIT */
#include "output/options/output_options.h"

#define OPTIONS struct output_options

const struct option_row output_file_rows[] = {
	{ 'o', "output", "FILE", "write to FILE instead of standard output", OUTPUT_FILE(path) },
	{ 0 },
};

const struct option_row output_colour_rows[] = {
	{ 0, "color", "WHEN", NULL, WORD(colour, NULL, "auto", "always", "never") },
	{ 0 },
};

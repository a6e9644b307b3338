/* SPDX-License-Identifier: MIT */
/* Options shared by the commands that read recordings: output format and destination, and exit
 * statuses. */
#ifndef CLI_REGIONS_RECORDING_OPTIONS_H
#define CLI_REGIONS_RECORDING_OPTIONS_H

#include "output/options/output_options.h"

enum { EXIT_DAMAGED = 1 /* a recording is damaged: the readable part was reported */ };

/* Member `form` of a command's options. */
struct recording_options {
	struct output_options out; /* an additional HTML page */
	size_t top;                /* rows; 0: all */
	bool top_given;
	const char *by, *match; /* for recordings of regions: only this counter, only labels that
				 * contain this text; NULL: all */
};

/* Option blocks: the number of rows; and the filters of commands that read recordings of
 * regions. */
extern const struct option_row recording_top_rows[], recording_region_rows[];

#define RECORDING_ROWS(schema)                                                                     \
	BLOCK_ROW(form, recording_top_rows),                                                       \
		OUTPUT_FORMAT_ROWS(form.out, "text (default), json (schema " schema ") or csv",    \
				   "text", "json", "csv"),                                         \
		BLOCK_ROW(form.out, output_file_rows), BLOCK_ROW(form.out, output_colour_rows)

/* -EINVAL if two of the paths are the same file: the same run must not count twice. */
int recording_each_once(char *const *files, size_t n, struct tare_error *err);
struct command;
/* out[i]: the first file with the same content as file i; i itself if there is none before it.
 * Reports copies on stderr, because a copy is not a further run. Reads a file only as far as
 * another one of the same size is identical. The caller frees *out. */
int recording_copies(size_t **out, const struct command *self, char *const *files, size_t n,
		     struct tare_error *err);

/* Returns whether the recording is damaged. `damage` describes the damage and `live` a recording
 * still being written (timeline_info.live); NULL if not. Text and json have a field for both;
 * for csv they are printed on stderr. */
bool recording_damage(const struct command *self, const struct recording_options *form,
		      const char *path, const char *damage, const char *live);

struct labels;
/* -EINVAL if --match was given and no label contains that text. */
int recording_some_match(const struct recording_options *form, const struct labels *l,
			 struct tare_error *err);

struct opened_output {
	struct output to;
	struct style style;
};

/* Opens the destination before the work, so that an error is reported at once. */
int recording_open(struct opened_output *o, const struct recording_options *r,
		   struct tare_error *err);
int recording_close(struct opened_output *o, struct text *out, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* Options shared by the commands that read recordings of samples: the file, the filters, where
 * names come from, and the output. */
#ifndef CLI_SAMPLES_SAMPLE_OPTIONS_H
#define CLI_SAMPLES_SAMPLE_OPTIONS_H

#include "memory/memory_samples.h"
#include "profile/samples.h"
#include "cli/regions/recording_options.h"

enum { EXIT_PARTIAL_FILE = 1 }; /* the file is damaged: the part before the damage was reported */

/* Member `common` of each such command's options. */
struct sample_options {
	struct samples_options read;
	struct output_options out;
	const char *input;
	const char *module, *function; /* of --filter, for the rows */
	const char *event;             /* NULL: the first one */
	bool skid;                     /* --skid, */
	const char *skid_file;         /* the file's path; NULL: the stored one */
	char *filter[4];               /* private: the lists, split */
};

#define SAMPLE_OPTIONS_INIT                                                                        \
	{                                                                                          \
		.read = {.filter = SAMPLES_ALL }                                                   \
	}

/* Option blocks: for commands that show functions and instructions; for memory accesses; for the
 * measured skid. */
extern const struct option_row sample_rows[], access_rows[], sample_skid_rows[];

/* src/cli/samples/access_options.c */
int access_options_check(const struct sample_options *o, struct tare_error *err);
struct memory_samples_options access_options(const struct sample_options *o);
int access_one_file(const struct sample_options *o, int argc, char **argv, int rest,
		    struct tare_error *err);
/* -ENODATA with the reason if no sample was `used`; `others`: samples of operations that are not
 * accesses. */
int access_any(const struct memory_samples *c, const char *path, uint64_t used, uint64_t others,
	       struct tare_error *err);

/* Opens the output; recording_close() closes it. */
int sample_open(struct opened_output *to, const struct sample_options *o, struct tare_error *err);
void sample_options_free(struct sample_options *o);

/* The known skid. Without --skid an unreadable skid file counts as missing. Call
 * skids_kept_free() after use. */
struct skids_kept;
int sample_load_skid(struct skids_kept *out, const struct sample_options *o,
		     struct tare_error *err);

/* The input file, from -i or the argument after the options. */
const char *sample_path(const struct sample_options *o, int argc, char **argv, int rest);

#endif

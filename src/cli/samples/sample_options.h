/* SPDX-License-Identifier: MIT */
/* What the commands that read recordings of samples have in common: which file, which samples, where
 * names come from, and where the answer goes. */
#ifndef CLI_SAMPLES_SAMPLE_OPTIONS_H
#define CLI_SAMPLES_SAMPLE_OPTIONS_H

#include "memory/accessed.h"
#include "profile/samples.h"
#include "cli/regions/form.h"

enum { EXIT_PARTIAL_FILE = 1 }; /* the file is damaged: what was before the damage was shown */

/* Member `common` of each such command's options. */
struct sample_options {
	struct samples_options read;
	struct output_options out;
	const char *input;
	const char *module, *function; /* of --filter, for the rows */
	const char *event;	       /* NULL: the first one */
	bool skid;		/* --skid, */
	const char *skid_file;	/* with a file; NULL: what is kept */
	char *filter[4]; /* private: the lists, cut up */
};

#define SAMPLE_OPTIONS_INIT { .read = { .filter = SAMPLES_ALL } }

/* Blocks: of those that show functions and instructions; of those about accesses to memory; what precise sampling is measured against. */
extern const struct option_row sample_rows[], access_rows[], sample_skid_rows[];

/* src/cli/samples/access_options.c */
int access_options_check(const struct sample_options *o, struct tare_error *err);
struct accessed_options access_options(const struct sample_options *o);
int access_one_file(const struct sample_options *o, int argc, char **argv, int rest, struct tare_error *err);
/* -ENODATA, with the reason, when none was `used`; `others`: samples of operations that are no access. */
int access_any(const struct accessed *c, const char *path, uint64_t used, uint64_t others, struct tare_error *err);

/* Where the answer goes; form_close() ends it. */
int sample_open(struct opened_output *to, const struct sample_options *o, struct tare_error *err);
void sample_options_free(struct sample_options *o);

/* What is known of skid. Without --skid a file of it that cannot be read is none. skids_kept_free() after use. */
struct skids_kept;
int sample_load_skid(struct skids_kept *out, const struct sample_options *o, struct tare_error *err);

/* The file that is meant, from -i or the word behind the options. */
const char *sample_path(const struct sample_options *o, int argc, char **argv, int rest);

#endif

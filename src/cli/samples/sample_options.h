/* SPDX-License-Identifier: MIT */
/* What the commands that read recordings of samples have in common: which file, which samples, where
 * names come from, and where the answer goes. */
#ifndef CLI_SAMPLES_SAMPLE_OPTIONS_H
#define CLI_SAMPLES_SAMPLE_OPTIONS_H

#include "memory/accessed.h"
#include "profile/samples.h"
#include "output/options/option.h"
#include "cli/regions/form.h"

enum sample_format { SAMPLE_TEXT, SAMPLE_JSON, SAMPLE_CSV };

enum { EXIT_PARTIAL_FILE = 1 }; /* the file is damaged: what was before the damage was shown */

/* The first member of each such command's options. */
struct sample_options {
	struct samples_options read;
	const char *input, *output;
	const char *module, *function; /* of --filter, for the rows */
	const char *event;	       /* NULL: the first one */
	enum sample_format format;
	enum when colour;
	bool skid;		/* --skid, */
	const char *skid_file;	/* with a file; NULL: what is kept */
	char *filter[4]; /* private: the lists, cut up */
};

#define SAMPLE_OPTIONS_INIT { .read = { .filter = SAMPLES_ALL } }

int sample_set_input(void *options, const char *arg, struct tare_error *err);
int sample_set_output(void *options, const char *arg, struct tare_error *err);
int sample_set_event(void *options, const char *arg, struct tare_error *err);
int sample_set_filter(void *options, const char *arg, struct tare_error *err);
int sample_set_symfs(void *options, const char *arg, struct tare_error *err);
int sample_set_force_names(void *options, const char *arg, struct tare_error *err);
int sample_set_debuginfod(void *options, const char *arg, struct tare_error *err);
int sample_set_kallsyms(void *options, const char *arg, struct tare_error *err);
int sample_set_format(void *options, const char *arg, struct tare_error *err);
int sample_set_colour(void *options, const char *arg, struct tare_error *err);
int sample_set_skid(void *options, const char *arg, struct tare_error *err);

/* Their rows, for a command's table. */
#define SAMPLE_OPTION_ROWS                                                                         \
	{ 'i', "input", "FILE", "the recording; default perf.data, - is standard input",           \
	  SPECIAL_ALL(sample_set_input) },                                                                      \
	{ 'e', "event", "EVENT", "sort by this event; default: the first", SPECIAL_ALL(sample_set_event) },     \
	{ 0, "filter", "LIST", "only comm=,pid=,tid=,cpu=,from=,to=,module=,function=",            \
	  SPECIAL_ALL(sample_set_filter) },                                                                     \
	{ 0, "symfs", "DIR", "find the programs' files under DIR", SPECIAL_ALL(sample_set_symfs) },             \
	{ 0, "kallsyms", "FILE", "take kernel symbols from FILE", SPECIAL_ALL(sample_set_kallsyms) },           \
	{ 0, "force-names", NULL, "use files here that may not be those that ran", SPECIAL_ALL(sample_set_force_names) }, \
	{ 0, "debuginfod", NULL, "ask the servers of DEBUGINFOD_URLS for debug files", SPECIAL_ALL(sample_set_debuginfod) }, \
	{ 0, "format", "FORMAT", "text, json or csv", SPECIAL_ALL(sample_set_format) },                         \
	{ 'o', "output", "FILE", "write there; default: standard output", SPECIAL_ALL(sample_set_output) },     \
	{ 0, "color", "WHEN", NULL, SPECIAL_ALL(sample_set_colour) }

/* Those of the commands about accesses to memory. */
#define ACCESS_OPTION_ROWS                                                                         \
	{ 'i', "input", "FILE", "the recording; default perf.data, - is standard input",           \
	  SPECIAL_ALL(sample_set_input) },                                                                      \
	{ 0, "filter", "LIST", "only comm=,pid=,tid=,cpu=,from=,to=", SPECIAL_ALL(sample_set_filter) },         \
	{ 0, "symfs", "DIR", "find the programs' files under DIR", SPECIAL_ALL(sample_set_symfs) },             \
	{ 0, "kallsyms", "FILE", "take kernel symbols from FILE", SPECIAL_ALL(sample_set_kallsyms) },           \
	{ 0, "force-names", NULL, "use files here that may not be those that ran", SPECIAL_ALL(sample_set_force_names) }, \
	{ 0, "debuginfod", NULL, "ask the servers of DEBUGINFOD_URLS for debug files", SPECIAL_ALL(sample_set_debuginfod) }, \
	{ 0, "format", "FORMAT", "text, json or csv", SPECIAL_ALL(sample_set_format) },                         \
	{ 'o', "output", "FILE", "write there; default: standard output", SPECIAL_ALL(sample_set_output) },     \
	{ 0, "color", "WHEN", NULL, SPECIAL_ALL(sample_set_colour) }

/* What precise sampling is measured against; of those that show functions and instructions. */
#define SAMPLE_SKID_ROW                                                                            \
	{ 0, "skid", "[FILE]", "how far samples lie from their cause, as tare verify skid found",  \
	  SPECIAL_ALL(sample_set_skid) }

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

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "cli/common_options.h"
#include "cli/samples/sample_options.h"
#include "cli/trust/skid_file.h"

int sample_load_skid(struct skids_kept *out, const struct sample_options *o, struct tare_error *err)
{
	struct tare_error unsaid = TARE_ERROR_INIT;
	int ret = skid_load(out, o->skid_file, o->skid ? err : &unsaid);

	return o->skid ? ret : 0;
}

static int parse_number(const char *value, int64_t *out, struct tare_error *err)
{
	uint64_t v;
	int ret = num_parse(value, &v, err);

	if (ret == 0 && v > UINT32_MAX)
		return tare_fail(err, ERANGE, "%s is too large", value);
	*out = (int64_t)v;
	return ret;
}

static int set_filter(void *options, const char *arg, struct tare_error *err)
{
	struct sample_options *o = options;
	struct samples_filter *f = &o->read.filter;
	char *words, *next;
	size_t n = 0;
	int ret;

	while (n < ARRAY_SIZE(o->filter) && o->filter[n])
		n++;
	if (n == ARRAY_SIZE(o->filter))
		return tare_fail(err, E2BIG,
				 "given more than %zu times: one list may have all keys", n);
	words = o->filter[n] = strdup(arg);
	ret = words ? 0 : tare_fail_nomem(err);

	for (char *word = words; ret == 0 && word; word = next) {
		char *value = strchr(word, '=');

		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		value = value && (!next || value < next) ? value : NULL;
		if (!value || !value[1]) {
			ret = tare_fail(err, EINVAL, "'%.80s' is not KEY=VALUE", word);
			tare_hint(
				err,
				"such as comm=gcc,module=*libc*; keys: comm pid tid cpu from to module function");
			break;
		}
		*value++ = '\0';
		if (!strcmp(word, "comm"))
			f->comm = value;
		else if (!strcmp(word, "module") || !strcmp(word, "dso"))
			o->module = value;
		else if (!strcmp(word, "function") || !strcmp(word, "symbol"))
			o->function = value;
		else if (!strcmp(word, "pid"))
			ret = parse_number(value, &f->pid, err);
		else if (!strcmp(word, "tid"))
			ret = parse_number(value, &f->tid, err);
		else if (!strcmp(word, "cpu"))
			ret = parse_number(value, &f->cpu, err);
		else if (!strcmp(word, "from"))
			ret = num_parse_ns(value, 1000000000, &f->from_ns, err);
		else if (!strcmp(word, "to"))
			ret = num_parse_ns(value, 1000000000, &f->to_ns, err);
		else
			ret = tare_fail(
				err, EINVAL,
				"'%.40s' is not one of comm, pid, tid, cpu, from, to, module, function",
				word);
	}
	return ret;
}

#define OPTIONS struct sample_options

#define INPUT_ROW                                                                                  \
	{                                                                                          \
		'i', "input", "FILE", "the recording; default perf.data, - is standard input",     \
			TEXT(input, NULL)                                                          \
	}
#define NAMES_AND_OUTPUT_ROWS                                                                      \
	{ 0, "symfs", "DIR", "find the programs' files under DIR", DIRECTORY(read.symfs) },        \
		{ 0, "kallsyms", "FILE", "take kernel symbols from FILE",                          \
		  INPUT_FILE(read.kallsyms) },                                                     \
		{ 0, "force-names", NULL, "use local files that may differ from those that ran",   \
		  FLAG(read.force_names) },                                                        \
		DEBUGINFOD_ROW("ask the servers of DEBUGINFOD_URLS for debug files"),              \
		OUTPUT_FORMAT_ROWS(out, "text, json or csv", "text", "json", "csv"),               \
		BLOCK_ROW(out, output_file_rows), BLOCK_ROW(out, output_colour_rows)

const struct option_row sample_rows[] = {
	INPUT_ROW,
	{ 'e', "event", "EVENT", "sort by this event; default: the first", TEXT(event, NULL) },
	{ 0, "filter", "LIST",
	  "only comm=,pid=,tid=,cpu=,from=,to=,module=,function=", SPECIAL_ALL(set_filter) },
	NAMES_AND_OUTPUT_ROWS,
	{ 0 },
};

const struct option_row access_rows[] = {
	INPUT_ROW,
	{ 0, "filter", "LIST", "only comm=,pid=,tid=,cpu=,from=,to=", SPECIAL_ALL(set_filter) },
	NAMES_AND_OUTPUT_ROWS,
	{ 0 },
};

const struct option_row sample_skid_rows[] = {
	{ 0, "skid", "[FILE]",
	  "distance of samples from their cause, as measured by tare verify skid",
	  TEXT(skid_file, NULL), GIVEN(skid) },
	{ 0 },
};

int sample_open(struct opened_output *to, const struct sample_options *o, struct tare_error *err)
{
	const struct recording_options f = { .out = o->out };

	return recording_open(to, &f, err);
}

void sample_options_free(struct sample_options *o)
{
	for (size_t i = 0; i < ARRAY_SIZE(o->filter); i++)
		free(o->filter[i]);
}

const char *sample_path(const struct sample_options *o, int argc, char **argv, int rest)
{
	return o->input ? o->input : rest < argc ? argv[rest] : "perf.data";
}

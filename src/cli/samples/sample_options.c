/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "symbols/debug_servers.h"
#include "base/num.h"
#include "output/input.h"
#include "cli/samples/sample_options.h"
#include "cli/trust/skid_file.h"

int sample_set_input(void *options, const char *arg, struct tare_error *err)
{
	(void)err;
	((struct sample_options *)options)->input = arg;
	return 0;
}

int sample_set_output(void *options, const char *arg, struct tare_error *err)
{
	(void)err;
	((struct sample_options *)options)->output = arg;
	return 0;
}

int sample_set_event(void *options, const char *arg, struct tare_error *err)
{
	(void)err;
	((struct sample_options *)options)->event = arg;
	return 0;
}

int sample_set_symfs(void *options, const char *arg, struct tare_error *err)
{
	(void)err;
	((struct sample_options *)options)->read.symfs = arg;
	return 0;
}

int sample_set_force_names(void *options, const char *arg, struct tare_error *err)
{
	(void)arg, (void)err;
	((struct sample_options *)options)->read.force_names = true;
	return 0;
}

int sample_set_debuginfod(void *options, const char *arg, struct tare_error *err)
{
	(void)options, (void)arg;
	return debug_servers_use(err);
}

int sample_set_kallsyms(void *options, const char *arg, struct tare_error *err)
{
	(void)err;
	((struct sample_options *)options)->read.kallsyms = arg;
	input_note(arg);
	return 0;
}

int sample_set_format(void *options, const char *arg, struct tare_error *err)
{
	static const char *const names[] = { "text", "json", "csv" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(arg, names[i])) {
			((struct sample_options *)options)->format = (enum sample_format)i;
			return 0;
		}
	return tare_fail(err, EINVAL, "'%.40s' is not one of text, json, csv", arg);
}

int sample_set_skid(void *options, const char *arg, struct tare_error *err)
{
	struct sample_options *o = options;

	(void)err;
	o->skid = true;
	o->skid_file = arg;
	return 0;
}

int sample_load_skid(struct skids_kept *out, const struct sample_options *o, struct tare_error *err)
{
	struct tare_error unsaid = TARE_ERROR_INIT;
	int ret = skid_load(out, o->skid_file, o->skid ? err : &unsaid);

	return o->skid ? ret : 0;
}

int sample_set_colour(void *options, const char *arg, struct tare_error *err)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(arg, names[i])) {
			((struct sample_options *)options)->colour = (enum when)i;
			return 0;
		}
	return tare_fail(err, EINVAL, "'%.40s' is not one of auto, always, never", arg);
}

static int number(const char *value, int64_t *out, struct tare_error *err)
{
	uint64_t v;
	int ret = num_parse(value, &v, err);

	if (ret == 0 && v > UINT32_MAX)
		return tare_fail(err, ERANGE, "%s is too large", value);
	*out = (int64_t)v;
	return ret;
}

int sample_set_filter(void *options, const char *arg, struct tare_error *err)
{
	struct sample_options *o = options;
	struct samples_filter *f = &o->read.filter;
	char *words, *next;
	size_t n = 0;
	int ret;

	while (n < ARRAY_SIZE(o->filter) && o->filter[n])
		n++;
	if (n == ARRAY_SIZE(o->filter))
		return tare_fail(err, E2BIG, "more than %zu times: one list may have all keys", n);
	words = o->filter[n] = strdup(arg);
	ret = words ? 0 : tare_fail_nomem(err);

	for (char *word = words; ret == 0 && word; word = next) {
		char *value = strchr(word, '=');

		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		value = value && (!next || value < next) ? value : NULL;
		if (!value || !value[1]) {
			ret = tare_fail(err, EINVAL, "'%.80s' is no KEY=VALUE", word);
			tare_hint(err, "such as comm=gcc,module=*libc*; keys: comm pid tid cpu from to module function");
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
			ret = number(value, &f->pid, err);
		else if (!strcmp(word, "tid"))
			ret = number(value, &f->tid, err);
		else if (!strcmp(word, "cpu"))
			ret = number(value, &f->cpu, err);
		else if (!strcmp(word, "from"))
			ret = num_parse_ns(value, 1000000000, &f->from_ns, err);
		else if (!strcmp(word, "to"))
			ret = num_parse_ns(value, 1000000000, &f->to_ns, err);
		else
			ret = tare_fail(err, EINVAL,
					"'%.40s' is not one of comm, pid, tid, cpu, from, to, module, function",
					word);
	}
	return ret;
}

int sample_open(struct opened_output *to, const struct sample_options *o, struct tare_error *err)
{
	const struct form f = { .path = o->output, .colour = o->colour };

	return form_open(to, &f, err);
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

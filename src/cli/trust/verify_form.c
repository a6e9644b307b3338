/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/num.h"
#include "cli/trust/verify.h"

int verify_set_format(void *options, const char *arg, struct tare_error *err)
{
	if (strcmp(arg, "text") && strcmp(arg, "json"))
		return tare_fail(err, EINVAL, "there is no format '%.32s': text or json", arg);
	((struct verify_form *)options)->json = !strcmp(arg, "json");
	return 0;
}

int verify_set_output(void *options, const char *arg, struct tare_error *err)
{
	((struct verify_form *)options)->output = arg;
	return *arg ? 0 : tare_fail(err, EINVAL, "the name of a file is wanted");
}

int verify_set_timeout(void *options, const char *arg, struct tare_error *err)
{
	struct verify_form *o = options;
	int ret = num_parse_ns(arg, 1000000, &o->timeout_ns, err);

	return ret < 0 || o->timeout_ns ? ret : tare_fail(err, EINVAL, "a time above 0 is wanted");
}

void verify_say_kept(const struct verify_form *form, bool in_result, const char *name, const char *path)
{
	if (form->output || !in_result)
		fprintf(stderr, "tare %s: results are kept in %s; --no-store keeps nothing\n", name, path);
}

static void tell_input(void *with)
{
	const struct command *self = with;

	fprintf(stderr, "tare %s: standard input is being read to its end, as each run is given the same; where the command needs none: </dev/null\n",
		self->name);
}

int verify_begin_input(const struct command *self, const struct verify_form *form, struct same_input *in, struct tare_error *err)
{
	if (isatty(STDIN_FILENO))
		fprintf(stderr, "tare %s: standard input is a terminal, which each run reads anew; to give each the same: < FILE\n", self->name);
	return same_input_begin(in, form->timeout_ns, tell_input, (void *)self, err);
}

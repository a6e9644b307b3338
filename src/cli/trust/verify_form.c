/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>
#include "cli/trust/verify.h"

#define OPTIONS struct verify_form

const struct option_row verify_timeout_rows[] = {
	{ 0, "timeout", "MS", "time limit of one run; a longer one is an error",
	  DURATION(timeout_ns, 1000000, 1), .refusal = "the time must be above 0" },
	{ 0 },
};

void verify_say_kept(const struct verify_form *form, bool in_result, const char *name,
		     const char *path)
{
	if (form->out.path || !in_result)
		fprintf(stderr, "tare %s: results are stored in %s; --no-store stores nothing\n",
			name, path);
}

static void tell_input(void *with)
{
	const struct command *self = with;

	fprintf(stderr,
		"tare %s: reading standard input to its end, because each run gets the same; if the command needs none: </dev/null\n",
		self->name);
}

int verify_begin_input(const struct command *self, const struct verify_form *form,
		       struct stdin_replay *in, struct tare_error *err)
{
	if (isatty(STDIN_FILENO))
		fprintf(stderr,
			"tare %s: standard input is a terminal, which each run reads separately; to give all the same: < FILE\n",
			self->name);
	return stdin_replay_begin(in, form->timeout_ns, tell_input, (void *)self, err);
}

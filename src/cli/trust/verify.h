/* SPDX-License-Identifier: MIT */
/* The kinds of `tare verify`: each is a command in its own file, with a row in cmd_verify.c. */
#ifndef CLI_TRUST_VERIFY_H
#define CLI_TRUST_VERIFY_H

#include <stdbool.h>
#include <stdint.h>
#include "output/options/output_options.h"
#include "launch/stdin_replay.h"

/* Exit statuses of all kinds, in addition to EXIT_CANNOT_MEASURE. */
enum {
	EXIT_VERIFIED = 0,
	EXIT_NOT_VERIFIED = 1,     /* the test ran and failed */
	EXIT_NOTHING_VERIFIED = 2, /* it ran, and this machine has nothing that it can verify */
};

/* Member `form` of the options of each kind, and of tare diverge. */
struct verify_form {
	struct output_options out;
	uint64_t
		/* for one run of a command, and for reading its standard input; 0: none */
		timeout_ns;
};

#define VERIFY_OUTPUT_ROWS(schema)                                                                 \
	OUTPUT_FORMAT_ROWS(form.out, "text (default) or json (schema " schema ")", "text",         \
			   "json"),                                                                \
		BLOCK_ROW(form.out, output_file_rows)
extern const struct option_row verify_timeout_rows[]; /* an option block */

/* stdin_replay_begin(); prints on standard error what the user may have to do for it. */
int verify_begin_input(const struct command *self, const struct verify_form *form,
		       struct stdin_replay *in, struct tare_error *err);

/* Prints on standard error where results were stored for other commands, if -o redirects the
 * result or the result does not contain the path. */
void verify_say_kept(const struct verify_form *form, bool in_result, const char *name,
		     const char *path);

/* `name` is "verify KIND", as in messages and --help; run() gets KIND as argv[0]. */
extern const struct command *const verify_kinds[]; /* ends with NULL */

#endif

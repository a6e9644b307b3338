/* SPDX-License-Identifier: MIT */
/* The kinds of `tare verify`: each a command of its own, in a file of its own, with a row in cmd_verify.c. */
#ifndef CLI_TRUST_VERIFY_H
#define CLI_TRUST_VERIFY_H

#include <stdbool.h>
#include <stdint.h>
#include "output/options/output_options.h"
#include "launch/same_input.h"

/* Exit statuses of all kinds, beside EXIT_CANNOT_MEASURE. */
enum {
	EXIT_VERIFIED = 0,
	EXIT_NOT_VERIFIED = 1, /* it was tried, and the result says no */
};

/* Member `form` of the options of each kind, and of tare diverge. */
struct verify_form {
	struct output_options out;
	uint64_t timeout_ns; /* of one run of a command, and of reading its standard input; 0: none */
};

#define VERIFY_OUTPUT_ROWS(schema)                                                                                     \
	OUTPUT_FORMAT_ROWS(form.out, "text (default) or json (schema " schema ")", "text", "json"),                    \
	BLOCK_ROW(form.out, output_file_rows)
extern const struct option_row verify_timeout_rows[]; /* a block */

/* same_input_begin(); what a user may have to do for it is said on standard error. */
int verify_begin_input(const struct command *self, const struct verify_form *form, struct same_input *in, struct tare_error *err);

/* Where results were kept for other commands, on standard error, if -o takes the result elsewhere or it does not say so. */
void verify_say_kept(const struct verify_form *form, bool in_result, const char *name, const char *path);

/* `name` is "verify KIND", as messages and --help show it; run() gets argv[0] as KIND. */
extern const struct command *const verify_kinds[]; /* ends with NULL */

#endif

/* SPDX-License-Identifier: MIT */
/* The kinds of `tare verify`: each a command of its own, in a file of its own, with a row in cmd_verify.c. */
#ifndef CLI_TRUST_VERIFY_H
#define CLI_TRUST_VERIFY_H

#include <stdbool.h>
#include <stdint.h>
#include "output/command.h"
#include "launch/same_input.h"

/* Exit statuses of all kinds, beside EXIT_CANNOT_MEASURE. */
enum {
	EXIT_VERIFIED = 0,
	EXIT_NOT_VERIFIED = 1, /* it was tried, and the result says no */
};

/* First member of the options of each kind, and of tare diverge. */
struct verify_form {
	bool json;
	const char *output;  /* NULL: standard output */
	uint64_t timeout_ns; /* of one run of a command, and of reading its standard input; 0: none */
};

int verify_set_format(void *options, const char *arg, struct tare_error *err);
int verify_set_output(void *options, const char *arg, struct tare_error *err);
int verify_set_timeout(void *options, const char *arg, struct tare_error *err);

/* same_input_begin(); what a user may have to do for it is said on standard error. */
int verify_begin_input(const struct command *self, const struct verify_form *form, struct same_input *in, struct tare_error *err);

/* Where results were kept for other commands, on standard error, if -o takes the result elsewhere or it does not say so. */
void verify_say_kept(const struct verify_form *form, bool in_result, const char *name, const char *path);

/* `name` is "verify KIND", as messages and --help show it; run() gets argv[0] as KIND. */
extern const struct command *const verify_kinds[]; /* ends with NULL */

#endif

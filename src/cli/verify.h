/* SPDX-License-Identifier: MIT */
/* The kinds of `tare verify`: each a command of its own, in a file of its own, with a row in cmd_verify.c. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "cli/command.h"

/* Exit statuses of all kinds, beside EXIT_CANNOT_MEASURE. */
enum {
	EXIT_VERIFIED = 0,
	EXIT_NOT_VERIFIED = 1, /* it was tried, and the result says no */
};

/* `name` is "verify KIND", as messages and --help show it; run() gets argv[0] as KIND. */
extern const struct command *const verify_kinds[]; /* ends with NULL */

#endif

/* SPDX-License-Identifier: MIT */
/* The list of commands: one row each. */
#include "cli/command.h"

const struct command *const commands[] = {
	NULL,
};

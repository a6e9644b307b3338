/* SPDX-License-Identifier: MIT */
/* The list of commands: one row each. */
#include "cli/command.h"

extern const struct command cmd_doctor;

const struct command *const commands[] = {
	&cmd_doctor,
	NULL,
};

/* SPDX-License-Identifier: MIT */
/* Messages of the commands that start a command with fixed items. */
#ifndef LAUNCH_DETERMINISM_WARN_H
#define LAUNCH_DETERMINISM_WARN_H

#include "output/command.h"
#include "launch/determinism.h"

/*
 * On stderr: one line for each requested item that failed, and one if a program ran without its
 * rights.
 */
void determinism_warn_missed(const struct command *self, const struct determinism *f);
/* On stderr: the items in effect, and which of them in part. */
void determinism_warn_had(const struct command *self, const struct determinism *f);

#endif

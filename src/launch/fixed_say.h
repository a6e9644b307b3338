/* SPDX-License-Identifier: MIT */
/* Messages of the commands that start a command with fixed items. */
#ifndef LAUNCH_FIXED_SAY_H
#define LAUNCH_FIXED_SAY_H

#include "output/command.h"
#include "launch/fixed.h"

/*
 * On stderr: one line for each requested item that failed, and one if a program ran without its
 * rights.
 */
void fixed_say_missed(const struct command *self, const struct fixed *f);
/* On stderr: the items in effect, and which of them in part. */
void fixed_say_had(const struct command *self, const struct fixed *f);

#endif

/* SPDX-License-Identifier: MIT */
/* What the commands that start something the same each time say about it. */
#ifndef LAUNCH_FIXED_SAY_H
#define LAUNCH_FIXED_SAY_H

#include "output/command.h"
#include "launch/fixed.h"

/* On stderr, a line for each item that was wanted and could not be had, and one where a program ran without its rights. */
void fixed_say_missed(const struct command *self, const struct fixed *f);
/* Likewise, what was had, and what of it in part. */
void fixed_say_had(const struct command *self, const struct fixed *f);

#endif

/* SPDX-License-Identifier: MIT */
/* tare export --accesses. */
#ifndef CLI_SAMPLES_EXPORT_ACCESSES_H
#define CLI_SAMPLES_EXPORT_ACCESSES_H

#include <stdbool.h>
#include "output/command.h"

/* Whether a table format has this name. */
bool access_format_known(const char *name);

/*
 * `name`: the format; NULL: chosen by the suffix of `output`, which may be NULL for standard
 * output. Returns the exit status or a negative errno.
 */
int export_accesses(const struct command *self, const char *path, const char *name,
		    const char *output, struct tare_error *err);

#endif

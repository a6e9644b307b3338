/* SPDX-License-Identifier: MIT */
/* What an output file was before, kept until there is something to put in its place. */
#ifndef CLI_KEPT_OUTPUT_H
#define CLI_KEPT_OUTPUT_H

#include <stdbool.h>
#include "tare/error.h"

struct kept_output {
	char *path;  /* to be written: behind links */
	char *aside; /* where the old one is meanwhile; NULL: there was none */
	bool ours;   /* whatever is at `path` from now on was not there before */
};

/* -EINVAL: output is the command itself. */
int kept_output_begin(struct kept_output *k, const char *output, const char *command, struct tare_error *err);
/* worth: what is there now stays; else what was there before is there again. True: something was there before. */
bool kept_output_end(struct kept_output *k, bool worth);

#endif

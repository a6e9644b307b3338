/* SPDX-License-Identifier: MIT */
/* tare export of a recording of samples (perf.data). */
#ifndef CLI_EXPORT_SAMPLES_H
#define CLI_EXPORT_SAMPLES_H

#include <stdbool.h>
#include "view/export.h"

/* A file with perf.data's magic, or a directory with one. */
bool is_perfdata(const char *path);
/* *damage (384 bytes) says what ended the reading early, or "". */
int export_perfdata(struct out *out, const struct exporter *how, const char *path, const struct export_options *opt, char *damage,
		    struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* tare export for a recording of samples (perf.data). */
#ifndef CLI_SAMPLES_EXPORT_SAMPLES_H
#define CLI_SAMPLES_EXPORT_SAMPLES_H

#include <stdbool.h>
#include "symbols/modules.h"
#include "export/export.h"

/* A file with perf.data's magic, or a directory that contains one. */
bool is_perfdata(const char *path);
/* `names`: where names come from. *partial: part of the file was not read or decoded; reported
 * on standard error. */
int export_perfdata(struct out *out, const struct exporter *how, const char *path,
		    const struct export_options *opt, const struct modules_options *names,
		    bool *partial, struct tare_error *err);

#endif

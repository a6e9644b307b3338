/* SPDX-License-Identifier: MIT */
/*
 * Standard output that carries tare's results while a command runs. The command inherits descriptor
 * 1, so its own output would be mixed into the results. perf redirects it to standard error, and so
 * does tare.
 */
#ifndef OUTPUT_OWN_STDOUT_H
#define OUTPUT_OWN_STDOUT_H

#include <stdbool.h>
#include "base/error.h"

/* Where results for standard output are written: 1, or after own_stdout_take() a descriptor that no
 * command inherits. */
int own_stdout(void);
/* Call after printing help or a version. -1: it could not be written, and a message says so. */
int own_stdout_printed(const char *command);
/* Does this path mean standard output: "-", /dev/stdout, /dev/fd/1, /proc/self/fd/1? */
bool own_stdout_is(const char *path);
/*
 * From here on descriptor 1 is standard error, or /dev/null if that is closed. Call it before an
 * output is opened, and only if results go to standard output and a command runs.
 */
int own_stdout_take(struct tare_error *err);

#endif

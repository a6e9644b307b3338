/* SPDX-License-Identifier: MIT */
/*
 * The files that a command reads: no output may replace one of them (output/whole_file.h checks
 * that).
 */
#ifndef OUTPUT_INPUT_H
#define OUTPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"
#include "base/text.h"

/*
 * Register `path` as input, "-" for standard input; call it before an output is opened. A path that
 * does not exist is ignored.
 */
void input_note(const char *path);
void input_note_all(char *const *paths, size_t n);
/*
 * -EINVAL if `path` is a registered regular file, by this or another name, or is in a registered
 * folder, as a recording may be a folder. Else 0, or -ENOMEM.
 */
int input_refuse(const char *path, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* The files that a command reads: no output takes the place of one of them (output/whole_file.h asks). */
#ifndef OUTPUT_INPUT_H
#define OUTPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"
#include "base/text.h"

/* `path` is read, or will be, "-" from standard input: told before an output is opened. A path where nothing is, is none. */
void input_note(const char *path);
void input_note_all(char *const *paths, size_t n);
/*
 * -EINVAL where `path` is a regular file that was told of, by this or another name of it, or lies in a folder that was: a
 * recording may be one. Else 0, or -ENOMEM.
 */
int input_refuse(const char *path, struct tare_error *err);

#endif

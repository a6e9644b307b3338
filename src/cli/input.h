/* SPDX-License-Identifier: MIT */
/* The files that a command reads: no output takes the place of one of them (cli/whole_file.h asks). */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"
#include "base/text.h"

/* `path` is read, or will be, "-" from standard input: told before an output is opened. A path where nothing is, is none. */
void input_note(const char *path);
void input_note_all(char *const *paths, size_t n);
/* The same of a recording; and a line on standard error where a newer one lies beside it: its recorder was killed, or had ended. */
void input_note_recording(const char *command, const char *path);
void input_note_recordings(const char *command, char *const *paths, size_t n);
/* A line on standard error where a recording so lies beside the one that `path` will be. */
void input_tell_left_part(const char *command, const char *path);
/* How a line ends that names one of n such recordings. */
void input_say_parts(struct text *out, size_t n);
/* A line on standard error where `broke_off`, its recorder did not come to its end: for outputs that have no place to say so. */
void input_tell_broke_off(const char *command, const char *path, bool broke_off);
/*
 * -EINVAL where `path` is a regular file that was told of, by this or another name of it, or lies in a folder that was: a
 * recording may be one. Else 0, or -ENOMEM.
 */
int input_refuse(const char *path, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* Recordings that a command reads or is about to write, and those beside them whose recorder did not come to its end. */
#ifndef CLI_RECORDINGS_H
#define CLI_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"

/* input_note() of a recording; and a line on standard error where a newer one lies beside it: its recorder was killed, or had ended. */
void input_note_recording(const char *command, const char *path);
void input_note_recordings(const char *command, char *const *paths, size_t n);
/* A line on standard error where a recording so lies beside the one that `path` will be. */
void input_tell_left_part(const char *command, const char *path);
/* How a line ends that names one of n such recordings. */
void input_say_parts(struct text *out, size_t n);
/* A line on standard error where `broke_off`, its recorder did not come to its end: for outputs that have no place to say so. */
void input_tell_broke_off(const char *command, const char *path, bool broke_off);

#endif

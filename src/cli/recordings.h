/* SPDX-License-Identifier: MIT */
/* Recordings that a command reads or is about to write, and incomplete ones left by recorders
 * that were killed. */
#ifndef CLI_RECORDINGS_H
#define CLI_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"

/* input_note() for a recording. Also prints a line on standard error if there is a newer
 * incomplete recording of the same name: its recorder was killed, or had ended. */
void input_note_recording(const char *command, const char *path);
void input_note_recordings(const char *command, char *const *paths, size_t n);
/* Prints a line on standard error if there is such an incomplete recording for the new `path`. */
void input_tell_left_part(const char *command, const char *path);
/* The end of a line that names one of n such recordings. */
void input_say_parts(struct text *out, size_t n);
/* Prints a line on standard error if `broke_off`, i.e. its recorder did not finish: for output
 * formats that have no field for it. */
void input_tell_broke_off(const char *command, const char *path, bool broke_off);

#endif

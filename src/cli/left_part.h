/* SPDX-License-Identifier: MIT */
/* Beside a recording: the newer one whose recorder was killed before it had its name. */
#ifndef CLI_LEFT_PART_H
#define CLI_LEFT_PART_H

/* A line on standard error where `path` has one; what stands where no `path` is, the error of opening that says. */
void tell_left_part(const char *command, const char *path);

#endif

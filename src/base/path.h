/* SPDX-License-Identifier: MIT */
#ifndef BASE_PATH_H
#define BASE_PATH_H

/* What follows the last '/' of path; all of path if it has none or ends with one. */
const char *path_base(const char *path);

#endif

/* SPDX-License-Identifier: MIT */
/* Read windows from the CSV written by `tare windows --format csv`. The text is not trusted. */
#ifndef WINDOWS_WINDOWS_CSV_H
#define WINDOWS_WINDOWS_CSV_H

#include "windows/windows.h"

/*
 * n bytes, NUL-terminated. Errors name `path`, the line and the column. *exact: every row is marked
 * as exact.
 */
int windows_csv_parse(struct windows **out, const char *text, size_t n, const char *path,
		      bool *exact, struct tare_error *err);
int windows_csv_read(struct windows **out, const char *path, bool *exact, struct tare_error *err);

#endif

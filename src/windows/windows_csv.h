/* SPDX-License-Identifier: MIT */
/* Windows read back out of the CSV that `tare windows --format csv` wrote. The text is not trusted. */
#ifndef WINDOWS_WINDOWS_CSV_H
#define WINDOWS_WINDOWS_CSV_H

#include "windows/windows.h"

/* n bytes, terminated. Errors name `path`, the line and the column. *exact: every row says that it is. */
int windows_csv_parse(struct windows **out, const char *text, size_t n, const char *path, bool *exact,
		      struct tare_error *err);
int windows_csv_read(struct windows **out, const char *path, bool *exact, struct tare_error *err);

#endif

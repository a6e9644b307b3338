/* SPDX-License-Identifier: MIT */
/* The state of a scan as a file, so that it can be stopped and resumed; and the findings as a
 * table of events. */
#ifndef SCAN_SCAN_FILE_H
#define SCAN_SCAN_FILE_H

#include "base/text.h"
#include "scan/scan.h"

/*
 * Lines of text: "tare scan 2", "cpu NAME", "pmu NAME", "machine CPU MICROCODE KERNEL HYPERVISOR",
 * "mode u|uk", "guessed 0|1", "command HASH", "rows KIND:TURNS ...", then for each event
 * "dead|refused|uncounted SELECT UMASK" or "live SELECT UMASK COUNT... / INTERRUPTS... [=
 * COMMAND]", numbers in the order of the rows, round by round; "end".
 */
void scan_file_write(struct text *out, const struct scan *s, bool kernel);
/* The caller zeroes `s`; it is freed on failure. -EBADMSG: it is no such file, or damaged; the
 * error names the line. */
int scan_file_parse(const char *text, const char *path, struct scan *s, bool *kernel,
		    struct tare_error *err);

/* Writes a temporary file in the same directory and renames it, so that readers see either the
 * complete old file or the complete new one. Creates missing directories. */
int scan_file_replace(const char *path, const struct text *bytes, struct tare_error *err);

#endif

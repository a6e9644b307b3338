/* SPDX-License-Identifier: MIT */
/* What a scan has found out so far, as a file, so that it can be stopped and gone on with; and as a table of events to keep. */
#ifndef SCAN_SCAN_FILE_H
#define SCAN_SCAN_FILE_H

#include "base/text.h"
#include "scan/scan.h"

/*
 * Lines of text: "tare scan 2", "cpu NAME", "pmu NAME", "machine CPU MICROCODE KERNEL HYPERVISOR", "mode u|uk", "guessed 0|1", "command HASH", "rows KIND:TURNS ...", then of each event
 * "dead|refused|uncounted SELECT UMASK" or "live SELECT UMASK COUNT... / INTERRUPTS... [= COMMAND]", numbers in order of the rows,
 * round by round; "end".
 */
void scan_file_write(struct text *out, const struct scan *s, bool kernel);
/* `s` zeroed by the caller, freed on failure. -EBADMSG: it is no such file, or damaged; the error names the line. */
int scan_file_parse(const char *text, const char *path, struct scan *s, bool *kernel, struct tare_error *err);

/* Written beside it and renamed: whoever reads sees the old one or the new one, whole. Makes the directories that lack. */
int scan_file_replace(const char *path, const struct text *bytes, struct tare_error *err);

#endif

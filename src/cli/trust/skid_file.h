/* SPDX-License-Identifier: MIT */
/* Stores the skid that `tare verify skid` measured, in the file "skid" of those in state_file.h. */
#ifndef CLI_TRUST_SKID_FILE_H
#define CLI_TRUST_SKID_FILE_H

#include "profile/report/skid_kept.h"

/*
 * Reads the measurements from `path`, which must exist; NULL: from the shared file and this user's
 * file, whose rows come first. In that case a missing file is no error. -errno: err names the
 * file; *out is empty.
 */
int skid_load(struct skids_kept *out, const char *path, struct tare_error *err);

/* Adds these. `stored` (space for a path): the file. -errno: nothing was changed. */
int skid_keep(const struct skid_kept *one, size_t n, char *stored, size_t room,
	      struct tare_error *err);

#endif

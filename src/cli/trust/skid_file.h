/* SPDX-License-Identifier: MIT */
/* Where the skid that `tare verify skid` measured is kept, in the file "skid" of those in state_file.h. */
#ifndef CLI_TRUST_SKID_FILE_H
#define CLI_TRUST_SKID_FILE_H

#include "profile/report/skid_kept.h"

/*
 * What was measured: of `path`, which has to be there; NULL: of everybody's file and this user's, whose rows come first. A file that is not
 * there is then no error. -errno: err names the file; *out is empty.
 */
int skid_load(struct skids_kept *out, const char *path, struct tare_error *err);

/* Add these. `stored` (room for a path): where. -errno: nothing was changed. */
int skid_keep(const struct skid_kept *one, size_t n, char *stored, size_t room, struct tare_error *err);

#endif

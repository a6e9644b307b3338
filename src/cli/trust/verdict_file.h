/* SPDX-License-Identifier: MIT */
/*
 * Where verdicts are kept: $XDG_STATE_HOME/tare/verdicts where that variable is set; else, for root, /var/lib/tare/verdicts, and for
 * others $HOME/.local/state/tare/verdicts. Read is that file; where the variable is not set, /var/lib/tare/verdicts as well, whose verdicts
 * give way to one's own.
 */
#ifndef CLI_TRUST_VERDICT_FILE_H
#define CLI_TRUST_VERDICT_FILE_H

#include "verify/verdicts.h"

/* Where this user's verdicts go. False: nowhere (no HOME). */
bool verdict_path(char *out, size_t room);

/* All that hold for this machine. A file that is not there is no error, one that is damaged is: err names it, the other is read all the same. */
int verdict_load(struct verdicts *out, struct tare_error *err);

/* Add these, at once for all who read meanwhile: a new file in the place of the old one. -errno: nothing was changed. */
int verdict_keep(const struct verdict *one, size_t n, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Where verdicts are stored: $XDG_STATE_HOME/tare/verdicts if that variable is set; otherwise
 * /var/lib/tare/verdicts for root and $HOME/.local/state/tare/verdicts for other users. That file
 * is read. If the variable is not set, /var/lib/tare/verdicts is read as well; the user's own
 * verdicts take precedence.
 */
#ifndef CLI_TRUST_VERDICT_FILE_H
#define CLI_TRUST_VERDICT_FILE_H

#include "verify/verdicts.h"

/* The path of this user's verdicts. False: none (no HOME). */
bool verdict_path(char *out, size_t room);

/* All verdicts that apply to this machine. A missing file is no error; a damaged one is: err
 * names it, and the other file is read anyway. */
int verdict_load(struct verdicts *out, struct tare_error *err);

/* Adds these atomically for concurrent readers: a new file replaces the old one. -errno: nothing
 * was changed. */
int verdict_keep(const struct verdict *one, size_t n, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Files that tare keeps from one command to the next: $XDG_STATE_HOME/tare/NAME where that variable is set; else, for root,
 * /var/lib/tare/NAME, which holds for everybody, and for others $HOME/.local/state/tare/NAME.
 */
#ifndef OUTPUT_STATE_FILE_H
#define OUTPUT_STATE_FILE_H

#include <stdbool.h>
#include "base/error.h"
#include "base/text.h"

#define STATE_EVERYBODYS "/var/lib/tare"

/* Where this user's goes. False: nowhere (no HOME). */
bool state_path(char *out, size_t room, const char *name);
bool state_home_set(void);
/* Makes the folders above it. A descriptor, held until it is closed: whoever else writes waits. Or -errno. */
int state_lock(const char *path, struct tare_error *err);
/* The same without waiting: -EWOULDBLOCK where somebody holds it. */
int state_lock_now(const char *path, struct tare_error *err);
/* A new file in the place of the old one, at once for all who read. */
int state_replace(const char *path, const struct text *text, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Files that tare keeps between commands: $XDG_STATE_HOME/tare/NAME if that variable is set;
 * otherwise, for root, /var/lib/tare/NAME, which is used for all users, and for others
 * $HOME/.local/state/tare/NAME.
 */
#ifndef OUTPUT_STATE_FILE_H
#define OUTPUT_STATE_FILE_H

#include <stdbool.h>
#include "base/error.h"
#include "base/text.h"

#define STATE_EVERYBODYS "/var/lib/tare"

/* The path for this user. False: none (no HOME). */
bool state_path(char *out, size_t room, const char *name);
bool state_home_set(void);
/*
 * Create the folders above it, and lock it. Returns a descriptor that holds the lock until it is
 * closed: other writers wait. Or -errno.
 */
int state_lock(const char *path, struct tare_error *err);
/* The same without waiting: -EWOULDBLOCK if it is locked. */
int state_lock_now(const char *path, struct tare_error *err);
/* Replace the file atomically. */
int state_replace(const char *path, const struct text *text, struct tare_error *err);

#endif

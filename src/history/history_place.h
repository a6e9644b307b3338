/* SPDX-License-Identifier: MIT */
/* Checks a file before SQLite opens it. */
#ifndef HISTORY_HISTORY_PLACE_H
#define HISTORY_HISTORY_PLACE_H

#include "base/error.h"

/*
 * -EACCES: `name`, or a file that SQLite creates next to it, belongs to another user, is a FIFO or
 * a link, or would make SQLite delete another file. Other errors are not reported here: opening the
 * file reports them.
 */
int history_place(const char *name, struct tare_error *err);

#endif

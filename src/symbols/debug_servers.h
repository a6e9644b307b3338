/* SPDX-License-Identifier: MIT */
/*
 * May debug files be fetched from the servers in DEBUGINFOD_URLS? Nothing is sent unless enabled by
 * the call below.
 */
#ifndef SYMBOLS_DEBUG_SERVERS_H
#define SYMBOLS_DEBUG_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/*
 * Enables it for the whole process. -ENOENT: libdebuginfod cannot be loaded; -EINVAL:
 * DEBUGINFOD_URLS is not set.
 */
int debug_servers_use(struct tare_error *err);
/*
 * The debug file of a build id of `n` bytes: a descriptor, or -1. Blocks until the servers answer
 * (debuginfod(8)).
 */
int debug_servers_find(const uint8_t *id, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* Whether debug files may be asked of the servers that DEBUGINFOD_URLS names. Without the call below nothing is sent. */
#ifndef SYMBOLS_DEBUG_SERVERS_H
#define SYMBOLS_DEBUG_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/* From now on, for the whole process. -ENOENT: libdebuginfod cannot be loaded; -EINVAL: DEBUGINFOD_URLS is not set. */
int debug_servers_use(struct tare_error *err);
/* The debug file of a build id, `n` bytes: a descriptor, or -1. Takes as long as the servers take (debuginfod(8)). */
int debug_servers_find(const uint8_t *id, size_t n);

#endif

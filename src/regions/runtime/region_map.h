/* SPDX-License-Identifier: MIT */
/*
 * Map a part of the file for this process only. A child, created by fork() or in any other way,
 * finds private zeroed memory there instead, even if it continues in the middle of a write: nothing
 * of that reaches the file.
 */
#ifndef REGIONS_RUNTIME_REGION_MAP_H
#define REGIONS_RUNTIME_REGION_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bytes and offset: multiples of FILE_PAGE. at_once: fault in the pages. NULL with errno. */
void *region_map(int fd, uint64_t offset, size_t bytes, bool at_once);
/* Unmap the result of region_map(), or NULL; works in a child, too. */
void region_unmap(void *map, size_t bytes);

#endif

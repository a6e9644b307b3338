/* SPDX-License-Identifier: MIT */
/*
 * Memory that is a file's, of this process alone: a child that was made by fork() or by any other way finds zeros there, which
 * are its own, also where it goes on in the midst of a write: what it writes is nowhere in the file.
 */
#ifndef REGIONS_RUNTIME_REGION_MAP_H
#define REGIONS_RUNTIME_REGION_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bytes and offset: multiples of FILE_PAGE. at_once: with its pages. NULL with errno. */
void *region_map(int fd, uint64_t offset, size_t bytes, bool at_once);
/* What region_map() gave, or NULL; in a child, too. */
void region_unmap(void *map, size_t bytes);

#endif

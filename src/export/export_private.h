/* SPDX-License-Identifier: MIT */
/* Shared by the files that call exporters. */
#ifndef EXPORT_EXPORT_PRIVATE_H
#define EXPORT_EXPORT_PRIVATE_H

#include "export/export.h"

enum { EXPORT_NAME_MAX = 4096, EXPORT_NAME_ROOM = EXPORT_NAME_MAX + 4 };

bool export_name_fits(const char *name);
/*
 * The name, or its first EXPORT_NAME_MAX bytes and "..." in `room`. Names are repeated, and one may
 * have a megabyte.
 */
const char *export_shorten(const char *name, char *room);

/* The index of the counter by name; NULL: the clock, or else the first one. */
int export_counter_of(const struct timeline_info *info, const char *name, struct tare_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Each region of a recording with its begin and end, by thread: the document tare/spans/1 of a page
 * (docs/schema/tare-spans-1.json). It is not an export format.
 */
#ifndef EXPORT_EXPORT_SPANS_H
#define EXPORT_EXPORT_SPANS_H

#include "export/export.h"

enum { EXPORT_SPANS_MOST = 1 << 20 }; /* a page of 15 MB */

extern const struct exporter export_spans;

#endif

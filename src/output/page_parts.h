/* SPDX-License-Identifier: MIT */
/* The parts of the page around the data; built from web/ with the program, or empty. */
#ifndef OUTPUT_PAGE_PARTS_H
#define OUTPUT_PAGE_PARTS_H

#include <stddef.h>

/*
 * Up to the title, from there to the data, and after the data. The sizes are 0 in a build without
 * node or esbuild.
 */
extern const unsigned char page_head[], page_middle[], page_tail[];
extern const size_t page_head_size, page_middle_size, page_tail_size;

#endif

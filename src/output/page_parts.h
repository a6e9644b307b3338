/* SPDX-License-Identifier: MIT */
/* The page that stands around the data; made from web/ when the program is built, or absent. */
#ifndef OUTPUT_PAGE_PARTS_H
#define OUTPUT_PAGE_PARTS_H

#include <stddef.h>

/* Up to the title, from there to the data, and behind the data. Sizes are 0 where there was nothing to make it with. */
extern const unsigned char page_head[], page_middle[], page_tail[];
extern const size_t page_head_size, page_middle_size, page_tail_size;

#endif

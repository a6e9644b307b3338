/* SPDX-License-Identifier: MIT */
/* A build without node or esbuild has no page. */
#include "output/page_parts.h"

const unsigned char page_head[] = "", page_middle[] = "", page_tail[] = "";
const size_t page_head_size = 0, page_middle_size = 0, page_tail_size = 0;

/* SPDX-License-Identifier: MIT */
/* A build that had no node or no esbuild: there is no page to put data in. */
#include "output/page_parts.h"

const unsigned char page_head[] = "", page_middle[] = "", page_tail[] = "";
const size_t page_head_size = 0, page_middle_size = 0, page_tail_size = 0;

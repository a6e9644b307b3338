/* SPDX-License-Identifier: MIT */
/*
 * Text in Markdown and XML. Names come from programs and files: nothing in them may end a cell or
 * become markup, a link or a mention.
 */
#ifndef OUTPUT_MARKUP_H
#define OUTPUT_MARKUP_H

#include "base/text.h"

void markup_markdown(struct text *out, const char *s);
/* For an attribute or an element. */
void markup_xml(struct text *out, const char *s);

#endif

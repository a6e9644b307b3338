/* SPDX-License-Identifier: MIT */
/*
 * Files of verdicts: what is read is written as it was understood, and understood the same again.
 */
#include <stdlib.h>
#include <string.h>
#include "verify/verdicts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct verdicts v, again;
	struct text text = { 0 }, twice = { 0 };

	if (verdicts_parse(&v, (const char *)data, n, NULL) == 0) {
		verdicts_write(&text, &v);
		if (verdicts_parse(&again, text.s, text.len, NULL) < 0)
			abort();
		verdicts_write(&twice, &again);
		if (strcmp(text.s, twice.s))
			abort();
		verdicts_free(&again);
	}
	verdicts_free(&v);
	text_free(&text);
	text_free(&twice);
	return 0;
}

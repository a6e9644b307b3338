/* SPDX-License-Identifier: MIT */
/* States of scans: what is read is written, and read again, the same. */
#include <stdlib.h>
#include <string.h>
#include "analyze/scan.h"
#include "fuzz.h"
#include "record/scan_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct scan s = { .cpu = "" }, again = { .cpu = "" };
	bool kernel;

	if (scan_file_parse(text, "it", &s, &kernel, NULL) == 0) {
		struct scan_finding *f = calloc(s.n + 1, sizeof(*f));
		struct text a = { 0 }, b = { 0 };

		scan_file_write(&a, &s, kernel);
		if (scan_file_parse(a.s, "it", &again, &kernel, NULL) < 0)
			abort();
		scan_file_write(&b, &again, kernel);
		if (strcmp(a.s, b.s))
			abort();
		scan_explain(&s, NULL, 0, f, NULL);
		text_free(&a);
		text_free(&b);
		free(f);
		scan_free(&again);
		scan_free(&s);
	}
	free(text);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* States of scans: what is read is written and read again the same, and something is said of it. */
#include "scan/finding.h"
#include "fuzz.h"
#include "scan/scan_file.h"

static void explain(const struct scan *s)
{
	struct scan_finding *f = calloc(s->n + 1, sizeof(*f));
	struct text words = { 0 };

	must(f && scan_explain(s, NULL, 0, f, NULL) == 0);
	for (size_t i = 0; i < s->n; i++)
		if (s->event[i].state == SCAN_LIVE)
			scan_words(&words, s, NULL, &f[i]);
	text_free(&words);
	free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n);
	struct scan s = { .cpu = "" }, again = { .cpu = "" };
	struct text a = { 0 }, b = { 0 };
	bool kernel;

	if (scan_file_parse(text, "it", &s, &kernel, NULL) == 0) {
		scan_file_write(&a, &s, kernel);
		must(scan_file_parse(a.s, "it", &again, &kernel, NULL) == 0);
		scan_file_write(&b, &again, kernel);
		must(!strcmp(a.s, b.s));
		explain(&s);
	}
	text_free(&a);
	text_free(&b);
	scan_free(&again);
	scan_free(&s);
	free(text);
	return 0;
}

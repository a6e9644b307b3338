/* SPDX-License-Identifier: MIT */
/*
 * Any text as a file of kept skids: a refusal that tells the line, or rows that are the same when
 * they are written and read again.
 */
#include "profile/report/skid_kept.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n);
	struct tare_error err = TARE_ERROR_INIT;
	struct skids_kept first, again;

	if (skids_kept_parse(&first, text, n, &err) < 0) {
		must(err.what[0]);
	} else {
		struct text out = { 0 };

		skids_kept_write(&out, &first);
		must(!out.failed && skids_kept_parse(&again, out.s, out.len, &err) == 0 &&
		     again.n == first.n);
		for (size_t i = 0; i < first.n; i++)
			must(!strcmp(first.row[i].event, again.row[i].event) &&
			     first.row[i].p99 == again.row[i].p99 &&
			     first.row[i].config == again.row[i].config &&
			     first.row[i].exact >= 0 && first.row[i].exact <= 1);
		skids_kept_free(&again);
		text_free(&out);
	}
	skids_kept_free(&first);
	free(text);
	return 0;
}

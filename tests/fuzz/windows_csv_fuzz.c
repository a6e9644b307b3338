/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a CSV of windows: read, laid out, compared with itself (there is no difference),
 * written.
 */
#include "windows/windows_csv.h"
#include "windows/windows_diff.h"
#include "fuzz.h"
#include "windows/windows_view.h"

static int drop(void *with, const void *bytes, size_t n)
{
	(void)with, (void)bytes, (void)n;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct windows_diff d;
	struct tare_error err = TARE_ERROR_INIT;
	const struct window_end end = { .began = true };
	const struct windows_about about = {
		.engine = &source_perf, .mode = "sample", .end = &end, .exit_status = -1
	};
	const struct style style = { .width = 80 };
	struct windows *w = NULL;
	char *text = fuzz_text(bytes, n);
	struct text text_out = { 0 };
	struct out out;
	bool exact;

	out_open(&out, drop, NULL);

	if (windows_csv_parse(&w, text, n, "fuzz.csv", &exact, &err) == 0) {
		const struct windows_table *t = windows_table(w, &err);

		must(t);
		if (t->n_threads && windows_diff(t, t, true, UINT64_MAX, UINT64_MAX, &d, &err) == 0)
			windows_csv(&out, t, &about);
		windows_text(&text_out, t, &about, &style);
		windows_json(&out, t, &about);
	} else {
		must(err.code && err.what[0]);
	}
	out_close(&out);
	text_free(&text_out);
	windows_free(w);
	free(text);
	return 0;
}

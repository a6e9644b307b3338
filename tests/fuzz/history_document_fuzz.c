/* SPDX-License-Identifier: MIT */
/* Documents for a history: each result has a name, and numbers in their order. */
#include <math.h>
#include "fuzz.h"
#include "history/history_document.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct history_about about = { .machine = "M" };
	struct tare_error err = TARE_ERROR_INIT;
	struct history_batch b = { 0 };
	char *text = fuzz_text(bytes, n);
	int ret = history_document_parse(&b, text, n, "F", &about, &err);

	must(ret == 0 || err.what[0]);
	for (size_t i = 0; ret == 0 && i < b.n; i++) {
		must(b.run[i].commit.name && b.run[i].commit.parent && b.run[i].commit.subject);
		for (size_t k = 0; k < b.run[i].finding.n; k++)
			must(b.run[i].finding.function[k].name &&
			     b.run[i].finding.function[k].module);
		for (size_t k = 0; k < b.run[i].n; k++) {
			const struct history_result *r = &b.run[i].result[k];

			must(r->series.benchmark[0] && r->series.event && r->runs);
			must(isfinite(history_real(&r->value)));
			must(history_real(&r->least) <= history_real(&r->value));
			must(history_real(&r->value) <= history_real(&r->most));
		}
	}
	history_batch_free(&b);
	free(text);
	return 0;
}

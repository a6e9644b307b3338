/* SPDX-License-Identifier: MIT */
/*
 * Stored results: a note that is written from them is read again, with the same records. And the
 * documents of tare summarize and tare bench.
 */
#include "fuzz.h"
#include "gate/gate_view.h"

static void read_parts(const char *text, size_t n)
{
	const struct gate_benchmark all = { .all_regions = true };
	struct gate_record regions = { 0 };
	struct gate_outcome tests = { .verdict = GATE_SAME };
	struct tare_error err = TARE_ERROR_INIT;

	if (gate_regions_parse(&regions, &all, text, n, &err) == 0)
		must(regions.n > 0 && regions.n <= GATE_EVENTS_MAX);
	if (gate_bench_parse(&tests, text, n, &err) == 0)
		must(tests.head.n > 0 && tests.head.n <= GATE_EVENTS_MAX);
	for (size_t i = 0; i < regions.n; i++)
		must(strstr(regions.value[i].event, GATE_IN));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct gate_records r = { 0 }, again = { 0 };
	char *text = fuzz_text(bytes, n);
	struct text note = { 0 };
	int ret = gate_records_parse(&r, text, n, "F", &err);

	must(ret == 0 || err.what[0]);
	for (size_t i = 0; ret == 0 && i < r.n; i++)
		gate_record_line(&note, &r.record[i]);
	if (note.len)
		must(gate_records_parse(&again, note.s, note.len, "N", &err) == 0 &&
		     again.n == r.n);
	for (size_t i = 0; i < again.n; i++)
		must(again.record[i].n == r.record[i].n &&
		     !strcmp(again.record[i].benchmark, r.record[i].benchmark));
	read_parts(text, n);
	gate_records_free(&again);
	gate_records_free(&r);
	text_free(&note);
	free(text);
	return 0;
}

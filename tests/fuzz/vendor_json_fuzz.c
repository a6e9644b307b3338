/* SPDX-License-Identifier: MIT */
/* Vendor files, JSON and text: whatever is taken from them must be terms that perf's grammar reads.
 */
#include "event/event.h"
#include "fuzz.h"
#include "pmu/vendor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct vendor_file f = { 0 };
	char *text = fuzz_text(bytes, n);
	char first = text[strspn(text, " \t\r\n")];
	int ret = first == '{' || first == '[' ? vendor_json_parse(text, n, "F", &f, &err)
					       : vendor_text_parse(text, "F", &f, &err);

	must(ret == 0 || (err.what[0] && !f.event && !f.refused && !f.memory));
	for (size_t i = 0; i < f.n_refused; i++)
		must(f.refused[i].why[0] && !strpbrk(f.refused[i].why, "\n\033"));
	for (size_t i = 0; i < f.n; i++) {
		struct event_list list = { 0 };
		char whole[512];

		must(f.event[i].name[0] && !strpbrk(f.event[i].name, ",/{} \n\033"));
		must(snprintf(whole, sizeof(whole), "x/%s/", f.event[i].terms) <
		     (int)sizeof(whole));
		must(event_list_parse(whole, &list, NULL) == 0 && list.n == 1 &&
		     list.event[0].n_terms > 0);
		must(vendor_find(&f, f.event[i].name));
		event_list_free(&list);
		if (i == 64)
			break;
	}
	vendor_file_free(&f);
	free(text);
	return 0;
}

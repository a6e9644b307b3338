/* SPDX-License-Identifier: MIT */
/*
 * Any text as a file of CPUID leaves: a refusal that tells the line, or a model that is the same
 * when it is written and read again.
 */
#include "exact/isa.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n);
	struct tare_error err = TARE_ERROR_INIT;
	struct isa_model first, again;

	if (isa_parse(&first, text, "f", &err) < 0) {
		must(err.what[0]);
	} else {
		struct text out = { 0 };

		isa_dump(&out, &first);
		must(!out.failed && isa_parse(&again, out.s, "f", &err) == 0);
		must(again.n == first.n && again.xcr0 == first.xcr0 && again.hwcap == first.hwcap);
		must(!memcmp(again.has, first.has, sizeof(first.has)));
		text_free(&out);
	}
	free(text);
	return 0;
}

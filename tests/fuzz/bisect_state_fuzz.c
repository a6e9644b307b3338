/* SPDX-License-Identifier: MIT */
/*
 * An interrupted bisection, without its first line, which contains the version: what is written
 * from it is read again, the same.
 */
#include "bisect/bisect_state.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct bisect_state s, again;
	static const char head[] = "tare-bisect 1 " TARE_VERSION "\n";
	char *lines = fuzz_text(bytes, n);
	struct text out = { 0 }, in = { 0 };

	text_add(&in, "%s%s", head, lines);
	if (bisect_state_parse(&s, in.s, in.len, "F", &err) < 0) {
		must(err.what[0]);
	} else {
		bisect_state_write(&out, &s);
		must(bisect_state_parse(&again, out.s, out.len, "N", &err) == 0);
		must(bisect_state_same(&s, &again) && s.tries.n == again.tries.n &&
		     !strcmp(s.folder, again.folder));
		bisect_state_free(&again);
	}
	bisect_state_free(&s);
	text_free(&out);
	text_free(&in);
	free(lines);
	return 0;
}

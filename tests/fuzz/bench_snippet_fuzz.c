/* SPDX-License-Identifier: MIT */
/*
 * Any text as an instruction: registers take turns in it or do not, and the same ones in both
 * questions.
 */
#include <string.h>
#include "bench/bench_snippet.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *code = malloc(n + 1);
	struct text names = { 0 }, out = { 0 };
	struct bench_snippet s = { .code = code, .unroll = 8, .in_turn = true };

	must(code);
	memcpy(code, bytes, n);
	code[n] = '\0';
	s.att = bench_snippet_is_att(code);
	if (bench_snippet_turns(&s, &names))
		must(names.len && bench_snippet_turns(&s, NULL));
	else
		must(!names.len);
	bench_snippet_assembly(&out, &s);
	must(strstr(out.s, "execute_test:"));
	text_free(&out);
	if (bench_snippet_may_loop(&s)) {
		s.loop = 3;
		s.bare_baseline = true;
		bench_snippet_assembly(&out, &s);
		must(strstr(out.s, ".Lround0:"));
		text_free(&out);
		s.loop = 0;
	}
	bench_snippet_c(&out, &s, NULL);
	must(strstr(out.s, "execute_test("));
	text_free(&out);
	text_free(&names);
	free(code);
	return 0;
}

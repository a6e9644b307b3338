/* SPDX-License-Identifier: MIT */
/*
 * Any text as a JIT's map and as kallsyms: an error in words, or symbols that are found where they
 * are.
 */
#include "symbols/text_symbols.h"
#include "fuzz.h"

static void look_up(const struct text_symbols *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct text_symbol *e = &l->entry[i], *found;

		must(e->start < e->end);
		must(i == 0 || l->entry[i - 1].start <= e->start);
		found = text_symbols_find(l, e->start);
		must(!found || (found->start <= e->start && e->start < found->end));
		text_symbols_find(l, e->end);
		text_symbols_find(l, e->start - 1);
	}
	text_symbols_find(l, 0);
	text_symbols_find(l, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	int (*const parse[])(struct text_symbols *, char *,
			     struct tare_error *) = { text_symbols_perf_map,
						      text_symbols_kallsyms };

	for (int i = 0; i < 2; i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct text_symbols l;

		if (parse[i](&l, fuzz_text(bytes, n), &err) < 0) {
			must(err.what[0]);
			continue;
		}
		look_up(&l);
		text_symbols_free(&l);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Any text as a list of items to be fixed: refused with a reason, or a set whose names, read again,
 * are that set.
 */
#include <stdlib.h>
#include "fuzz.h"
#include "launch/determinism.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_error err = TARE_ERROR_INIT;
	char *words = strndup((const char *)data, size);
	struct text names = { 0 };
	struct determinism f = { .set = 12345, .kept = "x" }, again = { 0 };
	int ret = words ? determinism_parse(words, &f, &err) : -1;

	if (words && ret < 0 &&
	    (!err.what[0] || !err.hint[0] || f.set != 12345 || strcmp(f.kept, "x")))
		abort();
	if (ret == 0) {
		if (f.set >> FIXED_ITEMS || (f.kept[0] && !(f.set & FIXED(ENV))))
			abort();
		for (const char *p = f.kept; *p; p += strcspn(p, ":"), p += *p == ':')
			if (*p == ':' || !determinism_keeps(f.kept, strndupa(p, strcspn(p, ":"))))
				abort();
		determinism_names(&names, f.set);
		for (size_t i = 0, to = 0; names.s && i <= names.len;
		     i++) /* "a, b" as it is typed */
			if (names.s[i] != ' ')
				names.s[to++] = names.s[i];
		if (f.set && (determinism_parse(names.s, &again, NULL) < 0 || again.set != f.set))
			abort();
		text_free(&names);
	}
	free(words);
	return 0;
}

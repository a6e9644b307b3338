/* SPDX-License-Identifier: MIT */
/*
 * Any text as a name of Rust: none, or one that is bounded, holds no control characters, and is the
 * same again.
 */
#include "symbols/rust_name.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *mangled = fuzz_text(bytes, n), *name = rust_name(mangled), *again;

	if (name) {
		size_t len = strlen(name);

		must(len > 0 && len <= 1 << 16);
		for (size_t i = 0; i < len; i++)
			must((unsigned char)name[i] >= ' ' && name[i] != 0x7f);
		again = rust_name(mangled);
		must(again && !strcmp(again, name));
		free(again);
	}
	free(name);
	free(mangled);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as a program's first stack, at an address that the first of them choose. */
#include "diverge/initial_stack.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct initial_stack_place p;
	uint16_t where;

	if (n < sizeof(where))
		return 0;
	memcpy(&where, bytes, sizeof(where));
	must(initial_stack_find(bytes + sizeof(where), n - sizeof(where), 0x7000, 0x7000ull + where,
				&p) == (p.part != INITIAL_STACK_UNKNOWN));
	must(memchr(p.name, 0, sizeof(p.name)));
	must(!p.name[0] || p.part == INITIAL_STACK_VARIABLE);
	return 0;
}

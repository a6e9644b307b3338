/* SPDX-License-Identifier: MIT */
#include "arch/mark.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct mark_state mark_state __attribute__((visibility("hidden"), aligned(64)));

#define MARKS(x) void mark_start_##x(void), mark_stop_##x(void);
MARKS(1)
MARKS(2)
MARKS(3)
MARKS(4)
MARKS(5)
MARKS(6)
MARKS(7)
MARKS(8)
MARKS(clock)
MARKS(call)

#define PAIR(x)                                                                                    \
	{                                                                                          \
		mark_start_##x, mark_stop_##x                                                      \
	}
const struct marks mark_registers[MARK_COUNTERS + 1] = {
	[1] = PAIR(1), PAIR(2), PAIR(3), PAIR(4), PAIR(5), PAIR(6), PAIR(7), PAIR(8),
};
const struct marks mark_clock = PAIR(clock);
const struct marks mark_call = PAIR(call);
#if defined(__x86_64__)
MARKS(function)
const struct marks mark_function = PAIR(function);

bool mark_function_possible(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE;
}
#endif

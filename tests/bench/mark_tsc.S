/* SPDX-License-Identifier: MIT */
/* The marks as they read registers, but of the time stamp counter: for machines where rdpmc is not allowed. */
#define MARK_READ rdtsc
#define MARK_NAME(x) tsc_##x
#define MARK_ONLY_REGISTERS
#include "../../src/arch/x86/mark.S"

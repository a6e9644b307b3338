/* SPDX-License-Identifier: MIT */
/* Counters and the clock as read from user space, for the target CPU. */
#if defined(__x86_64__)
#include "tare/x86/pmc.h"
#elif defined(__aarch64__)
#include "tare/arm64/pmc.h"
#else
#error "tare knows x86-64 and arm64"
#endif

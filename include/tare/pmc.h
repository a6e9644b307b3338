/* SPDX-License-Identifier: MIT */
/* Counters and the clock as user space reads them, of the CPU that this is compiled for. */
#if defined(__x86_64__)
#include "tare/x86/pmc.h"
#elif defined(__aarch64__)
#include "tare/arm64/pmc.h"
#else
#error "tare knows x86-64 and arm64"
#endif

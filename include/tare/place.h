/* SPDX-License-Identifier: MIT */
/* Where a thread and its signal handlers write, of the CPU that this is compiled for. */
#if defined(__x86_64__)
#include "tare/x86/place.h"
#elif defined(__aarch64__)
#include "tare/arm64/place.h"
#else
#error "tare knows x86-64 and arm64"
#endif

/* SPDX-License-Identifier: MIT */
/* The load that reads the exact engine's running count, for the target CPU. */
#if defined(__x86_64__)
#include "tare/x86/now.h"
#elif defined(__aarch64__)
#include "tare/arm64/now.h"
#else
#error "tare knows x86-64 and arm64"
#endif

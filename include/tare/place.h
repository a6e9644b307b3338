/* SPDX-License-Identifier: MIT */
/* The position at which a thread and its signal handlers write, for the target CPU. */
#if defined(__x86_64__)
#include "tare/x86/place.h"
#elif defined(__aarch64__)
#include "tare/arm64/place.h"
#else
#error "tare knows x86-64 and arm64"
#endif

/* SPDX-License-Identifier: MIT */
/* Sums that a thread's signal handlers find whole, of the CPU that this is compiled for. */
#if defined(__x86_64__)
#include "tare/x86/whole.h"
#elif defined(__aarch64__)
#include "tare/arm64/whole.h"
#else
#error "tare knows x86-64 and arm64"
#endif

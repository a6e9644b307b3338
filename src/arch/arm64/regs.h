/* SPDX-License-Identifier: MIT */
/*
 * The registers needed for stack unwinding: x0 to x30, sp, pc. Source: linux,
 * arch/arm64/include/uapi/asm/perf_regs.h.
 */
#ifndef ARCH_REGS_H
#define ARCH_REGS_H

#define ARCH_REGS_USER ((1ull << 33) - 1)

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The registers needed for stack unwinding: AX to SS and R8 to R15, without the four segments that
 * 64-bit code does not use. Source: linux, arch/x86/include/uapi/asm/perf_regs.h.
 */
#ifndef ARCH_REGS_H
#define ARCH_REGS_H

#define ARCH_REGS_USER 0xff0fffull

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between kernels 5.10 and 6.18, under the newest names. */
#ifndef COMPAT_H
#define COMPAT_H

#include <linux/version.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define rdmsrq_safe rdmsrl_safe
#define wrmsrq_safe wrmsrl_safe
#endif

#endif

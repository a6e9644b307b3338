/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * The interface of the module tare_msr: ioctls of /dev/tare_msr.
 *
 * A batch is a list of operations for one CPU. All of it is checked first: if one operation is not
 * allowed, nothing runs, `done` is 0 and each operation's `err` has the reason (-EPERM: the
 * register is not on the list, or not writable; -EINVAL: a bit that may not be set, an unknown
 * operation). Then all of it runs on that CPU with interrupts disabled.
 */
#ifndef TARE_MSR_H
#define TARE_MSR_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TARE_MSR_VERSION      1
#define TARE_MSR_OPS_MAX      64
#define TARE_MSR_PREPARED_MAX 64
/* used by the open files and prepared batches of one user (real user ID) */
#define TARE_MSR_USER_BYTES (4U << 20)

enum tare_msr_kind {
	TARE_MSR_READ,  /* value <- register */
	TARE_MSR_WRITE, /* register <- value; restored when the file is closed */
	TARE_MSR_TSC,   /* value <- time stamp counter, ordered; msr is 0 */
	TARE_MSR_RDPMC, /* value <- counter number `msr`, the index for the instruction rdpmc */
};

struct tare_msr_op {
	__u32 msr;
	__u16 kind;
	/* in: 0; out: 0, or -EIO (#GP), -ECANCELED (an earlier one failed), or as above */
	__s16 err;
	__u64 value;
};

enum { TARE_MSR_KEEP_GOING = 1 }; /* flags: continue after an operation that fails */

struct tare_msr_batch {
	__u32 version; /* TARE_MSR_VERSION */
	__u32 cpu;
	__u32 n; /* 1 .. TARE_MSR_OPS_MAX */
	__u32 flags;
	__u32 handle;              /* out of PREPARE, into REPEAT and DROP; else 0 */
	__u32 done;                /* out: number of operations that succeeded */
	__u64 ops;                 /* address of n struct tare_msr_op */
	__u64 tsc_first, tsc_last; /* out: time stamps before and after the operations */
};

struct tare_msr_info {
	__u32 version;
	__u32 maker; /* enum tare_msr_maker: the list has this maker's registers */
	/*
	 * the process that has reserved the counters, in the reader's PID namespace; 0: none,
	 * ended, or not visible there
	 */
	__u32 holder_pid;
	__u32 held;      /* 1: a file has written through this module and is not closed yet */
	char holder[16]; /* the name of its process */
};

/*
 * -EPROTO: a module of another version. -EACCES: refused, see each err. -EIO: something faulted,
 * see each err. -EBADF: it writes, and the file is open for reading only. -ENXIO: that CPU is off.
 * -ESTALE: that CPU was off, or the machine slept, since this file wrote to it, and its writes were
 * undone. -EBUSY: perf or another file has reserved the counters. -EAGAIN: the machine is about to
 * sleep or to restart. -EPERM: locked down. -ENOENT: no such handle. -ENOSPC: too many prepared.
 * -EDQUOT, of PREPARE and of open(2): over TARE_MSR_USER_BYTES.
 */
#define TARE_MSR_INFO _IOR('t', 0x60, struct tare_msr_info)
#define TARE_MSR_RUN  _IOWR('t', 0x61, struct tare_msr_batch)
/* check and keep, without running */
#define TARE_MSR_PREPARE _IOWR('t', 0x62, struct tare_msr_batch)
/* run a prepared batch; results in ops */
#define TARE_MSR_REPEAT _IOWR('t', 0x63, struct tare_msr_batch)
#define TARE_MSR_DROP   _IOWR('t', 0x64, struct tare_msr_batch)

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tare's own kernel module: one system call and one interrupt on the other CPU for a whole batch.
 * See kmod/tare_msr.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/file.h"
#include "msr/registers.h"

static int module_open(struct registers *r, struct tare_error *err)
{
	struct tare_msr_info info;
	char path[300];
	int code;

	snprintf(path, sizeof(path), "%s/tare_msr", r->root);
	r->fd = open(path, (r->write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	code = errno;
	if (r->fd < 0 && (code == ENOENT || code == ENXIO || code == ENODEV)) {
		tare_fail(err, ENOENT, "%s: %s", path, strerror(code));
		tare_hint(err, "as root: modprobe tare_msr (see kmod/ of tare)");
		return -ENOENT;
	}
	if (r->fd < 0 && code == EDQUOT) {
		tare_fail(
			err, code,
			"cannot open %s: this user's open files of the module keep too much memory",
			path);
		tare_hint(err, "close some; the limit is %u MiB per user: see tare_msr(4)",
			  TARE_MSR_USER_BYTES >> 20);
		return -code;
	}
	if (r->fd < 0) {
		tare_fail(err, code, "cannot open %s: %s", path, strerror(code));
		tare_hint(
			err,
			"it takes CAP_PERFMON and the right to the file, and a kernel that is not locked down: see tare_msr(4)");
		return -code;
	}
	if (ioctl(r->fd, TARE_MSR_INFO, &info) < 0 || info.version != TARE_MSR_VERSION) {
		close(r->fd);
		tare_fail(err, EPROTO, "%s is of another version than this tare", path);
		tare_hint(err, "build and load the module that came with it");
		return -EPROTO;
	}
	return 0;
}

static int who_has_them(struct registers *r, struct tare_error *err)
{
	struct tare_msr_info info = { 0 };
	char watchdog[16] = "";

	if (ioctl(r->fd, TARE_MSR_INFO, &info) == 0 && info.held) {
		char pid[48] = "its PID is not visible here";

		if (info.holder_pid)
			snprintf(pid, sizeof(pid), "pid %u", info.holder_pid);
		tare_fail(err, EBUSY,
			  "the counters are held by %.15s (%s), through the same module",
			  info.holder, pid);
		tare_hint(err, "wait until it is done");
		return -EBUSY;
	}
	file_line("", "/proc/sys/kernel/nmi_watchdog", watchdog, sizeof(watchdog), NULL);
	if (!strcmp(watchdog, "1")) {
		tare_fail(err, EBUSY,
			  "perf has the counters: the kernel's watchdog counts on every CPU");
		tare_hint(err, "as root: sysctl kernel.nmi_watchdog=0, and =1 afterwards");
	} else {
		tare_fail(
			err, EBUSY,
			"perf has the counters: some process counts hardware events, or a virtual machine does");
		tare_hint(err, "end it, or count by perf too: --engine perf");
	}
	return -EBUSY;
}

static int module_run(struct registers *r, int cpu, struct tare_msr_op *op, size_t n,
		      struct registers_span *span, struct tare_error *err)
{
	struct tare_msr_batch b = { .version = TARE_MSR_VERSION,
				    .cpu = (uint32_t)cpu,
				    .n = (uint32_t)n,
				    .ops = (uintptr_t)op };
	int ret = ioctl(r->fd, TARE_MSR_RUN, &b) < 0 ? -errno : 0;

	span->tsc_first = b.tsc_first;
	span->tsc_last = b.tsc_last;
	for (size_t i = 0; ret == -EACCES && i < n; i++)
		if (op[i].err) {
			msr_op_check(&op[i], r->maker, err);
			if (!err->what[0])
				tare_fail(err, EACCES, "the module does not allow it");
			tare_hint(
				err,
				"no operation of the batch was executed. The kernel's own device reads any register: --via msr");
			registers_none_ran(op, n);
			return ret;
		}
	if (ret == -EBUSY)
		return who_has_them(r, err);
	if (ret == -ESTALE)
		return tare_fail(
			err, ESTALE,
			"the CPU was off, or the machine slept: the registers were restored");
	if (ret == -EAGAIN)
		return tare_fail(err, EAGAIN, "the machine is about to sleep or to restart");
	return ret;
}

static void module_close(struct registers *r)
{
	close(r->fd);
}

const struct way way_module = {
	"module",     "tare's kernel module: checked, in one go, put back on close",
	module_open,  module_run,
	module_close, true
};

/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own device: a file per CPU, eight bytes at the offset of the register's number.
 * Source: msr(4).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "msr/registers.h"

static int open_cpu(struct registers *r, int cpu, struct tare_error *err)
{
	char path[320];
	int fd, none = -1, code;

	if (cpu < 0 || cpu >= REGISTERS_CPUS_MAX)
		return -ENXIO;
	fd = __atomic_load_n(&r->by_cpu[cpu], __ATOMIC_ACQUIRE);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/cpu/%d/msr", r->root, cpu);
	fd = open(path, (r->write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	code = errno;
	if (fd < 0 && (code == ENXIO || (code == ENOENT && cpu > 0)))
		return -ENXIO;
	if (fd < 0 && code == ENOENT) {
		tare_fail(err, ENOENT, "there is no %s", path);
		tare_hint(err, "as root: modprobe msr");
		return -ENOENT;
	}
	if (fd < 0 && (code == EACCES || code == EPERM)) {
		tare_fail(err, code, "cannot open %s: %s", path, strerror(code));
		tare_hint(err, "as root: it takes CAP_SYS_RAWIO and the right to the file");
		return -code;
	}
	if (fd < 0)
		return tare_fail(err, code, "cannot open %s: %s", path, strerror(code));
	/* Another thread may have opened it first. */
	if (!__atomic_compare_exchange_n(&r->by_cpu[cpu], &none, fd, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		close(fd);
		return none;
	}
	return fd;
}

static int msr_open(struct registers *r, struct tare_error *err)
{
	int ret;

	r->by_cpu = malloc(REGISTERS_CPUS_MAX * sizeof(*r->by_cpu));
	if (!r->by_cpu)
		return tare_fail_nomem(err);
	for (int i = 0; i < REGISTERS_CPUS_MAX; i++)
		r->by_cpu[i] = -1;
	ret = open_cpu(r, 0, err);
	return ret < 0 ? ret : 0;
}

static int why_no_write(int code, struct tare_error *err)
{
	char mode[16] = "";

	if (code == EPERM)
		file_line("", "/sys/module/msr/parameters/allow_writes", mode, sizeof(mode), NULL);
	if (!strcmp(mode, "off")) {
		tare_fail(err, EPERM, "the msr driver is configured to allow no writes");
		tare_hint(
			err,
			"as root: echo on >/sys/module/msr/parameters/allow_writes; or the module: --via module");
	}
	return -code;
}

static int run_op(int fd, struct tare_msr_op *op, struct tare_error *err)
{
	uint64_t value = op->value;
	ssize_t n;

	switch (op->kind) {
	case TARE_MSR_READ:
		n = pread(fd, &value, sizeof(value), op->msr);
		if (n == sizeof(value))
			op->value = value;
		break;
	case TARE_MSR_WRITE:
		n = pwrite(fd, &value, sizeof(value), op->msr);
		if (n < 0)
			return why_no_write(errno, err);
		break;
	case TARE_MSR_TSC:
		n = pread(fd, &value, sizeof(value), 0x10);
		if (n == sizeof(value))
			op->value = value;
		break;
	default:
		return tare_fail(
			err, EOPNOTSUPP,
			"the kernel's own device has no rdpmc: read the counter's register, or --via module");
	}
	return n == sizeof(value) ? 0 : n < 0 ? -errno : -EIO;
}

static int msr_run(struct registers *r, int cpu, struct tare_msr_op *op, size_t n,
		   struct registers_span *span, struct tare_error *err)
{
	int fd = open_cpu(r, cpu, err), ret = 0;

	(void)span;
	if (fd < 0)
		return fd;
	for (size_t i = 0; i < n; i++) {
		if (ret < 0) {
			op[i].err = -ECANCELED;
			continue;
		}
		ret = run_op(fd, &op[i], err);
		op[i].err = (int16_t)ret;
	}
	return ret;
}

static void msr_close(struct registers *r)
{
	for (int i = 0; i < REGISTERS_CPUS_MAX; i++)
		if (r->by_cpu[i] >= 0)
			close(r->by_cpu[i]);
}

const struct way way_msr = {
	"msr",     "the kernel's /dev/cpu/N/msr: one call per register, nothing is put back",
	msr_open,  msr_run,
	msr_close, false
};

/* SPDX-License-Identifier: MIT */
/*
 * msr-safe's batch device. Its administrator's list applies in addition to ours. Source: msr-safe's
 * README and msr_safe.h, which define the layout and number used here.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "msr/registers.h"

struct safe_op {
	uint16_t cpu, is_read;
	int32_t err;
	uint32_t msr;
	uint64_t value, mask;
};

struct safe_batch {
	uint32_t n, version;
	struct safe_op *op;
};

#define SAFE_BATCH _IOWR('c', 0xa2, struct safe_batch)

static int safe_open(struct registers *r, struct tare_error *err)
{
	char path[300];
	int code;

	snprintf(path, sizeof(path), "%s/cpu/msr_batch", r->root);
	r->fd = open(path, O_RDWR | O_CLOEXEC);
	code = errno;
	if (r->fd >= 0)
		return 0;
	tare_fail(err, code, "cannot open %s: %s", path, strerror(code));
	return code == ENXIO || code == ENODEV ? -ENOENT : -code;
}

/*
 * msr-safe runs the whole list and does not stop at an error, but an operation may depend on the
 * one before it.
 */
static int safe_run(struct registers *r, int cpu, struct tare_msr_op *op, size_t n,
		    struct registers_span *span, struct tare_error *err)
{
	struct safe_op safe[TARE_MSR_OPS_MAX] = { 0 };
	struct safe_batch b = { .n = (uint32_t)n, .op = safe };
	int ret;

	(void)span;
	for (size_t i = 0; i < n; i++) {
		if (op[i].kind != TARE_MSR_READ && op[i].kind != TARE_MSR_WRITE) {
			op[i].err = -EOPNOTSUPP;
			return tare_fail(err, EOPNOTSUPP,
					 "msr-safe reads and writes registers only: --via module");
		}
		safe[i] = (struct safe_op){ .cpu = (uint16_t)cpu,
					    .is_read = op[i].kind == TARE_MSR_READ,
					    .msr = op[i].msr,
					    .value = op[i].value };
	}
	ret = ioctl(r->fd, SAFE_BATCH, &b) < 0 ? -errno : 0;
	for (size_t i = 0; i < n; i++) {
		op[i].err = (int16_t)safe[i].err;
		if (op[i].kind == TARE_MSR_READ)
			op[i].value = safe[i].value;
		/* Some versions report it only in the operation. */
		if (op[i].err && ret == 0)
			ret = op[i].err;
		if (op[i].err == -EACCES) {
			tare_fail(err, EACCES, "msr-safe's list does not allow it");
			tare_hint(err, "its list: /dev/cpu/msr_allowlist");
			return -EACCES;
		}
	}
	return ret;
}

static void safe_close(struct registers *r)
{
	close(r->fd);
}

const struct way way_msr_safe = { "msr-safe", "msr-safe's batch device: its own list, in one go",
				  safe_open,  safe_run,
				  safe_close, false };

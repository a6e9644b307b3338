/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/privilege.h"

/* The capabilities that execve(2) passes to any program. Source: capabilities(7), "Ambient". */
static uint64_t ambient(void)
{
	uint64_t set = 0;

	for (int i = 0; i < 64; i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0) == 1)
			set |= UINT64_C(1) << i;
	return set;
}

int privilege_drop(struct tare_error *err)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t keep = ambient();

	if (geteuid() == 0)
		return 0;
	if (syscall(SYS_capget, &head, data) < 0)
		return tare_fail(err, errno, "cannot read the capabilities of this process: %s",
				 strerror(errno));
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(keep >> 32 * i);
		data[i].effective &= data[i].permitted;
		data[i].inheritable &= data[i].permitted;
	}
	if (syscall(SYS_capset, &head, data) < 0)
		return tare_fail(err, errno, "cannot drop the capabilities of this process: %s",
				 strerror(errno));
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/file.h"
#include "exact/exact.h"
#include "launch/turns.h"

/*
 * Can a real-time task that spins take all the time of a CPU? Then the terminal or the ssh session
 * on that CPU, which passes Ctrl-C on, would never run. Source:
 * Documentation/scheduler/sched-rt-group.rst.
 */
static bool is_unbounded(void)
{
	static const char path[] = "/proc/sys/kernel/sched_rt_runtime_us";
	char line[32];

	return file_line(NULL, path, line, sizeof(line), NULL) >= 0 && strtol(line, NULL, 10) < 0;
}

static void refused(struct determinism *f, int code)
{
	if (code == EPERM && geteuid())
		determinism_miss(
			f, FIXED_TURNS,
			"SCHED_FIFO needs root, CAP_SYS_NICE or 'ulimit -r %d'; the threads only share one CPU",
			EXACT_TURNS_PRIORITY);
	else if (code == EPERM)
		determinism_miss(
			f, FIXED_TURNS,
			"SCHED_FIFO is refused: no CAP_SYS_NICE, or a cgroup with cpu.rt_runtime_us 0");
	else
		determinism_miss(f, FIXED_TURNS, "SCHED_FIFO is refused: %s", strerror(code));
}

void turns_begin(struct determinism *f, struct turns_before *before)
{
	const struct sched_param own = { .sched_priority = EXACT_TURNS_PRIORITY };
	const int policy = sched_getscheduler(0);
	struct rlimit time;

	before->policy = -1;
	if (!(determinism_tried(f) & FIXED(TURNS)))
		return;
	if (getrlimit(RLIMIT_RTTIME, &time) == 0 && time.rlim_cur != RLIM_INFINITY)
		determinism_miss(f, FIXED_TURNS,
				 "RLIMIT_RTTIME would end the command; use 'ulimit -R unlimited'");
	else if (is_unbounded())
		determinism_miss(
			f, FIXED_TURNS,
			"kernel.sched_rt_runtime_us is -1: a spinning command could not be ended; set it to 950000");
	else if (policy < 0 || sched_getparam(0, &before->param) < 0 ||
		 sched_setscheduler(0, SCHED_FIFO, &own) < 0)
		refused(f, errno);
	else
		before->policy = policy;
}

void turns_restore(struct turns_before *before)
{
	if (before->policy >= 0)
		sched_setscheduler(0, before->policy, &before->param);
	before->policy = -1;
}

/* SPDX-License-Identifier: MIT */
/*
 * Does reading a counter without a system call work? The instruction kills the program if it is not
 * allowed, and the kernel's page does not always show that. So a child process tries it, and its
 * death is a result, too.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "host/probe.h"
#include "source/page.h"

static bool count_now(const struct perf_event_mmap_page *page, uint64_t *count)
{
	for (int tries = 0; tries < PAGE_TRIES; tries++)
		if (tare_page_count(page, count))
			return true;
	return false;
}

/* The same work as for reads through the kernel, read from the page; see probe.c. */
static struct attempt read_page(const struct perf_event_mmap_page *page)
{
	struct attempt a = { .outcome = OUTCOME_OFF };
	uint64_t c[3];

	/* Index 0: not on a counter, or not for user space. */
	if (!page->cap_user_rdpmc || page->index == 0)
		return a;
	for (int i = 0; i < 3; i++) {
		if (i)
			cpu_loop((uint64_t)i * PROBE_TURNS);
		if (!count_now(page, &c[i]))
			return a;
	}
	probe_loop_bounds(&a, c[1] - c[0], c[2] - c[1]);
	a.outcome = a.count == 0                      ? OUTCOME_ZERO
		: a.count < a.low || a.count > a.high ? OUTCOME_WRONG
						      : OUTCOME_COUNTED;
	return a;
}

static struct attempt in_child(struct perf_event_attr *attr)
{
	struct attempt a = { .outcome = OUTCOME_REFUSED };
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0) {
		void *page = mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, fd, 0);

		if (page != MAP_FAILED)
			return read_page(page); /* the child ends here: nothing to undo */
	}
	a.code = errno;
	return a;
}

struct attempt probe_user_read(struct perf_event_attr attr)
{
	struct attempt a = { .outcome = OUTCOME_REFUSED, .code = EFAULT };
	const struct rlimit no_core = { 0, 0 };
	int ends[2];
	pid_t child;

	attr.size = sizeof(attr);
	if (!pmc_ask(&attr, false))
		return (struct attempt){ .outcome = OUTCOME_REFUSED, .code = EOPNOTSUPP };
	if (pipe(ends) < 0)
		return (struct attempt){ .outcome = OUTCOME_UNTRIED };
	child = fork();
	if (child == 0) {
		struct attempt mine;

		prctl(PR_SET_DUMPABLE, 0);
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGILL, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		mine = in_child(&attr);
		_exit(write(ends[1], &mine, sizeof(mine)) == sizeof(mine) ? 0 : 1);
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &a, sizeof(a)) < 0)
		a = (struct attempt){ .outcome = OUTCOME_UNTRIED };
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return a;
}

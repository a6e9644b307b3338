/* SPDX-License-Identifier: MIT */
/* The peak of the memory of a child process that does some work, in bytes. */
#ifndef TESTS_PEAK_H
#define TESTS_PEAK_H

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

/* The kernel adds up its counts of pages per CPU late. Sanitizers keep freed memory. */
enum { PEAK_ROOM = TAP_ADDRESS_SANITIZER || TAP_THREAD_SANITIZER ? 1 << 30 : 4 << 20 };

/* VmHWM, the peak of the resident memory. Source: proc_pid_status(5). */
static inline uint64_t peak_now(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

/* 0: a check in it failed. */
static inline uint64_t peak_of(void work(void *), void *with)
{
	uint64_t *peak = mmap(NULL, sizeof(*peak), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0),
		 is = 0;
	int status = -1;
	pid_t child;

	if (peak == MAP_FAILED)
		return 0;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		work(with);
		*peak = peak_now();
		_exit(tap_failures ? TAP_FAILED : 0);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
		is = *peak;
	munmap(peak, sizeof(*peak));
	return is;
}

#endif

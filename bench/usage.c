/* SPDX-License-Identifier: MIT */
/*
 * usage FILE COMMAND...: runs a command and writes "cpu-seconds peak-KiB page-faults" of its whole
 * process tree to FILE, including processes that outlive it. A small separate program, because a
 * child starts with the peak of the process that it was forked from. Exits with the command's
 * status.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	double seconds = 0;
	long peak = 0, faults = 0;
	int status, end = 125 << 8;
	struct rusage u;
	pid_t first, pid;
	FILE *f;

	if (argc < 3) {
		fprintf(stderr, "usage: usage FILE COMMAND...\n");
		return 125;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	first = fork();
	if (first == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	while ((pid = wait4(-1, &status, 0, &u)) > 0) {
		seconds += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
		faults += u.ru_minflt + u.ru_majflt;
		if (u.ru_maxrss > peak)
			peak = u.ru_maxrss;
		if (pid == first)
			end = status;
	}
	f = fopen(argv[1], "we");
	if (!f || fprintf(f, "%.6f %ld %ld\n", seconds, peak, faults) < 0 || fclose(f) != 0) {
		perror(argv[1]);
		return 125;
	}
	return WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end);
}

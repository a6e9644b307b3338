/*
 * The vDSO: clocks, time, getcpu.
 * exact: build=dynamic compare=output reason=clock_reads_retry_when_the_kernel_updates_them
 */
#include <sched.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

int main(void)
{
	struct timespec a, b;
	int backwards = 0;

	for (int i = 0; i < 2000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &a);
		clock_gettime(CLOCK_MONOTONIC, &b);
		backwards += b.tv_sec < a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec < a.tv_nsec);
	}
	printf("%d %d %d\n", backwards, time(NULL) > 1600000000, sched_getcpu() >= 0);
	return 0;
}

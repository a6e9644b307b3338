/* exact: build=dynamic compare=workers ldflags=-Wl,-z,now
 * POSIX threads: workers of fixed work, whose counts are compared one by one; the first thread's
 * own depends on who wins which futex. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];

static void *work(void *arg)
{
	unsigned long sum = 0, n = (unsigned long)arg;

	for (unsigned long i = 0; i < 200 * n; i++)
		sum = sum * 31 + i;
	if (write(ends[1], &sum, sizeof(sum)) != sizeof(sum))
		_exit(1);
	return (void *)sum;
}

int main(void)
{
	unsigned long total = 0, got;
	pthread_t t[5];

	if (pipe(ends) < 0)
		return 1;
	for (unsigned long i = 0; i < 5; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 5; i++) {
		if (read(ends[0], &got, sizeof(got)) != sizeof(got))
			return 1;
		total += got;
		pthread_join(t[i], NULL);
	}
	printf("%lu\n", total);
	return 0;
}

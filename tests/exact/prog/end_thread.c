/* exact: compare=output reason=when_the_other_threads_are_stopped_varies
 * exact: build=dynamic
 * exit_group from another thread while others run and block. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *spin(void *arg)
{
	(void)arg;
	for (volatile int i = 0;; i++)
		;
	return NULL;
}

static void *end(void *arg)
{
	(void)arg;
	usleep(50000);
	_exit(33);
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, spin, NULL);
	pthread_create(&t, NULL, end, NULL);
	puts("started");
	fflush(stdout);
	pthread_join(t, NULL);
	return 1;
}

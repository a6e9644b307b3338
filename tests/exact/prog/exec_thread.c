/* exec from a thread that is not the first: the others end, the process id stays.
 * exact: build=dynamic compare=output reason=when_the_first_thread_is_stopped_varies */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *run(void *arg)
{
	execl("/bin/echo", "echo", (char *)arg, NULL);
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, run, "from a thread");
	for (;;)
		pause();
}

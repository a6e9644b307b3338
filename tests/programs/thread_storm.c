/* SPDX-License-Identifier: MIT */
/* Starts and joins threads, 100 at a time. Each touches one page of its stack. usage: thread_storm N */
#include <pthread.h>
#include <stdlib.h>

enum { AT_A_TIME = 100, STACK = 65536 };

static void *touch(void *unused)
{
	volatile char page[4096] = { 1 };

	return page[0] ? unused : NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[AT_A_TIME];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (int left = argc > 1 ? atoi(argv[1]) : 0; left > 0; left -= AT_A_TIME) {
		for (int i = 0; i < AT_A_TIME; i++)
			if (pthread_create(&thread[i], &attr, touch, NULL))
				return 1;
		for (int i = 0; i < AT_A_TIME; i++)
			pthread_join(thread[i], NULL);
	}
	return 0;
}

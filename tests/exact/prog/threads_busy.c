/* exact: build=dynamic compare=output reason=locks_are_taken_in_an_order_that_varies
 * Eight threads with mutexes, conditions, thread-local and atomic data, malloc and signals between
 * them. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int whose, plain;
static atomic_int counter;
static __thread int mine;
static atomic_int signals;

static void on(int sig)
{
	(void)sig;
	signals++;
}

static void *work(void *arg)
{
	int me = (int)(long)arg;

	for (int i = 0; i < 500; i++) {
		char *p = malloc((size_t)(i * 7 % 900 + 1));

		memset(p, i, (size_t)(i * 7 % 900 + 1));
		mine++;
		counter++;
		pthread_mutex_lock(&lock);
		plain++;
		pthread_mutex_unlock(&lock);
		free(p);
	}
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		while (whose != me)
			pthread_cond_wait(&turn, &lock);
		whose = (me + 1) % 8;
		pthread_cond_broadcast(&turn);
		pthread_mutex_unlock(&lock);
	}
	pthread_kill(pthread_self(), SIGUSR1);
	return (void *)(long)mine;
}

int main(void)
{
	pthread_t t[8];
	long total = 0;

	signal(SIGUSR1, on);
	for (long i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 8; i++) {
		void *got;

		pthread_join(t[i], &got);
		total += (long)got;
	}
	printf("%ld %d %d %d %d\n", total, plain, counter, whose, signals);
	return 0;
}

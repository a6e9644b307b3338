/* SPDX-License-Identifier: MIT */
/* Prints an order that depends on the scheduler: of threads, children, signals or descriptors. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 4, EACH = 200, CHILDREN = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static char list[1 << 16];
static volatile int n, begun, caught[N];

static void work(unsigned rounds)
{
	for (volatile unsigned i = 0; i < rounds; i++)
		;
}

static void append(char c)
{
	list[n] = c;
	n = n + 1;
}

static void *appends(void *p)
{
	long self = (long)p;

	for (int i = 0; i < EACH; i++) {
		work(1000u + 3000u * ((unsigned)i * 7u % 5u));
		pthread_mutex_lock(&lock);
		append((char)('a' + self));
		pthread_cond_broadcast(&more);
		while (n < 50 && i > 20 + self)
			pthread_cond_wait(&more, &lock);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[N];

	for (long i = 0; i < N; i++)
		pthread_create(&t[i], NULL, appends, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
}

/* Children that end in an order that depends on the scheduler. */
static void children(void)
{
	pid_t first = 0, pid;

	for (int i = 0; i < CHILDREN; i++) {
		pid = fork();
		if (!pid) {
			work(100000u * (unsigned)(i * 5 % CHILDREN));
			_exit(i);
		}
		first = first ? first : pid;
	}
	while ((pid = waitpid(-1, NULL, 0)) > 0)
		append((char)('a' + pid - first));
}

/* Children that write more to one pipe than it can hold. */
static void pipeline(void)
{
	static char much[100000];
	int fds[2];
	char got[1000];
	ssize_t k;

	if (pipe(fds) < 0)
		exit(2);
	for (int i = 0; i < N; i++)
		if (!fork()) {
			memset(much, 'a' + i, sizeof(much));
			close(fds[0]);
			_exit(write(fds[1], much, sizeof(much)) != sizeof(much));
		}
	close(fds[1]);
	while ((k = read(fds[0], got, sizeof(got))) > 0)
		for (ssize_t i = 0; i < k; i += 500)
			append(got[i]);
	while (wait(NULL) > 0)
		;
}

static void on_signal(int sig)
{
	(void)sig;
	for (int i = 0; i < N; i++)
		if (!caught[i]) {
			caught[i] = n + 1;
			break;
		}
}

static void *receives(void *p)
{
	begun = begun + 1;
	while (!caught[N - 1])
		n = n + 1;
	return p;
}

/* A signal arrives where the receiver is at that moment. */
static void signals(void)
{
	const struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t t;

	sigaction(SIGUSR1, &a, NULL);
	pthread_create(&t, NULL, receives, NULL);
	while (!begun)
		;
	for (int i = 0; i < N; i++) {
		work(300000);
		pthread_kill(t, SIGUSR1);
		while (!caught[i])
			;
	}
	pthread_join(t, NULL);
	n = 0;
	for (int i = 0; i < N; i++)
		n += sprintf(list + n, "%d ", caught[i]);
}

/* Which descriptors are ready when epoll_wait() returns. */
static void events(void)
{
	int fds[N][2], all = epoll_create1(0), left = N;
	struct epoll_event found[N];

	for (int i = 0; i < N; i++) {
		struct epoll_event e = { .events = EPOLLIN, .data.u32 = (uint32_t)i };

		if (pipe(fds[i]) < 0)
			exit(2);
		epoll_ctl(all, EPOLL_CTL_ADD, fds[i][0], &e);
		if (!fork()) {
			for (int k = 0; k < 20; k++) {
				work(20000u * (unsigned)(1 + (i + k) % N));
				if (write(fds[i][1], "x", 1) != 1)
					_exit(1);
			}
			_exit(0);
		}
		close(fds[i][1]);
	}
	while (left) {
		int k = epoll_wait(all, found, N, 10000);

		append((char)('0' + k));
		for (int i = 0; i < k; i++) {
			char got[4];

			if (read(fds[found[i].data.u32][0], got, sizeof(got)) > 0)
				append((char)('a' + found[i].data.u32));
			else
				epoll_ctl(all, EPOLL_CTL_DEL, fds[found[i].data.u32][0], NULL),
					left--;
		}
	}
	while (wait(NULL) > 0)
		;
}

static void *sleeps(void *p)
{
	const struct timespec some = { 0, 1000000 * (1 + (long)p) };

	for (int i = 0; i < 20; i++) {
		nanosleep(&some, NULL);
		pthread_mutex_lock(&lock);
		append((char)('a' + (long)p));
		pthread_mutex_unlock(&lock);
		work(50000);
	}
	return NULL;
}

static void sleepers(void)
{
	pthread_t t[N];

	for (long i = 0; i < N; i++)
		pthread_create(&t[i], NULL, sleeps, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
}

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *p)
{
	pthread_mutex_lock(p ? &lock : &other);
	begun = begun + 1;
	while (begun < 2)
		work(1000);
	pthread_mutex_lock(p ? &other : &lock);
	return NULL;
}

static void deadlock(void)
{
	pthread_t t[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, locks, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "threads", threads },   { "children", children }, { "pipeline", pipeline },
	{ "signals", signals },   { "events", events },     { "sleepers", sleepers },
	{ "deadlock", deadlock },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].run();
			printf("%.*s\n", n, list);
			return 0;
		}
	return 2;
}

/* A read that blocks, interrupted by a timer: restarted under SA_RESTART, EINTR without. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static int ends[2];
static volatile int ticks;

static const struct itimerval often = { { 0, 300000 }, { 0, 300000 } },
			      once = { { 0, 0 }, { 0, 300000 } }, none;

/* The third is the last: on a busy machine a slow judge may be in here for long. */
static void on(int sig)
{
	(void)sig;
	if (++ticks == 3 && (setitimer(ITIMER_REAL, &none, NULL) || write(ends[1], "x", 1) != 1))
		_exit(1);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on, .sa_flags = SA_RESTART };
	char c;
	ssize_t got;

	if (pipe(ends) < 0)
		return 1;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	got = read(ends[0], &c, 1);
	sa.sa_flags = 0;
	sigaction(SIGALRM, &sa, NULL);
	printf("%zd %d\n", got, ticks);
	setitimer(ITIMER_REAL, &once,
		  NULL); /* directly before: a slow judge must be in the read by the first tick */
	got = read(ends[0], &c, 1);
	printf("%zd %d\n", got, errno == EINTR);
	return 0;
}

/* exact: compare=output reason=the_loop_runs_until_the_clock_says_so
 * 200 timer signals into a busy loop with recursion, string and floating-point work: whatever the
 * point they come at, the sums stay right. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile int ticks;

static void on(int sig)
{
	char a[200], b[200];

	(void)sig;
	memset(a, ticks, sizeof(a));
	memcpy(b, a, sizeof(a));
	ticks += b[7] == (char)ticks;
}

static unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on };
	struct itimerval it = { { 0, 1000 }, { 0, 1000 } };
	unsigned long wrong = 0;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	while (ticks < 200) {
		char text[300], other[300];
		double d = 0;

		memset(text, 'x', sizeof(text));
		memcpy(other, text, sizeof(text));
		for (int i = 1; i < 50; i++)
			d += 1.0 / i;
		wrong += fib(12) != 144 || memcmp(text, other, sizeof(text)) || d < 4.4791 ||
			d > 4.4793;
	}
	printf("%lu\n", wrong);
	return 0;
}

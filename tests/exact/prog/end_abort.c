/* abort, with the handler that returns. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void on(int sig)
{
	printf("signal %d\n", sig);
	fflush(stdout);
}

int main(void)
{
	signal(SIGABRT, on);
	abort();
}

/* SPDX-License-Identifier: MIT */
/* One function's work hangs on the pid, another's does not. */
#include <unistd.h>

__attribute__((noinline)) int unsteady(int n)
{
	int sum = 0;

	for (volatile int i = 0; i < n; i++)
		sum += i;
	return sum;
}

__attribute__((noinline)) int steady(void)
{
	int sum = 0;

	for (volatile int i = 0; i < 1000; i++)
		sum += i;
	return sum;
}

int main(void)
{
	return (unsteady(getpid() % 5000) + steady()) & 0;
}

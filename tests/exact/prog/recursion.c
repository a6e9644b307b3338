/* exact: linear=100,300,150000
 * exact: flags=-fno-optimize-sibling-calls
 * Recursion as deep as argv[1] says, and back, with a value passed both ways. */
#include <stdlib.h>

static unsigned __attribute__((noinline)) down(unsigned n, unsigned x)
{
	volatile unsigned keep = x;

	return n ? down(n - 1, x * 3 + 1) + keep : x;
}

int main(int argc, char **argv)
{
	char padded[9] = "00000000";
	size_t n = 0;
	unsigned long v = 0;

	/* strtoul would take a number of instructions that depends on the digits */
	while (argc > 1 && argv[1][n])
		n++;
	for (size_t i = 0; i < n; i++)
		padded[8 - n + i] = argv[1][i];
	for (int i = 0; i < 8; i++)
		v = v * 10 + (unsigned long)(padded[i] - '0');
	return (int)(down((unsigned)v, 1) & 1);
}

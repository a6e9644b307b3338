/* exact: linear=100,300,150000
 * exact: flags=-fno-optimize-sibling-calls
 * Recursion as deep as argv[1] says, and back, with a value passed both ways. */
static unsigned __attribute__((noinline)) down(unsigned n, unsigned x)
{
	volatile unsigned keep = x;

	return n ? down(n - 1, x * 3 + 1) + keep : x;
}

int main(int argc, char **argv)
{
	unsigned v = 0;

	for (const char *p = argc > 1 ? argv[1] : ""; *p; p++)
		v = v * 10 + (unsigned)(*p - '0');
	return (int)(down(v, 1) & 1);
}

/* SPDX-License-Identifier: MIT */
/*
 * The same work twice, and with the argument 2 other work in between: no clock, no ids, nothing
 * that varies between runs.
 */
static volatile unsigned sink;

static unsigned __attribute__((noinline)) step(unsigned n)
{
	return n * 2654435761u >> 7;
}

static void __attribute__((noinline)) work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink += step(i);
}

static void __attribute__((noinline)) other(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink ^= sink << 1 ^ i;
}

int main(int argc, char **argv)
{
	work(100000);
	if (argc > 1 && argv[1][0] == '2')
		other(50000);
	work(100000);
	return 0;
}

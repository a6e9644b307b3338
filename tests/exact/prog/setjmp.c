/* setjmp and longjmp over many frames, sigsetjmp, and a jump out of a callback of qsort. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf out;

static void __attribute__((noinline)) down(int n)
{
	volatile char pad[64];

	pad[0] = (char)n;
	if (n == 0)
		longjmp(out, 7 + pad[0]);
	down(n - 1);
	pad[1] = pad[0];
}

static int compare(const void *a, const void *b)
{
	static int calls;

	if (++calls == 20)
		longjmp(out, 99);
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	volatile int total = 0;
	int v[32];

	for (volatile int i = 0; i < 10; i++) {
		int got = setjmp(out);

		if (got == 0)
			down(i * 3);
		total += got;
	}
	for (int i = 0; i < 32; i++)
		v[i] = i * 37 % 32;
	if (setjmp(out) == 0)
		qsort(v, 32, sizeof(*v), compare);
	else
		total += 1000;
	printf("%d\n", total);
	return 0;
}

/* exact: build=dynamic compare=output reason=threads_end_in_an_order_that_varies
 * Threads that call 1,000 functions by their addresses, each in an order of its own, while the
 * engine meets them one by one.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { FUNCTIONS = 1000, CALLS = 30000, THREADS = 3 };

/* The n-th adds n + 1. */
__asm__(".text\n.balign 16\nfunctions:\n.set n, 0\n.rept 1000\n.balign 16\n.set n, n + 1\nlea n(%rdi), %rax\nret\n.endr\n");
extern const char functions[];

static void *work(void *arg)
{
	uint64_t random = (uint64_t)(uintptr_t)arg, sum = 0;

	for (int i = 0; i < CALLS; i++) {
		uint64_t known = i < 2 * FUNCTIONS ? (uint64_t)i / 2 + 1
						   : FUNCTIONS; /* more and more of them */
		uint64_t (*f)(uint64_t);

		random = random * 6364136223846793005u + 1442695040888963407u;
		f = (uint64_t(*)(uint64_t))(uintptr_t)(functions + (random >> 33) % known * 16);
		sum = f(sum);
	}
	return (void *)(uintptr_t)sum;
}

int main(void)
{
	pthread_t t[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(i + 1)) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++) {
		void *sum;

		pthread_join(t[i], &sum);
		printf("%lu\n", (unsigned long)(uintptr_t)sum);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Code that is generated, executed for the first time by several threads at once, and discarded,
 * over and over, as a JIT compiler does. Prints how many rounds all threads have done.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 3, ROUNDS = 3000, JUMPS = 60 };

static atomic_int round_now, done;
static int (*volatile code)(void);
static atomic_long sum;

static void *worker(void *unused)
{
	for (int r = 1; r <= ROUNDS; r++) {
		while (atomic_load(&round_now) < r)
			sched_yield();
		atomic_fetch_add(&sum, code());
		atomic_fetch_add(&done, 1);
	}
	return unused;
}

/* mov $1, %eax; then jumps to the next instruction, each the end of a block; ret. */
static void make(unsigned char *p)
{
	static const unsigned char mov[] = { 0xb8, 1, 0, 0, 0 };

	memcpy(p, mov, sizeof mov);
	p += sizeof mov;
	for (int i = 0; i < JUMPS; i++)
		*p++ = 0xeb, *p++ = 0;
	*p = 0xc3;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int r = 1; r <= ROUNDS; r++) {
		unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return 1;
		make(p);
		code = (int (*)(void))p;
		atomic_store(&round_now, r);
		while (atomic_load(&done) < r * THREADS)
			sched_yield();
		munmap(p, 4096);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", atomic_load(&sum));
	return 0;
}

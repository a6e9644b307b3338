/*
 * A program that reads its own counts, in every place that could shift them: with flags live, in
 * loops, around rep and system calls, in handlers of signals and faults, in threads and in a forked
 * child.
 * exact: reads=yes */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tare/now.h"

enum { READ_COUNTS = 0x74617265, CLASSES = 18, READINGS = 400 };

/* As tests/exact/suite unpacks it. Natively all readings are -1, or stay 0. */
static struct reading {
	int64_t thread, is_all, counts[CLASSES];
} readings[READINGS];
static int n, thread;
static sigjmp_buf back;
static volatile int sink;

static void now(void)
{
	struct reading *r = &readings[n++];

	r->thread = thread;
	r->counts[0] = tare_exact_now();
}

static void all(void)
{
	struct reading *r = &readings[n++];
	long ret = SYS_arch_prctl; /* what comes of it must not be looked at */

	r->thread = thread;
	r->is_all = 1;
	__asm__ volatile("syscall"
			 : "+a"(ret)
			 : "D"(READ_COUNTS), "S"(r->counts), "d"(CLASSES)
			 : "rcx", "r11", "memory");
}

static void write_all(void)
{
	if (write(1, readings, sizeof readings) != sizeof readings)
		_exit(1);
	while (n) /* not all of them: the judge steps through each */
		readings[--n] = (struct reading){ 0 };
}

static void on(int sig)
{
	now();
	if (sig == SIGSEGV || sig == SIGILL)
		siglongjmp(back, 1);
	all();
}

/*
 * Flags that are live across the load, and must come through it: -2 for below, unsigned; 1 for
 * greater.
 */
static int live_flags(int64_t a, int64_t b, int64_t *out)
{
	int carry, r;

	__asm__ volatile("cmp %3, %2\n\t" ::"r"(0), "r"(0), "r"(a), "r"(b) : "cc");
	*out = tare_exact_now();
	__asm__ volatile("setg %b1\n\tmovzbl %b1, %1\n\tsbb %0, %0"
			 : "=r"(carry), "=&q"(r)
			 :
			 : "cc");
	return carry * 2 + r;
}

static void faults(void)
{
	if (!sigsetjmp(back, 1))
		*(volatile int *)8 = 1;
	now();
	if (!sigsetjmp(back, 1))
		__asm__ volatile("mov $7, %%eax\n\tadd $1, %%eax\n\tud2" ::: "eax", "cc");
	now();
}

static void *work(void *arg)
{
	thread = (int)(long)arg;
	for (int i = 0; i < 5 * thread; i++) {
		for (int k = 0; k < 4 * i; k++)
			sink += k;
		now();
	}
	all();
	return NULL;
}

int main(void)
{
	static char from[5000], to[5000];
	int64_t got = 0;
	pthread_t t;

	now();
	now();
	all();
	signal(SIGUSR1, on);
	signal(SIGSEGV, on);
	signal(SIGILL, on);
	for (int i = 0; i < 40; i++) {
		if (live_flags(i - 20, 3, &got) != (i > 23) - 2 * (i >= 20 && i < 23))
			return 2;
		readings[n].thread = thread;
		readings[n++].counts[0] = got;
	}
	for (size_t size = 1; size < 5000; size *= 3) {
		size_t c = size;
		char *d = to, *s = from;

		__asm__ volatile("rep movsb" : "+c"(c), "+D"(d), "+S"(s) : : "memory");
		now();
	}
	raise(SIGUSR1);
	now();
	faults();
	all();
	write_all();
	if (fork() == 0) {
		thread = 1;
		now();
		raise(SIGUSR1);
		all();
		write_all();
		_exit(3);
	}
	wait(NULL);
	now();
	write_all();
	for (long i = 2; i < 5; i++) {
		if (pthread_create(&t, NULL, work, (void *)i) != 0)
			return 1;
		pthread_join(t, NULL);
	}
	write_all();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * tare_exact_every() under the engine. A loop of known instructions shows the position of a call,
 * by the pc and the loop's counter in the interrupted registers.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "base/error.h"
#include "exact/classes.h"
#include "tare/exact.h"
#include "tap.h"

enum { ROUNDS = 5000, LENGTH = 4, CALLS_MAX = LENGTH * ROUNDS + 2 };

static struct seen {
	uint64_t instructions, pc, counter;
} seen[CALLS_MAX];
static volatile unsigned n_seen;

static void note(uint64_t instructions, void *context, void *with)
{
	const ucontext_t *u = context;
	unsigned n = n_seen++;

	(void)with;
	if (n >= CALLS_MAX)
		return;
	seen[n] = (struct seen){ instructions, (uint64_t)u->uc_mcontext.gregs[REG_RIP],
				 (uint64_t)u->uc_mcontext.gregs[REG_RCX] };
}

/* As libtare does it, but with no other instruction between the request and the loop. */
static void enter(uint64_t instructions, void *context, void *with, tare_exact_call *call)
{
	call(instructions, context, with);
	syscall(SYS_arch_prctl, EXACT_RETURN, context);
}

extern const char calls_loop[], calls_third[], calls_last[];

#ifdef __clang__
#define ONE_COPY noinline
#else
#define ONE_COPY noinline, noclone /* its labels must be unique */
#endif

/* After the request: one instruction, ROUNDS times LENGTH in the loop, and then others. */
__attribute__((ONE_COPY)) static long loop_with(uint64_t n, tare_exact_call *call)
{
	register uint64_t r10 __asm__("r10") = (uint64_t)call;
	register uint64_t r8 __asm__("r8") = 0;
	long ret = SYS_arch_prctl;

	__asm__ volatile("syscall\n"
			 "mov %[rounds], %%ecx\n"
			 "calls_loop: lea 1(%%rdi), %%rdi\n"
			 "test %%rdi, %%rdi\n"
			 "calls_third: dec %%ecx\n"
			 "calls_last: jnz calls_loop\n"
			 : "+a"(ret)
			 : "D"(EXACT_EVERY), "S"(n), "d"(enter), "r"(r10),
			   "r"(r8), [rounds] "i"(ROUNDS)
			 : "rcx", "r11", "memory", "cc");
	syscall(SYS_arch_prctl, EXACT_EVERY, 0);
	return ret;
}

static uint64_t place(unsigned i)
{
	return (uint64_t)(i == 0           ? calls_loop
				  : i == 1 ? calls_loop + 4
				  : i == 2 ? calls_third
					   : calls_last);
}

static void check_places(uint64_t n)
{
	unsigned expected = LENGTH * ROUNDS / (unsigned)n;

	n_seen = 0;
	CHECK_EQ(loop_with(n, note), 0);
	CHECK(n_seen >= expected, "%u calls of %u", n_seen, expected);
	for (unsigned k = 0; k < expected; k++) {
		uint64_t retired = (k + 1) * n, round = (retired - 1) / LENGTH;
		unsigned at = (retired - 1) % LENGTH;

		if (seen[k].instructions != retired || seen[k].pc != place(at) ||
		    seen[k].counter != ROUNDS - round - (at == 3)) {
			CHECK(0,
			      "period %lu, call %u: at %lu instructions, %ld from the loop, counter %lu",
			      (unsigned long)n, k, (unsigned long)seen[k].instructions,
			      (long)(seen[k].pc - place(0)), (unsigned long)seen[k].counter);
			return;
		}
	}
}

TEST(calls_at_each_period)
{
	static const unsigned periods[] = { 1, 2, 3, 4, 5, 7, 64, 997, LENGTH * ROUNDS };

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++)
		check_places(periods[i]);
}

/* The loop of the test, as C. */
static volatile uint64_t sink;

__attribute__((noinline)) static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink += i;
}

static void note_after_work(uint64_t instructions, void *context, void *with)
{
	if (with)
		work(500);
	note(instructions, context, NULL);
}

TEST(calls_do_not_count_for_the_next)
{
	unsigned n;

	CHECK_EQ(tare_exact_every(1000, note_after_work, NULL, NULL), 0);
	work(10000);
	tare_exact_every(0, NULL, NULL, NULL);
	n = n_seen;
	n_seen = 0;
	CHECK_EQ(tare_exact_every(1000, note_after_work, &n, NULL), 0);
	work(10000);
	tare_exact_every(0, NULL, NULL, NULL);
	CHECK(n > 30, "%u calls", n);
	CHECK_EQ(n_seen, n);
	CHECK_EQ(seen[n - 1].instructions, UINT64_C(1000) * n);
}

static void spoil(uint64_t instructions, void *context, void *with)
{
	double x = 1.5;

	for (int i = 0; i < 10; i++)
		x *= (double)i + (double)instructions;
	__asm__ volatile("" : : "x"(x));
	errno = EXDEV;
	__asm__ volatile("pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n std\n cld\n"
			 :
			 :
			 : "xmm0", "xmm1", "cc");
	note(instructions, context, with);
}

static double series(unsigned n)
{
	double sum = 0;

	for (unsigned i = 1; i < n; i++)
		sum += 1.0 / i;
	return sum;
}

TEST(calls_preserve_the_registers)
{
	double without = series(3000), with;

	errno = ENOTTY;
	CHECK_EQ(tare_exact_every(3, spoil, NULL, NULL), 0);
	with = series(3000);
	tare_exact_every(0, NULL, NULL, NULL);
	CHECK_EQ(errno, ENOTTY);
	CHECK(with == without, "%.17g and %.17g", with, without);
	CHECK(n_seen > 1000, "%u calls", n_seen);
}

/* Writes take effect: the loop ends at once. */
static void end_loop(uint64_t instructions, void *context, void *with)
{
	ucontext_t *u = context;

	(void)instructions, (void)with;
	n_seen++;
	if (u->uc_mcontext.gregs[REG_RIP] == (greg_t)calls_third)
		u->uc_mcontext.gregs[REG_RCX] = 1;
}

TEST(calls_may_change_the_registers)
{
	CHECK_EQ(loop_with(LENGTH * 10 + 3, end_loop), 0);
	CHECK_EQ(n_seen, 1);
}

TEST(calls_around_system_calls)
{
	struct timespec t = { .tv_nsec = 1000000 };
	pid_t pid = getpid();

	CHECK_EQ(tare_exact_every(1, note, NULL, NULL), 0);
	for (int i = 0; i < 50; i++)
		CHECK_EQ(syscall(SYS_getpid), pid);
	CHECK_EQ(nanosleep(&t, NULL), 0);
	tare_exact_every(0, NULL, NULL, NULL);
	CHECK(n_seen > 500, "%u calls", n_seen);
}

static volatile int traps;

static void on_trap(int sig)
{
	traps += sig == SIGTRAP;
	work(100);
}

TEST(calls_with_all_signals_blocked_and_traps)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	check_places(5);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGTRAP, on_trap);
	n_seen = 0;
	CHECK_EQ(tare_exact_every(3, note, NULL, NULL), 0);
	for (int i = 0; i < 20; i++)
		raise(SIGTRAP);
	__asm__ volatile("int3");
	tare_exact_every(0, NULL, NULL, NULL);
	CHECK_EQ(traps, 21);
	CHECK(n_seen > 1000, "%u calls", n_seen);
}

static sigjmp_buf back;

static void leave(uint64_t instructions, void *context, void *with)
{
	(void)instructions, (void)context, (void)with;
	siglongjmp(back, 1);
}

TEST(calls_that_do_not_return)
{
	if (sigsetjmp(back, 1) == 0) {
		CHECK_EQ(tare_exact_every(100, leave, NULL, NULL), 0);
		work(1000);
		CHECK(0, "no call");
	}
	work(1000);
	check_places(7);
}

static void again(uint64_t instructions, void *context, void *with)
{
	(void)context;
	n_seen++;
	if (instructions == 10 && with)
		tare_exact_every(1000, again, NULL, NULL);
	else if (n_seen == 4)
		tare_exact_every(0, NULL, NULL, NULL);
}

TEST(calls_that_change_the_period)
{
	int x;

	CHECK_EQ(tare_exact_every(10, again, &x, NULL), 0);
	work(10000);
	CHECK_EQ(n_seen, 4);
}

/* ---- threads and processes ---- */

static volatile int stop, started;

static void *spin(void *with)
{
	(void)with;
	started = 1;
	while (!stop)
		;
	return NULL;
}

static __thread unsigned of_thread;

static void count(uint64_t instructions, void *context, void *with)
{
	(void)context;
	of_thread++;
	if (instructions != of_thread * *(const uint64_t *)with)
		abort();
}

static void *counted(void *with)
{
	const uint64_t *n = with;

	if (of_thread || tare_exact_every(*n, count, with, NULL) < 0)
		abort();
	work(20000);
	tare_exact_every(0, NULL, NULL, NULL);
	return (void *)(uintptr_t)of_thread;
}

TEST(calls_in_threads)
{
	uint64_t periods[] = { 10, 1000 };
	pthread_t busy, t[2];
	void *n[2];
	pid_t child;
	int status;

	pthread_create(&busy, NULL, spin, NULL);
	while (!started) /* it executes code from before the first request */
		;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, counted, &periods[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &n[i]);
	CHECK((uintptr_t)n[1] > 50 && (uintptr_t)n[0] / 100 == (uintptr_t)n[1], "%lu, %lu calls",
	      (unsigned long)(uintptr_t)n[0], (unsigned long)(uintptr_t)n[1]);
	CHECK_EQ(tare_exact_every(periods[0], count, &periods[0], NULL), 0);
	child = fork();
	if (child == 0) {
		of_thread = 0;
		work(1000);
		_exit((int)of_thread);
	}
	tare_exact_every(0, NULL, NULL, NULL);
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	stop = 1;
	pthread_join(busy, NULL);
}

TEST_MAIN()

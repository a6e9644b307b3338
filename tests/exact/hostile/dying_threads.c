/*
 * Dies while its threads are in a loop, in system calls, in a handler, or use the vector registers;
 * each thread has its own values.
 */
#include <dirent.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t ready;
static uint32_t word;
static volatile int in_handler;

/* Registers that a core must show; the loop is endless. */
__attribute__((noinline)) static void *spins(void *arg)
{
	pthread_barrier_wait(arg);
	__asm__ volatile(
		"mov $0x1111, %%r12; mov $0x2222, %%r13; mov $0x3333, %%r14; movq %%r12, %%xmm9; movq %%r13, %%xmm13\n"
		".globl spin_begin, spin_end\nspin_begin:\n"
		"add $1, %%rax; xor %%rax, %%rbx; jnc 1f; nop; 1: imul %%rbx, %%rdx; jmp spin_begin\nspin_end:\n" ::
			: "memory", "cc", "r12", "r13", "r14", "rax", "rbx", "rdx");
	return NULL;
}

__attribute__((noinline)) static void *waits_for_word(void *arg)
{
	pthread_barrier_wait(arg);
	for (;;)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL);
}

static void on(int sig)
{
	(void)sig;
	in_handler = 1;
	for (;;)
		pause();
}

__attribute__((noinline)) static void *handles(void *arg)
{
	pthread_barrier_wait(arg);
	pthread_kill(pthread_self(), SIGUSR1);
	return NULL;
}

__attribute__((noinline)) static void *waits_for_signals(void *arg)
{
	sigset_t all;
	int sig;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_barrier_wait(arg);
	for (;;)
		sigwait(&all, &sig);
}

__attribute__((noinline)) static void *sleeps(void *arg)
{
	pthread_barrier_wait(arg);
	for (;;)
		poll(NULL, 0, 1000000);
}

/* One system call after the other: half of the time in the engine. */
__attribute__((noinline)) static void *calls(void *arg)
{
	pthread_barrier_wait(arg);
	for (;;)
		if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, NULL, 8))
			return NULL;
}

enum { SPINS, CALLS = 5, N, ASLEEP = 4 };

static int64_t cpu_ns(pthread_t t)
{
	struct timespec now = { 0 };
	clockid_t clock;

	if (!pthread_getcpuclockid(t, &clock))
		clock_gettime(clock, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Is each thread where it stays: four in a system call, two at work for a while? */
static int settled(const pthread_t *t)
{
	DIR *tasks = opendir("/proc/self/task");
	int asleep = 0;

	for (struct dirent *e; tasks && (e = readdir(tasks));) {
		char path[300], state = 0;
		FILE *f;

		snprintf(path, sizeof path, "/proc/self/task/%s/stat", e->d_name);
		f = fopen(path, "r");
		if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
			asleep += state == 'S';
		if (f)
			fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return asleep >= ASLEEP && cpu_ns(t[SPINS]) > 20000000 && cpu_ns(t[CALLS]) > 20000000;
}

int main(int argc, char **argv)
{
	void *(*const all[])(void *) = { spins,  waits_for_word, handles, waits_for_signals,
					 sleeps, calls };
	pthread_t t[N];

	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on }, NULL);
	pthread_barrier_init(&ready, NULL, 7);
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], NULL, all[i], &ready);
	pthread_barrier_wait(&ready);
	while (!in_handler)
		usleep(1000);
	for (int i = 0; i < 1 || (i < 100 && !settled(t)); i++)
		usleep(200000);
	if (argc > 1 && !strcmp(argv[1], "segv"))
		__asm__ volatile("movl $1, 0x10");
	if (argc > 1 && !strcmp(argv[1], "sys"))
		raise(SIGSYS);
	abort();
}

/*
 * Dies while its threads are in a loop, in system calls, in a handler, or use the vector registers;
 * each thread has its own values.
 */
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

int main(int argc, char **argv)
{
	void *(*const all[])(void *) = { spins,  waits_for_word, handles, waits_for_signals,
					 sleeps, calls };
	pthread_t t[6];

	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on }, NULL);
	pthread_barrier_init(&ready, NULL, 7);
	for (int i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, all[i], &ready);
	pthread_barrier_wait(&ready);
	while (!in_handler)
		usleep(1000);
	usleep(200000);
	if (argc > 1 && !strcmp(argv[1], "segv"))
		__asm__ volatile("movl $1, 0x10");
	if (argc > 1 && !strcmp(argv[1], "sys"))
		raise(SIGSYS);
	abort();
}

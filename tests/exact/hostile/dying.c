/* Dies as its argument says, with a value in every register. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *nowhere;
static volatile int depth = 1 << 30;

static int deeper(int n)
{
	volatile char room[200];

	room[n & 127] = 1;
	return n ? deeper(n - 1) + room[1] : 0;
}

static void on(int sig)
{
	(void)sig;
	abort();
}

static void fill_and_write(void)
{
	__asm__ volatile(
		"mov $0x1111, %%r8; mov $0x2222, %%r9; mov $0x3333, %%r10; mov $0x4444, %%r11; mov $0x5555, %%r12\n"
		"mov $0x6666, %%r13; mov $0x7777, %%r14; mov $0x8888, %%r15; mov $0x9999, %%rbx; mov $0xaaaa, %%rcx\n"
		"mov $0xbbbb, %%rdx; mov $0xcccc, %%rsi; mov $0xdddd, %%rdi; mov $0x10, %%eax; stc\n"
		"movl $1, (%%rax)" ::
			: "memory", "cc", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
			  "rbx", "rcx", "rdx", "rsi", "rdi", "rax");
}

static void *in_thread(void *arg)
{
	(void)arg;
	fill_and_write();
	return NULL;
}

static void *waits(void *arg)
{
	sigset_t none;

	pthread_barrier_wait(arg);
	sigemptyset(&none);
	sigsuspend(&none);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	stack_t ss = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	pthread_barrier_t b;
	pthread_t t;

	syscall(SYS_arch_prctl, 0x1001, 0x123456000); /* gs base */
	if (!strcmp(how, "abort")) {
		abort();
	} else if (!strcmp(how, "write")) {
		fill_and_write();
	} else if (!strcmp(how, "jump")) {
		((void (*)(void))nowhere)();
	} else if (!strcmp(how, "page")) {
		((void (*)(void))mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))();
	} else if (!strcmp(how, "divide")) {
		return argc / (argc - 2);
	} else if (!strcmp(how, "trap")) {
		__builtin_trap();
	} else if (!strcmp(how, "int3")) {
		__asm__ volatile("int3");
	} else if (!strcmp(how, "quit")) {
		kill(getpid(), SIGQUIT);
	} else if (!strcmp(how, "recurse")) {
		return deeper(depth);
	} else if (!strcmp(how, "handler")) {
		sigaltstack(&ss, NULL);
		sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on, .sa_flags = SA_ONSTACK },
			  NULL);
		raise(SIGUSR1);
	} else if (!strcmp(how, "thread")) {
		pthread_create(&t, NULL, in_thread, NULL);
		pthread_join(t, NULL);
	} else if (!strcmp(how, "among")) {
		pthread_barrier_init(&b, NULL, 3);
		pthread_create(&t, NULL, waits, &b);
		pthread_create(&t, NULL, waits, &b);
		pthread_barrier_wait(&b);
		usleep(200000);
		fill_and_write();
	}
	return 0;
}

/*
 * Filters and the strict mode leave no call but write and exit, none of those that the engine
 * makes: new code, fresh
 * memory, a handler of signals all the same. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 5 };

static char text[4096];
static uint8_t *code;

static void filtered(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(rules) / sizeof(*rules), rules };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		syscall(SYS_exit, 99);
}

static void strict(void)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0)
		syscall(SYS_exit, 98);
}

static int by_text(const char *a, const char *b)
{
	return strcmp(a, b);
}

static void sort(char (*words)[12], int n, int (*less)(const char *, const char *))
{
	for (int i = 1; i < n; i++)
		for (int k = i; k && less(words[k], words[k - 1]) < 0; k--) {
			char t[12];

			memcpy(t, words[k], 12);
			memcpy(words[k], words[k - 1], 12);
			memcpy(words[k - 1], t, 12);
		}
}

/* Code that has not run yet, and code written just now. */
static void work(void)
{
	static char words[WORDS][12];
	static const uint8_t add[] = { 0x8d, 0x47, 0x05, 0xc3 }; /* lea 5(%rdi), %eax; ret */
	int n = 0;

	for (int i = 0; i < WORDS; i++)
		snprintf(words[i], sizeof(words[i]), "%d%x", i * 7919 % WORDS, i);
	sort(words, WORDS, by_text);
	for (int i = 0; i < WORDS; i++) {
		memcpy(code, add, sizeof(add));
		code[2] = (uint8_t)i;
		n += ((int (*)(int))(uintptr_t)code)(i);
	}
	n += snprintf(text, sizeof(text), "%s %s %d %g\n", words[0], words[WORDS - 1], n,
		      strtod("1.5e3", NULL));
	if (write(1, text, strlen(text)) < 0)
		syscall(SYS_exit, 97);
}

static void forbidden(void)
{
	work();
	syscall(SYS_getpid);
}

static void clock_read(void)
{
	unsigned low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
}

static void nothing(void)
{
}

static void child(void (*restrict_it)(void), void (*do_it)(void))
{
	int status = 0;

	fflush(stdout);
	if (fork() == 0) {
		restrict_it();
		do_it();
		syscall(SYS_exit, 7);
	}
	wait(&status);
	printf("%d %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

int main(void)
{
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	child(filtered, work);
	child(filtered, forbidden);
	child(filtered, strict);
	child(strict, work);
	child(strict, forbidden);
	child(strict, clock_read);
	child(strict, nothing);
	filtered();
	work();
	syscall(SYS_exit, 3);
}

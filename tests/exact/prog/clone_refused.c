/*
 * clone3 whose argument cannot be read, without and with code that is written while it runs: the
 * kernel says so, and the next one works.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "say.h"

static void try(const char *what, const void *at, unsigned long size)
{
	long ret = syscall(SYS_clone3, at, size);

	SAY_LINE(what, ret, ret < 0 ? errno : 0);
}

static void ask(uint8_t *edge)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	int status = 0;
	long pid;

	try("a null pointer", NULL, 64);
	try("one", (void *)1, 64);
	try("in no user's memory", (void *)0x7ffffffff000, 64);
	try("half of it there", edge - 32, 64);
	try("not there at all", edge, 64);
	try("too short", edge - 32, 32);
	pid = syscall(SYS_clone3, &args, sizeof args);
	if (pid == 0)
		_exit(7);
	pid = waitpid((pid_t)pid, &status, 0) == pid;
	SAY_LINE("child", pid, status);
}

int main(void)
{
	uint8_t *code = mmap((void *)0x10000000, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	munmap(code + 4096, 4096);
	ask(code + 4096);
	for (int i = 0; i < 3; i++) {
		code[4000] = 0xc3;
		((void (*)(void))(uintptr_t)(code + 4000))();
		code[4000] = 0x90, code[4001] = 0xc3;
		((void (*)(void))(uintptr_t)(code + 4000))();
		ask(code + 4096);
	}
	return 0;
}

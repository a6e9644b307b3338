/*
 * SIGFPE, SIGILL and SIGBUS: their codes and addresses, which are the pc or what was read, left by
 * siglongjmp.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <ucontext.h>

static sigjmp_buf out;
static volatile int code, sig_seen;
static void *volatile where, *volatile pc;

static void on(int sig, siginfo_t *si, void *uc)
{
	pc = (void *)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP];
	sig_seen = sig;
	code = si->si_code;
	where = si->si_addr;
	siglongjmp(out, 1);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on, .sa_flags = SA_SIGINFO };
	volatile int zero = 0, x = 7;
	volatile double d = 1, e = 0;

	sigaction(SIGFPE, &sa, NULL);
	sigaction(SIGILL, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	for (volatile int i = 0; i < 5; i++)
		if (sigsetjmp(out, 1) == 0) {
			if (i == 0)
				x /= zero;
			if (i == 1)
				asm volatile("ud2");
			if (i == 2) {
				unsigned cw = 0x1f80 & ~0x200; /* divide-by-zero unmasked */

				asm volatile("ldmxcsr %0" ::"m"(cw));
				d /= e;
			}
			if (i == 3) {
				int fd = (int)syscall(SYS_memfd_create, "empty", 0);
				volatile char *p = mmap((void *)0x10000000, 4096, PROT_READ,
							MAP_SHARED | MAP_FIXED, fd, 0);

				x = *p;
			}
			if (i == 4) {
				unsigned short cw = 0x37f & ~4;
				volatile long double q = 1, z = 0;

				asm volatile("fldcw %0" ::"m"(cw));
				q /= z;
				asm volatile("fwait");
			}
			printf("%d: not reached\n", i);
		} else {
			unsigned cw = 0x1f80;

			asm volatile("fninit; ldmxcsr %0" ::"m"(cw));
			printf("%d: signal %d code %d %d\n", i, sig_seen, code,
			       where == (i == 3 ? (void *)0x10000000 : pc));
		}
	return 0;
}

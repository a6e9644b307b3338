/* SPDX-License-Identifier: MIT */
/*
 * To wait for a thread by as many instructions whether it has ended yet or not: pthread_join()
 * looks before it waits. One thread at a time.
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static int running = 1;

/* In the thread, the kernel clears the word when it has ended. */
static inline void tell_end(void)
{
	syscall(SYS_set_tid_address, &running);
}

/* Not by syscall(), which does more when the wait fails, as it does after the end. */
static inline void wait_for_end(void)
{
	register long no_timeout __asm__("r10") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_futex), "D"(&running), "S"(FUTEX_WAIT), "d"(1), "r"(no_timeout)
			 : "rcx", "r11", "memory");
}

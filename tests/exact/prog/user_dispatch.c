/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static refuse=SYSCALL_USER_DISPATCH
 * What is off, or no mode at all, is left to the kernel; its system calls sent to its own handler
 * are refused.
 */
#include <sys/prctl.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

int main(void)
{
	static volatile char selector;

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 77, 0, 0, &selector) == 0)
		return 1;
	prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
	prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector);
	return 0;
}

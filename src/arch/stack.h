/* SPDX-License-Identifier: MIT */
/* Calls a function on another stack. */
#ifndef ARCH_STACK_H
#define ARCH_STACK_H

/*
 * Calls run(with); `top` is the end of its stack, a multiple of 16. Debuggers and unwinders find
 * the caller. A signal handler that interrupts it also runs there, or on sigaltstack(), although
 * the caller may be running on that: block signals.
 */
void stack_call(void *top, void (*run)(void *), void *with);

#endif

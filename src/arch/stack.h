/* SPDX-License-Identifier: MIT */
/* A function on another stack than the caller's. */
#ifndef ARCH_STACK_H
#define ARCH_STACK_H

/* Calls run(with); `top` is the end of its stack, a multiple of 16. Debuggers and unwinders see the caller behind it. A handler of a
 * signal that interrupts it runs there, too, or where sigaltstack() says, though the caller may be running there: block signals. */
void stack_call(void *top, void (*run)(void *), void *with);

#endif

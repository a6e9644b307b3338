/* SPDX-License-Identifier: MIT */
/* The kernel's code that is mapped into every process (vdso), taken from this process. */
#ifndef SYMBOLS_VDSO_H
#define SYMBOLS_VDSO_H

/* A file descriptor with its bytes, which the caller closes; -1 if there is none. */
int vdso_open(void);

#endif

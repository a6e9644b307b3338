/* SPDX-License-Identifier: MIT */
/* The kernel's own code in every process, as it is mapped into this one. */
#ifndef SYMBOLS_VDSO_H
#define SYMBOLS_VDSO_H

/* A descriptor of a file with its bytes, the caller's to close; -1 when there is none. */
int vdso_open(void);

#endif

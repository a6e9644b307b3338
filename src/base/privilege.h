/* SPDX-License-Identifier: MIT */
/* The capabilities that tare's own file gives it (setcap), and no code of others may have. */
#ifndef BASE_PRIVILEGE_H
#define BASE_PRIVILEGE_H

#include "base/error.h"

/*
 * Drops the calling thread's capabilities, except for the ambient ones, which each program keeps. Call it before dlopen() of a file
 * that the user names, in a process with one thread. Programs that are executed need no call: the kernel drops them there. Does
 * nothing as root. -errno: the kernel refused.
 */
int privilege_drop(struct tare_error *err);

#endif

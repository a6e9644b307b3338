/* SPDX-License-Identifier: MIT */
/* Capabilities that tare's file grants (setcap), which must not be available to foreign code. */
#ifndef BASE_PRIVILEGE_H
#define BASE_PRIVILEGE_H

#include "base/error.h"

/*
 * Drop the calling thread's capabilities, except for the ambient ones, which each program keeps.
 * Call it before dlopen() of a file that the user names, in a single-threaded process. Not needed
 * before exec: the kernel drops them there. Does nothing as root. -errno: the kernel refused.
 */
int privilege_drop(struct tare_error *err);

#endif

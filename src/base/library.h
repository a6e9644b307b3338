/* SPDX-License-Identifier: MIT */
/*
 * Shared libraries that are opened at their first use, so that tare's start does not pay for
 * libraries it does not need:
 *
 *	#define FUNCTIONS(F) F(ZSTD_compress) F(ZSTD_isError)
 *	LIBRARY(zstd, "libzstd.so.1", FUNCTIONS)
 *
 * defines a static zstd_load(): true if all functions are available, which are called as
 * zstd.ZSTD_compress(...). Thread-safe; a library stays open. In a static build the libraries are
 * linked in. Source: dlopen(3).
 */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include "base/error.h"

/*
 * The error of a library that cannot be loaded: it is not installed, or the process has no free
 * file descriptor. Returns -code.
 */
int library_missing(struct tare_error *err, int code, const char *what, const char *hint);

#define LIBRARY_POINTER(function) typeof(&function) function;

#ifdef LIBRARIES_LINKED

#define LIBRARY_LINKED(function) .function = function,
#define LIBRARY(name, file, functions)                                                             \
	static const struct {                                                                      \
		functions(LIBRARY_POINTER)                                                         \
	} name = { functions(LIBRARY_LINKED) };                                                    \
                                                                                                   \
	static bool name##_load(void)                                                              \
	{                                                                                          \
		return true;                                                                       \
	}

#else

/*
 * Look up a function in `library`, the handle from dlopen(); stores it in `to`, a struct of
 * pointers, and updates `usable`.
 */
#define LIBRARY_LOOK_UP(function)                                                                  \
	to->function = (typeof(to->function))dlsym(library, #function);                            \
	to->usable &= to->function != NULL;

#define LIBRARY(name, file, functions)                                                             \
	static struct {                                                                            \
		functions(LIBRARY_POINTER) bool usable;                                            \
	} name;                                                                                    \
                                                                                                   \
	static void name##_bind(void)                                                              \
	{                                                                                          \
		void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);                              \
		typeof(name) *to = &name;                                                          \
                                                                                                   \
		to->usable = library != NULL;                                                      \
		if (library) {                                                                     \
			functions(LIBRARY_LOOK_UP)                                                 \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	static bool name##_load(void)                                                              \
	{                                                                                          \
		static pthread_once_t once = PTHREAD_ONCE_INIT;                                    \
                                                                                                   \
		pthread_once(&once, name##_bind);                                                  \
		return name.usable;                                                                \
	}

#endif

#endif

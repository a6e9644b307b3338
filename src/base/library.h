/* SPDX-License-Identifier: MIT */
/*
 * Shared libraries that are opened when one of their functions is first needed, so that no start of tare pays for what its question does not touch:
 *
 *	#define FUNCTIONS(F) F(ZSTD_compress) F(ZSTD_isError)
 *	LIBRARY(zstd, "libzstd.so.1", FUNCTIONS)
 *
 * makes zstd_load(), the file's own: true where all of them are there, to be called as zstd.ZSTD_compress(...). Any thread may ask; a library stays
 * open. A static program has its libraries linked in. Source: dlopen(3).
 */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include "base/error.h"

/* The error of a library that cannot be loaded: it is not installed, or the process has no free file descriptor. Returns -code. */
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

/* Within `library`, what dlopen() gave, for `to`, a struct of pointers and `usable`. */
#define LIBRARY_LOOK_UP(function)                                                                  \
	to->function = (typeof(to->function))dlsym(library, #function);                            \
	to->usable &= to->function != NULL;

#define LIBRARY(name, file, functions)                                                             \
	static struct {                                                                            \
		functions(LIBRARY_POINTER)                                                         \
		bool usable;                                                                       \
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

/* SPDX-License-Identifier: MIT */
/*
 * C++'s operators new and delete. They take their blocks from malloc(3), which would see the C++ library as its caller, and nothing
 * beyond: that library keeps no frame pointers. What they throw passes through here. A program that has operators of its own keeps them.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include "alloc/recorder.h"

/* A C++ library that came by dlopen(3) for something else alone is not among what RTLD_NEXT looks through. */
static void *find_anywhere(const char *name, const void *here)
{
	struct link_map *map = NULL;
	void *self = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);

	if (!self || dlinfo(self, RTLD_DI_LINKMAP, &map) < 0)
		return NULL;
	for (; map; map = map->l_next) {
		void *of = *map->l_name ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		void *found = of ? dlsym(of, name) : NULL;

		if (of)
			dlclose(of);
		if (found && found != here)
			return found;
	}
	return NULL;
}

/* Who called was bound to the operator here, so there is another one. */
static void *next_operator(const char *name, const void *here)
{
	void *next = dlsym(RTLD_NEXT, name);

	if (!next)
		next = find_anywhere(name, here);
	if (!next)
		abort();
	return next;
}

#define TAKES(symbol, parameters, arguments)                                                                           \
	HOOK void *symbol parameters;                                                                                  \
	HOOK void *symbol parameters                                                                                   \
	{                                                                                                              \
		static void *(*volatile next) parameters;                                                              \
		const void *frame = __builtin_frame_address(0);                                                        \
		bool first;                                                                                            \
		void *block;                                                                                           \
                                                                                                                       \
		if (!next)                                                                                             \
			next = next_operator(#symbol, symbol);                                                         \
		first = recorder_asks(frame);                                                                          \
		block = next arguments;                                                                                \
		if (first)                                                                                             \
			recorder_got(frame, block, size);                                                              \
		return block;                                                                                          \
	}

#define GIVES(symbol, parameters, arguments)                                                                           \
	HOOK void symbol parameters;                                                                                   \
	HOOK void symbol parameters                                                                                    \
	{                                                                                                              \
		static void (*volatile next) parameters;                                                               \
                                                                                                                       \
		if (!next)                                                                                             \
			next = next_operator(#symbol, symbol);                                                         \
		recorder_gives(block, __builtin_frame_address(0));                                                     \
		next arguments;                                                                                        \
		recorder_gave();                                                                                       \
	}

/* Source: Itanium C++ ABI, 5.1.3, "Operator Encodings". One of an object, one of an array; m is size_t where that is unsigned long. */
TAKES(_Znwm, (size_t size), (size))
TAKES(_Znam, (size_t size), (size))
TAKES(_ZnwmRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow))
TAKES(_ZnamRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow))
TAKES(_ZnwmSt11align_val_t, (size_t size, size_t align), (size, align))
TAKES(_ZnamSt11align_val_t, (size_t size, size_t align), (size, align))
TAKES(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, const void *nothrow), (size, align, nothrow))
TAKES(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, const void *nothrow), (size, align, nothrow))

GIVES(_ZdlPv, (void *block), (block))
GIVES(_ZdaPv, (void *block), (block))
GIVES(_ZdlPvm, (void *block, size_t size), (block, size))
GIVES(_ZdaPvm, (void *block, size_t size), (block, size))
GIVES(_ZdlPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow))
GIVES(_ZdaPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow))
GIVES(_ZdlPvSt11align_val_t, (void *block, size_t align), (block, align))
GIVES(_ZdaPvSt11align_val_t, (void *block, size_t align), (block, align))
GIVES(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t align), (block, size, align))
GIVES(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t align), (block, size, align))
GIVES(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t align, const void *nothrow), (block, align, nothrow))
GIVES(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t align, const void *nothrow), (block, align, nothrow))

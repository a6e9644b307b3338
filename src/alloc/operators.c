/* SPDX-License-Identifier: MIT */
/*
 * C++'s operators new and delete. They take their blocks from malloc(3), which would see the C++ library as its caller, and nothing
 * beyond: that library keeps no frame pointers. What they throw passes through here. A program that has operators of its own keeps them.
 *
 * Each is there twice: by its plain name, for a program that begins with such operators, whosever they are; and by libstdc++'s version, which
 * code asks for that was linked with libstdc++ (operators.map). A program that begins without any loses the first: of what dlopen(3)
 * brings, only libstdc++'s operators are recorded then. Any other part's are its own, and go with it.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "alloc/recorder.h"

/* A library that came by dlopen(3) for something else alone is not among what RTLD_NEXT looks through. It stays loaded from now on. */
static void *of_libstdcxx(const char *name)
{
	static const char file[] = "libstdc++.so";
	struct link_map *map = NULL;
	void *self = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD), *of = NULL;

	if (!self || dlinfo(self, RTLD_DI_LINKMAP, &map) < 0)
		return NULL;
	for (; map && !of; map = map->l_next) {
		const char *slash = strrchr(map->l_name, '/');

		if (slash && !strncmp(slash + 1, file, sizeof(file) - 1))
			of = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	}
	return of ? dlsym(of, name) : NULL;
}

/* Who called was bound to the operator here, so there is another one. It stays loaded, too. */
static void *next_operator(const char *name)
{
	bool was = recorder_rests(true);
	void *next = dlsym(RTLD_NEXT, name);
	struct link_map *map = NULL;
	Dl_info info;

	if (!next)
		next = of_libstdcxx(name);
	else if (dladdr1(next, &info, (void **)&map, RTLD_DL_LINKMAP) && map && *map->l_name)
		dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (!next)
		abort();
	recorder_rests(was);
	return next;
}

/* `here` is found by its plain name no more, unless the program has such an operator. No code lies in the symbols' pages (meson.build). */
static void lose(const char *name, const void *here)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from, size;
	ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (dlsym(RTLD_NEXT, name))
		return;
	dlerror(); /* none that the program asks for */
	if (!dladdr1(here, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return;
	from = (uintptr_t)symbol & -page;
	size = (uintptr_t)(symbol + 1) - from;
	if (mprotect((void *)from, size, PROT_READ | PROT_WRITE) < 0)
		return;
	symbol->st_value = 0;
	symbol->st_shndx = SHN_UNDEF;
	mprotect((void *)from, size, PROT_READ);
}

#define LOSES(symbol)                                                                                                  \
	__attribute__((constructor)) static void lose##symbol(void)                                                    \
	{                                                                                                              \
		bool was = recorder_rests(true);                                                                       \
                                                                                                                       \
		lose(#symbol, (const void *)symbol);                                                                   \
		recorder_rests(was);                                                                                   \
	}

#define TAKES_AS(name, symbol, parameters, arguments)                                                                  \
	HOOK void *name parameters;                                                                                    \
	HOOK void *name parameters                                                                                     \
	{                                                                                                              \
		static void *(*volatile next) parameters;                                                              \
		const void *frame = __builtin_frame_address(0);                                                        \
		bool first;                                                                                            \
		void *block;                                                                                           \
                                                                                                                       \
		if (!next)                                                                                             \
			next = next_operator(symbol);                                                                  \
		first = recorder_asks(frame);                                                                          \
		block = next arguments;                                                                                \
		if (first)                                                                                             \
			recorder_got(frame, block, size);                                                              \
		return block;                                                                                          \
	}

#define GIVES_AS(name, symbol, parameters, arguments)                                                                  \
	HOOK void name parameters;                                                                                     \
	HOOK void name parameters                                                                                      \
	{                                                                                                              \
		static void (*volatile next) parameters;                                                               \
                                                                                                                       \
		if (!next)                                                                                             \
			next = next_operator(symbol);                                                                  \
		recorder_gives(block, __builtin_frame_address(0));                                                     \
		next arguments;                                                                                        \
		recorder_gave();                                                                                       \
	}

#define TAKES(symbol, version, parameters, arguments)                                                                  \
	TAKES_AS(symbol, #symbol, parameters, arguments)                                                               \
	TAKES_AS(libstdcxx##symbol, #symbol, parameters, arguments)                                                    \
	__asm__(".symver libstdcxx" #symbol ", " #symbol "@" version);                                                 \
	LOSES(symbol)

#define GIVES(symbol, version, parameters, arguments)                                                                  \
	GIVES_AS(symbol, #symbol, parameters, arguments)                                                               \
	GIVES_AS(libstdcxx##symbol, #symbol, parameters, arguments)                                                    \
	__asm__(".symver libstdcxx" #symbol ", " #symbol "@" version);                                                 \
	LOSES(symbol)

#define FIRST "GLIBCXX_3.4"
#define SIZED "CXXABI_1.3.9"
#define ALIGNED "CXXABI_1.3.11"

/* Source: Itanium C++ ABI, 5.1.3, "Operator Encodings". One of an object, one of an array; m is size_t where that is unsigned long. Versions: readelf of libstdc++.so.6. */
TAKES(_Znwm, FIRST, (size_t size), (size))
TAKES(_Znam, FIRST, (size_t size), (size))
TAKES(_ZnwmRKSt9nothrow_t, FIRST, (size_t size, const void *nothrow), (size, nothrow))
TAKES(_ZnamRKSt9nothrow_t, FIRST, (size_t size, const void *nothrow), (size, nothrow))
TAKES(_ZnwmSt11align_val_t, ALIGNED, (size_t size, size_t align), (size, align))
TAKES(_ZnamSt11align_val_t, ALIGNED, (size_t size, size_t align), (size, align))
TAKES(_ZnwmSt11align_val_tRKSt9nothrow_t, ALIGNED, (size_t size, size_t align, const void *nothrow), (size, align, nothrow))
TAKES(_ZnamSt11align_val_tRKSt9nothrow_t, ALIGNED, (size_t size, size_t align, const void *nothrow), (size, align, nothrow))

GIVES(_ZdlPv, FIRST, (void *block), (block))
GIVES(_ZdaPv, FIRST, (void *block), (block))
GIVES(_ZdlPvm, SIZED, (void *block, size_t size), (block, size))
GIVES(_ZdaPvm, SIZED, (void *block, size_t size), (block, size))
GIVES(_ZdlPvRKSt9nothrow_t, FIRST, (void *block, const void *nothrow), (block, nothrow))
GIVES(_ZdaPvRKSt9nothrow_t, FIRST, (void *block, const void *nothrow), (block, nothrow))
GIVES(_ZdlPvSt11align_val_t, ALIGNED, (void *block, size_t align), (block, align))
GIVES(_ZdaPvSt11align_val_t, ALIGNED, (void *block, size_t align), (block, align))
GIVES(_ZdlPvmSt11align_val_t, ALIGNED, (void *block, size_t size, size_t align), (block, size, align))
GIVES(_ZdaPvmSt11align_val_t, ALIGNED, (void *block, size_t size, size_t align), (block, size, align))
GIVES(_ZdlPvSt11align_val_tRKSt9nothrow_t, ALIGNED, (void *block, size_t align, const void *nothrow), (block, align, nothrow))
GIVES(_ZdaPvSt11align_val_tRKSt9nothrow_t, ALIGNED, (void *block, size_t align, const void *nothrow), (block, align, nothrow))

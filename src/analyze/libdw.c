/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <pthread.h>
#include "analyze/libdw.h"

struct libdw libdw;

static void bind(void)
{
	void *dw = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL), *cxx;

	if (!dw)
		return;
	libdw.usable = true;
#define LOOK_UP(name)                                                                              \
	libdw.name = (typeof(libdw.name))dlsym(dw, #name);                                         \
	libdw.usable &= libdw.name != NULL;
	LIBDW_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
	/* C++ names, by the library every C++ program has. Without it they stay as they are. */
	cxx = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (cxx)
		libdw.demangle = (typeof(libdw.demangle))dlsym(cxx, "__cxa_demangle");
}

int libdw_load(struct tare_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, bind);
	if (libdw.usable)
		return 0;
	tare_fail(err, ENOENT, "libdw.so.1, which reads symbols, cannot be loaded");
	tare_hint(err, "install it (Debian: libdw1)");
	return -ENOENT;
}

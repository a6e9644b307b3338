/* SPDX-License-Identifier: MIT */
#include "symbols/libdw.h"

#ifdef LIBRARIES_LINKED

struct libdw libdw = { LIBDW_FUNCTIONS(LIBRARY_LINKED).usable = true };

/* Of libstdc++. */
char *__cxa_demangle(const char *name, char *room, size_t *size, int *status);

char *libdw_demangled(const char *name)
{
	int status;

	/* may be NULL if the status is not 0 */
	return __cxa_demangle(name, NULL, NULL, &status);
}

int libdw_load(struct tare_error *err)
{
	(void)err;
	return 0;
}

#else

struct libdw libdw;

static void bind(void)
{
	void *library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct libdw *to = &libdw;

	if (!library)
		return;
	to->usable = true;
	LIBDW_FUNCTIONS(LIBRARY_LOOK_UP)
}

static char *(*demangle)(const char *name, char *room, size_t *size, int *status);

static void bind_demangler(void)
{
	void *cxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	if (cxx)
		demangle = (typeof(demangle))dlsym(cxx, "__cxa_demangle");
}

char *libdw_demangled(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int status;

	pthread_once(&once, bind_demangler);
	/* may be NULL if the status is not 0 */
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

int libdw_load(struct tare_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, bind);
	if (libdw.usable)
		return 0;
	return library_missing(err, ENOENT, "libdw.so.1, which reads symbols",
			       "install it (Debian: libdw1)");
}

#endif

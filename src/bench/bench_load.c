/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <string.h>
#include "bench/bench_load.h"

int bench_load(const char *path, const char *function, struct tare_bench_test *out,
	       void (**call)(void), struct tare_error *err)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	/* The object's own symbol, not one of that name in a library that it needs. */
	const char *const names[] = {
		"execute_test", "execute_baseline", "setup", "teardown", "ops", "bytes", "buffers"
	};
	void *found[ARRAY_SIZE(names)];

	if (!object)
		return tare_fail(err, EINVAL, "%.400s", dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		Dl_info mine, its;

		found[i] = dlsym(object, names[i]);
		if (found[i] && i && found[0] && dladdr(found[0], &mine) &&
		    dladdr(found[i], &its) && mine.dli_fbase != its.dli_fbase)
			found[i] = NULL;
	}
	memcpy(out, found, sizeof(*out));
	_Static_assert(sizeof(*out) == sizeof(found), "in the order of names");
	if (function) {
		void *f = dlsym(object, function);

		memcpy(call, &f, sizeof(f));
	}
	if (function ? !*call : !out->execute_test)
		return tare_fail(err, ENOENT, "there is no function %.100s() in it",
				 function ? function : "execute_test");
	return 0;
}

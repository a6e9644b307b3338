/* exact: build=dynamic libs=-ldl
 * dlopen and dlclose in turn: code unmapped, other code at the same addresses. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	static const char *const libs[] = { "libm.so.6", "libz.so.1", "libm.so.6" };

	for (unsigned i = 0; i < 3; i++) {
		void *lib = dlopen(libs[i], RTLD_LAZY);
		double (*f)(double) = lib ? (double (*)(double))dlsym(lib, "cos") : NULL;

		printf("%s %d %.6f\n", libs[i], lib != NULL, f ? f(i) : 0.0);
		if (lib)
			dlclose(lib);
	}
	return 0;
}

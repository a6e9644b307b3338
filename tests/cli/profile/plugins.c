/* SPDX-License-Identifier: MIT */
/*
 * plugins A B: loads A, calls its work() 5 times, unloads it; the same with B and 7 times, then A
 * once more. Both are laid out alike, so they come to lie at one address. A forked child does B
 * only, 11 times.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *use(const char *path, int times)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*work)(void) = lib ? (void (*)(void))dlsym(lib, "work") : NULL;

	if (!work)
		_exit(1);
	while (times--)
		work();
	dlclose(lib);
	return (void *)work;
}

int main(int argc, char **argv)
{
	void *a, *b, *again;
	int status;

	if (argc < 3)
		return 2;
	a = use(argv[1], 5);
	if (!fork()) {
		use(argv[2], 11);
		_exit(0);
	}
	b = use(argv[2], 7);
	again = use(argv[1], 1);
	wait(&status);
	printf("%s\n", a == b && a == again ? "same" : "different");
	return status;
}

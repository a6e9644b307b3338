/*
 * Code that is modified in its file (the first argument) while it is mapped, in the way that the
 * second argument selects.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;

static void write_to(int fd, unsigned char what)
{
	unsigned char code[] = { 0xb8, what, 0, 0, 0, 0xc3 }; /* mov eax, what; ret */

	if (pwrite(fd, code, sizeof code, 0) != sizeof code)
		exit(9);
}

static int (*map(void))(void)
{
	int fd = open(path, O_RDONLY);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	return (int (*)(void))p;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	int inherited, (*f)(void), first;

	path = argv[1];
	inherited = open(path, O_RDWR | O_CREAT | O_TRUNC, 0700);
	write_to(inherited, 1);
	if (argc < 4) { /* now with a descriptor that the engine has not seen opened */
		execl("/proc/self/exe", argv[0], path, how, "again", (char *)NULL);
		return 8;
	}
	close(inherited);
	if (strcmp(how, "inherited"))
		close(3);
	f = map();
	first = f();
	usleep(50000);
	if (!strcmp(how, "child") || !strcmp(how, "unmapped") || !strcmp(how, "executes") ||
	    !strcmp(how, "dies")) {
		if (!fork()) {
			write_to(open(path, O_WRONLY), 2);
			_exit(0);
		}
		wait(NULL);
	} else if (!strcmp(how, "inherited")) {
		write_to(3, 2);
	} else if (!strcmp(how, "own")) {
		write_to(open(path, O_WRONLY), 2);
	} else if (!strcmp(how,
			   "anew")) { /* written, then mapped again, as a linker and dlopen() do */
		munmap((void *)f, 4096);
		write_to(open(path, O_WRONLY), 2);
		usleep(50000);
		f = map();
	}
	if (strcmp(how, "nothing"))
		printf("%d %d\n", first, f());
	fflush(stdout);
	if (!strcmp(how, "unmapped"))
		munmap((void *)f, 4096);
	if (!strcmp(how, "executes"))
		execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(how, "dies"))
		abort();
	return 0;
}

/* exec of a script: the kernel starts its interpreter, which is this program again. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char path[] = "exact-script", self[4096]; /* in the folder of this test run */
	int fd, status;

	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			puts(argv[i]);
		return 3;
	}
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0755);
	if (fd < 0 || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		return 2;
	dprintf(fd, "#!%s an argument\n", self);
	close(fd);
	if (fork() == 0) {
		execl(path, "x", "y", NULL);
		_exit(1);
	}
	wait(&status);
	unlink(path);
	return WEXITSTATUS(status);
}

/* exec of a script: the kernel starts its interpreter. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	static char path[] = "exact-script"; /* in the folder of this test run */
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0755), status;

	if (fd < 0)
		return 2;
	dprintf(fd, "#!/bin/echo an argument\n");
	close(fd);
	if (fork() == 0) {
		execl(path, "x", "y", NULL);
		_exit(1);
	}
	wait(&status);
	unlink(path);
	return WEXITSTATUS(status);
}

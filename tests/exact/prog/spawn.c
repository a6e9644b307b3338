/* exact: compare=output reason=stepping_unblocks_SIGTRAP_which_glibc_counts
 * posix_spawn, with a file action, and one that fails. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

int main(void)
{
	char *argv[] = { "true", "x", NULL }, *envp[] = { "A=1", NULL };
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int status, ret;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 5, "/dev/null", O_RDONLY, 0);
	ret = posix_spawn(&pid, "/bin/true", &fa, NULL, argv, envp);
	waitpid(pid, &status, 0);
	printf("%d %d\n", ret, status);
	printf("%s\n", strerror(posix_spawn(&pid, "/nonexistent", NULL, NULL, argv, envp)));
	return 0;
}
